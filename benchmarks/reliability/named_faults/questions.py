"""Faults in answers about a graph: effects, and tests of its independences."""

from named_faults.fault import Fault

EFFECTS, POSSIBLE = "assess/test_effects.py", "assess/test_possible.py"
MIXED, VALIDATE = "assess/test_mixed_graph.py", "assess/test_validate.py"
LAGS, IN_TIME = "data/time/test_lags.py", "fit/test_in_time.py"

FAULTS = (
    Fault(
        "a possible set of parents forms a new collider",
        "assess/effects/mixed_graph.py",
        "[other for other in candidates[place + 1 :] if self.are_joined(one, other)]",
        "candidates[place + 1 :]",
        (f"{MIXED}::test_possible_parents_are_those_of_the_class",),
    ),
    Fault(
        "a possible set of parents closes a directed triangle",
        "assess/effects/mixed_graph.py",
        "if not any(self.parents[s] & children for s in chosen):",
        "if True:",
        (f"{MIXED}::test_possible_parents_are_those_of_the_class",),
    ),
    Fault(
        "an adjustment set holds what the cause influences",
        "assess/effects/possible.py",
        "return frozenset(found - forbidden - {x})",
        "return frozenset(found - {x})",
        (f"{MIXED}::test_the_optimal_set_satisfies_the_adjustment_criterion",),
    ),
    Fault(
        "an effect that the class leaves open is called identified",
        "assess/effects/possible.py",
        "if not view.is_open(x, y):",
        "if True:",
        (f"{POSSIBLE}::test_effects_are_those_of_all_graphs_of_the_class",),
    ),
    Fault(
        "the interval of resamples forgets the range of each class",
        "assess/effects/model_effects.py",
        "low = min(float(np.quantile(lows, outside)), least)",
        "low = min(float(np.quantile(highs, outside)), least)",
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
        "partial(partial_correlation, moments or known.moments(values))",
        "partial(partial_correlation, moments or NOTHING.moments(values))",
        (f"{VALIDATE}::test_rows_in_which_a_variable_was_set_do_not_count_for_it",),
    ),
    Fault(
        "a lag crosses a gap in time",
        "data/time/lags.py",
        "np.diff(times[rows]) > GAP * step",
        "np.diff(times[rows]) > np.inf",
        (f"{LAGS}::test_no_window_crosses_a_gap_in_time",),
    ),
    Fault(
        "a lag crosses from one series into another",
        "data/time/lags.py",
        "members.setdefault(label, []).append(row)",
        "members.setdefault(0, []).append(row)",
        (f"{LAGS}::test_every_window_is_k_steps_of_one_series",),
    ),
    Fault(
        "lagged variables count among equal noise variances",
        "search/moments.py",
        "return varies if self.given is None else varies & ~self.given",
        "return varies",
        (f"{IN_TIME}::test_equal_variances_of_the_present_are_seen_whatever_the_past_varies",),
    ),
    Fault(
        "responses of standardised columns are not in the units of the table",
        "fit/time/paths.py",
        "weights * (factors[:d] / factors.reshape(-1, d, 1))",
        "weights * 1.0",
        (f"{IN_TIME}::test_responses_of_standardised_columns_are_in_the_units_of_the_table",),
    ),
    Fault(
        "lagged copies of a category are numbers",
        "fit/time/unroll.py",
        "base.kinds * (lags + 1)",
        "base.kinds + with_kinds(Table(found.X, list(found.names))).kinds[len(base.kinds) :]",
        ("fit/test_curves_in_time.py::test_categories_and_counts_act_on_later_rows",),
    ),
    Fault(
        "a forecast of curves leaves out the noise",
        "fit/time/paths.py",
        "drawn = dag.drawn_noise(m, random, normal=True)[:, :d]",
        "drawn = 0.0 * dag.drawn_noise(m, random, normal=True)[:, :d]",
        (
            "fit/test_curves_in_time.py"
            "::test_a_prediction_is_the_mean_over_what_happens_at_the_same_time",
        ),
    ),
    Fault(
        "knowledge of a variable forgets its lags",
        "data/time/window.py",
        "return tuple(_name_at(variable, lag) for lag in range(self.lags + 1))",
        "return (variable,)",
        (f"{IN_TIME}::test_knowledge_of_variables_holds_at_all_lags",),
    ),
    Fault(
        "windows of a time series are resampled one by one",
        "assess/bootstrapping/resample_fits.py",
        "1 if given.window is None else block_length(n, given.window.lags)",
        "1",
        ("stability/test_bootstrap.py::test_windows_are_drawn_in_blocks",),
    ),
)
