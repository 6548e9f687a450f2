"""Faults in answers about a graph: effects, and tests of what it implies."""

from named_faults.fault import Fault

EFFECTS, POSSIBLE = "assess/test_effects.py", "assess/test_possible.py"
MIXED, VALIDATE = "assess/test_mixed_graph.py", "assess/test_validate.py"

FAULTS = (
    Fault(
        "a possible set of parents forms a new collider",
        "assess/mixed_graph.py",
        "[other for other in candidates[place + 1 :] if self.are_joined(one, other)]",
        "candidates[place + 1 :]",
        (f"{MIXED}::test_possible_parents_are_those_of_the_class",),
    ),
    Fault(
        "a possible set of parents closes a directed triangle",
        "assess/mixed_graph.py",
        "if not any(self.parents[s] & left for s in chosen):",
        "if True:",
        (f"{MIXED}::test_possible_parents_are_those_of_the_class",),
    ),
    Fault(
        "an adjustment set holds what the cause influences",
        "assess/adjustment.py",
        "return frozenset(found - behind - {x})",
        "return frozenset(found - {x})",
        (f"{MIXED}::test_the_optimal_set_satisfies_the_adjustment_criterion",),
    ),
    Fault(
        "an effect that the class leaves open is called identified",
        "assess/possible.py",
        "if not view.is_open(x, y):",
        "if True:",
        (f"{POSSIBLE}::test_effects_are_those_of_all_graphs_of_the_class",),
    ),
    Fault(
        "the interval of resamples forgets the range of each class",
        "assess/effects.py",
        "low, high = np.quantile(ends[:, 0], outside), np.quantile(ends[:, 1], 1 - outside)",
        "low, high = np.quantile(ends[:, 1], outside), np.quantile(ends[:, 1], 1 - outside)",
        (f"{EFFECTS}::test_resamples_that_leave_an_effect_open_widen_its_interval",),
    ),
    Fault(
        "a variable that is set still follows its causes",
        "fit/fitted_dag.py",
        "            if v in held:\n                values[:, v] = held[v]\n",
        "            if v in held:\n                values[:, v] = held[v] + noise[:, v]\n",
        (f"{EFFECTS}::test_setting_variables_in_samples_and_predictions",),
    ),
    Fault(
        "p-values are not corrected for their number",
        "assess/independences.py",
        "p_values[rank] * np.arange(m, 0, -1)",
        "p_values[rank]",
        (f"{VALIDATE}::test_the_correction_is_that_of_holm",),
    ),
    Fault(
        "a variable is tested against its descendants",
        "assess/independences.py",
        "others = earlier[~arcs[earlier, v]]",
        "others = np.flatnonzero(~arcs[:, v] & (np.arange(len(order)) != v))",
        (f"{VALIDATE}::test_each_unjoined_pair_is_tested_once",),
    ),
    Fault(
        "rows in which a variable was set count for its tests",
        "assess/validate.py",
        "return PartialCorrelation(known.moments(values))",
        "return PartialCorrelation(NOTHING.moments(values))",
        (f"{VALIDATE}::test_rows_in_which_a_variable_was_set_do_not_count_for_it",),
    ),
)
