"""Faults before and after learning: units, knowledge, gaps, weights, bases, saved models."""

from named_faults.fault import Fault

MISSING = "learners/test_missing.py"
ARCS = "learners/test_arcs.py"
BASELINES = "learners/test_baselines.py"
COMBINED = "learners/test_combinations.py"
TOLD = "learners/test_interventions.py"
CONTRACT = "learners/test_contract.py"

FAULTS = (
    Fault(
        "constant columns are divided by zero",
        "fit/dag/preparation.py",
        "deviations = np.where(constant | (deviations == 0), 1.0, deviations)",
        "deviations = np.where(constant | (deviations == 0), 0.0, deviations)",
        (
            "learners/test_defects.py::test_constant_data_have_no_arcs_and_no_score",
            "fit/test_preparation.py::test_a_constant_column_has_finite_values_and_comes_back",
        ),
        was_missed=True,
    ),
    Fault(
        "the unit of a table is its largest deviation",
        "fit/dag/preparation.py",
        'np.quantile(varying, _SMALL_COLUMNS, method="lower")',
        'np.quantile(varying, 1.0, method="lower")',
        (
            "learners/test_defects.py::test_one_common_factor_changes_no_arc",
            f"{COMBINED}::test_the_unit_is_that_of_the_small_columns",
        ),
        was_missed=True,
    ),
    Fault(
        "predictions have the units of training",
        "fit/dag/preparation.py",
        "return np.asarray(prepared * self.scales + self.means, dtype=np.float64)",
        "return np.asarray(prepared * self.factors + self.means, dtype=np.float64)",
        (
            f"{BASELINES}::test_residuals_score_and_samples_of_the_right_graph",
            f"{COMBINED}::test_a_factor_and_an_offset_are_those_of_the_predictions",
        ),
    ),
    Fault(
        "means are shifted in the units of training",
        "fit/dag/preparation.py",
        "return replace(self, means=self.means + by * self.scales)",
        "return replace(self, means=self.means + by)",
        (
            f"{TOLD}::test_equations_hold_about_the_means_of_plain_observations",
            f"{COMBINED}::test_a_factor_and_an_offset_are_those_of_the_predictions",
        ),
        was_missed=True,
    ),
    Fault(
        "columns are centred on rows under intervention",
        "fit/dag/known.py",
        "return ~self.targets if self.untouched is None else self.untouched",
        "return np.ones_like(self.targets)",
        (
            f"{TOLD}::test_equations_hold_about_the_means_of_plain_observations",
            f"{COMBINED}::test_values_that_were_set_far_off_move_no_weight",
        ),
        was_missed=True,
    ),
    Fault(
        "rows that were set and gaps count as in the table",
        "fit/dag/known.py",
        "others = [mask for mask in (self.targets, self.absent) if mask is not None]",
        "others = [mask for mask in (self.targets,) if mask is not None]",
        (
            f"{MISSING}::test_rows_with_one_value_are_no_evidence",
            f"{COMBINED}::test_entries_that_were_filled_in_do_not_count",
        ),
        was_missed=True,
    ),
    Fault(
        "a resample keeps the targets of other rows",
        "fit/dag/known.py",
        "targets = None if self.targets is None else self.targets[rows]",
        "targets = self.targets",
        (
            "stability/test_bootstrap.py::test_a_resample_is_a_fit_to_its_rows",
            "stability/test_bootstrap.py::test_knowledge_and_interventions_hold_in_every_resample",
        ),
    ),
    Fault(
        "imputed entries count as measured ones",
        "fit/dag/known.py",
        "return replace(found, rows=np.maximum(found.rows * (1 - self.absent.mean()), 2.0))",
        "return found",
        (
            f"{MISSING}::test_interventions_that_shift_means_do_not_shift_what_is_filled_in",
            f"{COMBINED}::test_gaps_beside_interventions_are_less_evidence",
        ),
        was_missed=True,
    ),
    Fault(
        "EM omits the covariance of missing values",
        "fit/gaussian.py",
        "covariance = (filled - means).T @ (filled - means) / n + missing_covariance / n",
        "covariance = (filled - means).T @ (filled - means) / n",
        (f"{MISSING}::test_what_is_missing_varies_as_what_is_there",),
        was_missed=True,
    ),
    Fault(
        "EM stops after one round",
        "fit/gaussian.py",
        "if np.max(np.abs(covariance - before)) <= _SETTLED:",
        "if True:",
        (f"{MISSING}::test_em_finds_the_most_likely_mean_and_covariance",),
    ),
    Fault(
        "rows with gaps count as whole rows",
        "fit/gaussian.py",
        "return max(n * float((shared / n) ** 1.5), 2.0)",
        "return float(len(absent))",
        (f"{MISSING}::test_rows_with_one_value_are_no_evidence",),
    ),
    Fault(
        "imputation regresses on rows that were set",
        "fit/gaussian.py",
        "counted = np.ones((n, d), bool) if targets is None else ~targets",
        "counted = np.ones((n, d), bool)",
        (f"{MISSING}::test_values_that_were_set_change_no_equation",),
        was_missed=True,
    ),
    Fault(
        "imputation treats set values as following their equation",
        "fit/gaussian.py",
        "        terms[:, was_set] = 0.0\n",
        "",
        (
            f"{MISSING}::test_a_variable_that_was_set_says_nothing_of_its_causes",
            f"{MISSING}::test_interventions_that_shift_means_do_not_shift_what_is_filled_in",
            f"{MISSING}::test_filling_in_is_conditioning",
        ),
    ),
    Fault(
        "gaps are filled with means alone",
        "fit/gaussian.py",
        "(means + drawn).T + equations.means[some]",
        "means.T + equations.means[some]",
        (f"{MISSING}::test_draws_vary_as_much_as_they_should",),
    ),
    Fault(
        "dropped rows keep their targets",
        "fit/missing.py",
        "targets = None if self.targets is None else self.targets[rows]",
        "targets = None if self.targets is None else self.targets[: int(rows.sum())]",
        (f"{MISSING}::test_what_was_set_is_dropped_with_its_row",),
    ),
    Fault(
        "regression takes the worst model of the path",
        "learners/regression.py",
        "path[:, np.argmin(criteria)]",
        "path[:, np.argmax(criteria)]",
        (f"{BASELINES}::test_regression_equals_that_of_sortnregress",),
    ),
    Fault(
        "regression is not scaled back",
        "learners/regression.py",
        "weights[earlier, v] = (sizes[v] / sizes[earlier]) * _regress(",
        "weights[earlier, v] = _regress(",
        (f"{BASELINES}::test_regression_follows_the_units",),
    ),
    Fault(
        "a required arc has the weight of a regression on it alone",
        "learners/regression.py",
        "left = target[added] - gram[added] @ coefficients",
        "left = target[added]",
        (f"{BASELINES}::test_a_required_arc_has_what_other_causes_leave",),
        was_missed=True,
    ),
    Fault(
        "arrow_basis_ puts interventions over knowledge",
        "fit/dag/basis.py",
        "    bases[by_interventions] = INTERVENTIONS\n    bases[by_knowledge] = KNOWLEDGE\n",
        "    bases[by_knowledge] = KNOWLEDGE\n    bases[by_interventions] = INTERVENTIONS\n",
        (ARCS,),
        was_missed=True,
    ),
    Fault(
        "arrow_basis_ puts the shape of the graph over interventions",
        "fit/dag/basis.py",
        "    bases[shape] = SCALE if otherwise == SCALE else SHAPE\n"
        "    if losses is not None and otherwise == FREE:\n"
        "        bases[shape & (losses < FIRM)] = WEAK\n"
        "    bases[by_found] = FOUND\n"
        "    bases[by_interventions] = INTERVENTIONS\n",
        "    bases[by_interventions] = INTERVENTIONS\n"
        "    bases[shape] = SCALE if otherwise == SCALE else SHAPE\n"
        "    if losses is not None and otherwise == FREE:\n"
        "        bases[shape & (losses < FIRM)] = WEAK\n",
        (ARCS,),
    ),
    Fault(
        "consequences of interventions override those of knowledge",
        "fit/dag/basis.py",
        "    bases[stated] = INTERVENTIONS\n    bases[known] = KNOWLEDGE\n",
        "    bases[known] = KNOWLEDGE\n    bases[stated] = INTERVENTIONS\n",
        (ARCS,),
    ),
    Fault(
        "standardised weights are divided the wrong way",
        "fit/view/arcs.py",
        "found = edges.data * (sizes[edges.row] / divisors)",
        "found = edges.data * (divisors / sizes[edges.row])",
        (f"{ARCS}::test_with_one_parent_the_standardised_weight_is_the_correlation",),
    ),
    Fault(
        "standard errors forget that a mean was estimated",
        "fit/view/arcs.py",
        "variance = float(residuals @ residuals) / (n - k - 1)",
        "variance = float(residuals @ residuals) / (n - k)",
        ("report/test_report_evidence.py::test_with_one_parent_they_are_those_of_scipy",),
    ),
    Fault(
        "standard errors count rows that were set",
        "fit/dag/known.py",
        "[] if self.targets is None else [self.targets[:, v]]",
        "[] if self.targets is None else [np.zeros_like(self.targets[:, v])]",
        ("report/test_report_evidence.py::test_rows_in_which_a_variable_was_set_do_not_count",),
    ),
    Fault(
        "score()'s targets are misaligned by a constant column",
        "fit/dag/fitted_rows.py",
        "likelihoods = likelihoods[~targets[:, dag.has_noise]]",
        "likelihoods = likelihoods[~targets[:, : likelihoods.shape[1]]]",
        (f"{TOLD}::test_a_constant_column_moves_no_target_of_the_score",),
        was_missed=True,
    ),
    Fault(
        "the likelihood forgets units",
        "fit/dag/fitted_rows.py",
        "    likelihood -= np.log(dag.preparation.scales[varying])\n",
        "",
        (
            f"{BASELINES}::test_the_empty_graph_is_independent_normals",
            f"{COMBINED}::test_a_factor_and_an_offset_are_those_of_the_predictions",
        ),
    ),
    Fault(
        "samples draw residuals of rows that were set",
        "fit/dag/fitted_rows.py",
        "    if counted is None:\n        rows = random.integers",
        "    if True:\n        rows = random.integers",
        (f"{TOLD}::test_values_that_were_set_say_nothing_of_their_own_equation[EmptyGraph]",),
    ),
    Fault(
        "noise variances count rows that were set",
        "fit/dag/fitted_rows.py",
        "noise_variances=np.average(scaled**2, axis=0, weights=counted),",
        "noise_variances=np.average(scaled**2, axis=0),",
        (f"{TOLD}::test_values_that_were_set_say_nothing_of_their_own_equation[EmptyGraph]",),
    ),
    Fault(
        "default cut .3 is .2",
        "learners/parameters.py",
        "_RAW_CUT = 0.3",
        "_RAW_CUT = 0.2",
        ("learners/test_base.py",),
        was_missed=True,
    ),
    Fault(
        "weights of refined graphs are cut at .3",
        "learners/parameters.py",
        'return 0.0 if self.threshold == "auto" else float(self.threshold)',
        'return _RAW_CUT if self.threshold == "auto" else float(self.threshold)',
        ("learners/test_base.py",),
    ),
    Fault(
        "a loaded model forgets target sets",
        "fit/files/dag.py",
        '_ARRAYS = ("noise_variances", "deviations", "target_sets", "turning_losses")',
        '_ARRAYS = ("noise_variances", "deviations", "turning_losses")',
        (f"{TOLD}::test_what_arrows_rest_on_survives_saving",),
    ),
    Fault(
        "a loaded model forgets names",
        "fit/files/dag.py",
        "columns=None if names is None else np.array(names, dtype=object),",
        "columns=None,",
        (
            f"{CONTRACT}::test_what_is_fitted_survives_saving",
            f"{COMBINED}::test_a_loaded_model_answers_as_the_one_that_was_saved",
        ),
    ),
    Fault(
        "a saved model whose arcs contradict its order is accepted",
        "fit/files/trusted.py",
        "_require(bool((places[edges.row] < places[edges.col]).all()), "
        '"its arcs contradict its order")',
        "pass",
        ("faults/test_crafted_models.py",),
    ),
    Fault(
        "missing values have expectation zero",
        "fit/gaussian.py",
        'filled[rows[:, None], places] = means[places] - np.einsum("ijk,ik->ij", spread, pulls)',
        'filled[rows[:, None], places] = -np.einsum("ijk,ik->ij", spread, pulls)',
        (f"{MISSING}::test_em_finds_the_most_likely_mean_and_covariance",),
    ),
    Fault(
        "means of a table with gaps are those of its values",
        "fit/gaussian.py",
        "return cls(centres + means * units, scales * units, _correlations(covariance))",
        "return cls(centres, scales * units, _correlations(covariance))",
        (f"{MISSING}::test_em_finds_the_most_likely_mean_and_covariance",),
    ),
)
