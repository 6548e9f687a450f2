"""Faults in refinement: moments, scores, pruning, polishing, the choice of the noise."""

from named_faults.fault import Fault

PARENTS = "order/test_parents.py"
DEFINITION = f"{PARENTS}::test_parents_and_scores_are_those_of_the_definition"
DECISION = "refinement/test_noise_decision.py"
TOLD_ONCE = "test_tables_that_contradict_the_model_get_the_class_and_are_told_once"
DEPENDENCE = "refinement/test_noise_dependence.py"
COLUMNS = "refinement/test_noise_columns.py"
LINEAR = "refinement/test_refine_linear.py"
STARTS = "order/test_starts.py"

FAULTS = (
    Fault(
        "moments are not centred on the rows that count",
        "search/moments.py",
        "means: Any = np.average(table, axis=0, weights=weights)",
        "means: Any = np.average(table, axis=0)",
        (
            f"{PARENTS}::test_counted_rows_are_the_rows_that_matter",
            f"{PARENTS}::test_repeated_rows_and_counts_agree",
        ),
    ),
    Fault(
        "a row that counts twice counts four times",
        "search/moments.py",
        "standard *= np.sqrt(weights)[:, None]",
        "standard *= weights[:, None]",
        (f"{PARENTS}::test_repeated_rows_and_counts_agree",),
    ),
    Fault(
        "products about zero forget the means",
        "search/moments.py",
        "            part += rest[g, some, None] * rest[g] / self.unit\n",
        "",
        ("learners/test_baselines.py::test_an_unscaled_fit_has_no_intercept",),
    ),
    Fault(
        "an arc has half the penalty of BIC",
        "search/gaussian_scores.py",
        "return max(rows, 0.5 * rows + (0.75 + 0.25 * wide) * columns)",
        "return 0.5 * rows",
        (f"{LINEAR}::test_unrelated_columns_are_rarely_joined",),
        was_missed=True,
    ),
    Fault(
        "the Gaussian score takes the log of a sum",
        "search/gaussian_scores.py",
        "return float(-0.5 * moments.own_rows @ np.log(graph.residuals)) - penalty * graph.arcs",
        "return float(-0.5 * moments.own_rows.sum() * np.log(graph.residuals.sum())) "
        "- penalty * graph.arcs",
        (f"{LINEAR}::test_totals_are_log_likelihoods_with_a_penalty",),
    ),
    Fault(
        "pruned weights are not scaled back",
        "search/regression_graph.py",
        "own * up / np.where(down > 0, down, 1.0)",
        "own * down / np.where(up > 0, up, 1.0)",
        (f"{PARENTS}::test_weights_are_those_of_least_squares_in_the_units_of_the_data",),
    ),
    Fault(
        "pruning sees later variables",
        "search/kernel/grow_records.py",
        "                count += (key[j] < at) & ",
        "                count += (key[j] != at) & ",
        (DEFINITION,),
    ),
    Fault(
        "polishing ignores the allowed arcs",
        "search/polish.py",
        "        allowed &= constraints.support\n",
        "        pass\n",
        ("order/test_polish.py",),
    ),
    Fault(
        "polishing may make a graph worse",
        "search/polish.py",
        "return found if better else graph",
        "return found",
        ("order/test_polish.py",),
    ),
    Fault(
        "equal variances win by any margin",
        "search/variances.py",
        "return self.margin > self.needed",
        "return self.margin > 0",
        (f"{DECISION}::test_equal_variances_must_win_by_more_than_is_needed",),
        was_missed=True,
    ),
    Fault(
        "equal variances must win by the whole penalty",
        "search/variances.py",
        "_SHARE = 0.4",
        "_SHARE = 1.0",
        (f"{DECISION}::test_true_equal_variances_are_chosen_by_the_best_graphs",),
    ),
    Fault(
        "columns on a common scale may have equal variances",
        "search/variances.py",
        "    if shared is not None:\n",
        "    if False:\n",
        (
            f"{DECISION}::test_standardised_weak_effects_are_not_of_equal_variances",
            f"{DECISION}::test_units_change_nothing_but_the_decision",
        ),
    ),
    Fault(
        "most columns must have few values to bar equal variances",
        "search/variances.py",
        "if few_valued(X, counted).mean() >= 0.5:",
        "if few_valued(X, counted).mean() > 1.5:",
        (f"{DECISION}::test_rounded_columns_are_not_of_equal_variances",),
    ),
    Fault(
        "noise that depends on a parent refutes no model",
        "search/noise_decision.py",
        "    if not dependence.refutes:\n",
        "    if True:\n",
        (f"{DECISION}::test_tables_that_contradict_the_model_get_the_class_and_are_told_once",),
    ),
    Fault(
        "curves that explain arcs far better refute no model",
        "search/noise_decision.py",
        "    if not against.refutes:\n",
        "    if not dependence.refutes:\n",
        ("refinement/test_noise_curves.py::test_bent_pairs_get_no_arrow_from_the_shape_of_noise",),
    ),
    Fault(
        "an arc beside another path is turned",
        "search/arc_checks.py",
        "        if not self._has_detour(u, v):\n",
        "        if True:\n",
        ("refinement/test_noise_curves.py::test_turning_an_arc_beside_another_path_gains_nothing",),
    ),
    Fault(
        "joint parents are scored without the penalty of their combinations",
        "search/mixed/joint.py",
        "return likelihood - of.log(used, q * r) + of.log(used, q)",
        "return likelihood",
        (
            ""
            "order/mixed/test_joint.py::test_joint_parents_are_found_and_effects_that_add_up_are_not_enough",
        ),
    ),
    Fault(
        "residuals of rows under intervention decide on the noise",
        "search/noise_decision.py",
        "rows = given.complete",
        "rows = np.ones(len(given.X), np.bool_)",
        (
            f"{DECISION}::test_interventions_and_knowledge_go_through_the_same_decision",
            f"{DECISION}::test_values_that_were_set_do_not_decide_what_the_noise_is",
        ),
        was_missed=True,
    ),
    Fault(
        "one refuted arc of many refutes the model",
        "search/arc_checks.py",
        "several = self.refuted > max(1.0, _MOST * self.arcs)",
        "several = self.refuted > 0",
        (f"{DEPENDENCE}::test_one_refuted_arc_of_many_may_be_chance",),
    ),
    Fault(
        "dependence of noise is judged by rows under intervention",
        "data/dependence.py",
        "rows = slice(None) if counted is None else counted[:, head] > 0",
        "rows = slice(None)",
        (f"{DEPENDENCE}::test_rows_in_which_the_head_was_set_do_not_count",),
    ),
    Fault(
        "columns with fifty values are few-valued",
        "search/variances.py",
        "_FEW = 20.0",
        "_FEW = 60.0",
        (COLUMNS,),
    ),
    Fault(
        "one pair of equal deviations is a common scale",
        "search/variances.py",
        "if alike >= max(2, 0.5 * table.shape[1]):",
        "if alike >= 2:",
        (COLUMNS,),
    ),
    Fault(
        "orders are aligned with knowledge from the end",
        "graph/dags.py",
        "topological_order(before[np.ix_(given, given)])",
        "topological_order(before.T[np.ix_(given, given)])",
        (f"{STARTS}::test_orders_are_brought_into_line",),
    ),
    Fault(
        "the worst start wins",
        "search/graph_search.py",
        "highest = max(result.total for result in results)",
        "highest = min(result.total for result in results)",
        (f"{LINEAR}::test_of_two_orders_the_better_is_kept",),
        was_missed=True,
    ),
    Fault(
        "curved relations refute no arc",
        "search/arc_checks.py",
        "refuted=int(np.sum(most > _REFUTES)),",
        "refuted=int(np.sum(uneven > _REFUTES)),",
        (DEPENDENCE, f"{DECISION}::{TOLD_ONCE}"),
    ),
    Fault(
        "unequal variances have no penalty",
        "search/variances.py",
        "each += own_units - 0.5 * len(rows) * log_rows",
        "each += own_units",
        (f"{DECISION}::test_true_equal_variances_are_chosen_by_the_best_graphs",),
    ),
    Fault(
        "columns scaled by their quartiles are not on a common scale",
        "search/variances.py",
        "np.quantile(table, [0.25, 0.75], axis=0)",
        "np.quantile(table, [0.2, 0.75], axis=0)",
        (f"{COLUMNS}::test_common_scales_are_recognised",),
    ),
    Fault(
        "required arrows can be turned",
        "search/turning.py",
        "        if required is not None and required[u, v]:\n"
        "            losses[place] = np.inf\n            continue\n",
        "",
        ("order/test_turning.py",),
    ),
    Fault(
        "an arrow is turned without ancestors and descendants",
        "search/turning.py",
        "        (*between[with_v], v, u, *between[~with_v]),\n"
        "        (*between[~with_u], v, u, *between[with_u]),\n",
        "",
        ("order/test_turning.py",),
    ),
)
