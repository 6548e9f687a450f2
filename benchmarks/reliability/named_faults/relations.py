"""Faults in combinations of features: knowledge and weights, gaps and their remedies."""

from named_faults.fault import Fault

COMBINED = "learners/test_combinations.py"
REQUIRED = f"{COMBINED}::test_a_required_arc_without_effect_changes_no_other_weight"
GAPS = f"{COMBINED}::test_filling_in_and_dropping_agree_where_gaps_are_random"

FAULTS = (
    Fault(
        "weak arcs beside a required one are kept",
        "fit/settle.py",
        "return np.where(required, weights, strong)",
        "return np.where(required.any(axis=0), weights, strong)",
        (REQUIRED,),
    ),
    Fault(
        "a variable with a required cause keeps all regressors",
        "learners/regression.py",
        "added = np.flatnonzero(forced & (coefficients == 0))",
        "added = np.flatnonzero(forced.any() & (coefficients == 0))",
        (REQUIRED,),
    ),
    Fault(
        "EM fills gaps with means that other columns do not move",
        "fit/gaussian.py",
        'filled[rows[:, None], places] = means[places] - np.einsum("ijk,ik->ij", spread, pulls)',
        "filled[rows[:, None], places] = means[places]",
        (GAPS,),
    ),
    Fault(
        "EM adds the spread of gaps twice",
        "fit/gaussian.py",
        "+ missing_covariance / n",
        "+ 2 * missing_covariance / n",
        (GAPS,),
    ),
)
