"""Faults in uses of fits: stability, selection, metrics."""

from named_faults.fault import Fault

RESULT, BOOTSTRAP = "stability/test_result.py", "stability/test_bootstrap.py"
SELECTION, METRICS, IDENTITIES = "test_metrics.py", "properties/test_metric_identities.py"
HAND = f"{METRICS}::test_scores_worked_out_by_hand"

FAULTS = (
    Fault(
        "bootstrap's training ignores interventions",
        "learners/trained/training.py",
        "replace(one, counted=counts if one.counted is None else counts * one.counted)",
        "replace(one, counted=counts)",
        (f"{BOOTSTRAP}::test_training_leaves_out_values_that_were_set",),
        was_missed=True,
    ),
    Fault(
        "every resample is refined on the same rows",
        "assess/bootstrapping/resample_fits.py",
        "partial(rows_of, sample, n, seed, block, groups)",
        "partial(rows_of, sample, n, 0, block, groups)",
        (f"{BOOTSTRAP}::test_a_resample_is_a_fit_to_its_rows",),
    ),
    Fault(
        "an arrow of free choice counts as directed",
        "assess/bootstrapping/resample_fits.py",
        "basis not in (FREE, SCALE) for basis in dag.arrow_basis",
        "True for basis in dag.arrow_basis",
        (f"{BOOTSTRAP}::test_no_arrow_of_a_gaussian_chain_is_certified",),
    ),
    Fault(
        "an arrow that follows units counts as directed",
        "assess/bootstrapping/resample_fits.py",
        "basis not in (FREE, SCALE) for basis in dag.arrow_basis",
        "basis not in (FREE,) for basis in dag.arrow_basis",
        (f"{BOOTSTRAP}::test_an_arrow_that_follows_units_is_not_certified",),
    ),
    Fault(
        "half-samples are whole samples",
        "assess/bootstrapping/resample_fits.py",
        "random.permutation(n)[: max(2, n // 2)]",
        "random.permutation(n)",
        (f"{BOOTSTRAP}::test_rows_are_those_of_the_seed",),
    ),
    Fault(
        "a resample counts no row twice in training",
        "fit/prepare.py",
        "counts = np.bincount(self.draw(), minlength=len(self.data))",
        "counts = np.bincount(np.unique(self.draw()), minlength=len(self.data))",
        (f"{BOOTSTRAP}::test_training_counts_each_row_as_often_as_it_was_drawn",),
    ),
    Fault(
        "each resample decides about the noise itself",
        "assess/bootstrapping/bootstrap.py",
        "        learner.set_params(**decided)\n",
        "",
        (f"{BOOTSTRAP}::test_the_noise_is_decided_once_on_the_table",),
    ),
    Fault(
        "doubts withhold no probabilities",
        "assess/bootstrapping/bootstrap_result.py",
        "return np.full(shares.shape, np.nan) if self.doubts else shares",
        "return shares",
        (f"{RESULT}::test_doubts_withhold_probabilities_and_keep_shares",),
    ),
    Fault(
        "order_probabilities transposed",
        "assess/bootstrapping/bootstrap_result.py",
        "return self._share(self._before)",
        "return self._share(self._before.T)",
        (f"{RESULT}::test_order_is_told_from_its_reverse",),
        was_missed=True,
    ),
    Fault(
        "'reversed' of bootstrap.csv is the arc itself",
        "assess/bootstrapping/bootstrap_result.py",
        '"reversed": arrows.T[pairs],',
        '"reversed": arrows[pairs],',
        (RESULT,),
        was_missed=True,
    ),
    Fault(
        "an edge is found where one direction was",
        "assess/bootstrapping/bootstrap_result.py",
        "        return self._share(self._arcs + self._arcs.T)\n",
        "        return self._share(self._arcs)\n",
        (RESULT,),
    ),
    Fault(
        "fractions refer to the requested number of resamples",
        "assess/bootstrapping/bootstrap_result.py",
        "return np.asarray(counts / max(1, len(self.done)))",
        "return np.asarray(counts / max(1, len(self.seeds)))",
        (f"{RESULT}::test_shares_are_of_the_resamples_that_were_fitted",),
        was_missed=True,
    ),
    Fault(
        "a consensus drops required arcs",
        "assess/bootstrapping/bootstrap_result.py",
        "strengths = np.where(bounds.required, np.inf, strengths)",
        "strengths = np.where(bounds.required, 0.0, strengths)",
        (
            RESULT,
            "properties/test_refinement_scores.py"
            "::test_a_consensus_is_acyclic_and_keeps_required_arcs",
        ),
    ),
    Fault(
        "at_threshold adds 1 to the diagonal",
        "selection/criteria.py",
        '            "none",\n            support=arcs,\n        )\n',
        '            "none",\n            support=arcs,\n        ) + np.eye(len(arcs))\n',
        (
            f"{SELECTION}::test_weights_at_another_threshold_are_those_of_least_squares"
            "_on_the_parents",
        ),
        was_missed=True,
    ),
    Fault(
        "extended BIC is not extended",
        "selection/criteria.py",
        "+ 4 * gamma * math.log(model.n_features_in_)",
        "+ 0 * gamma * math.log(model.n_features_in_)",
        (f"{SELECTION}::test_extended_bic_is_the_formula",),
    ),
    Fault(
        "extended BIC counts entries that were set",
        "selection/criteria.py",
        "if (weights := known.counted) is None:",
        "if (weights := None) is None:",
        (f"{SELECTION}::test_criteria_and_thresholds_leave_out_what_was_set",),
    ),
    Fault(
        "the best threshold is the worst",
        "selection/criteria.py",
        'path["extended_bic"].idxmin()',
        'path["extended_bic"].idxmax()',
        (f"{SELECTION}::test_a_path_over_thresholds_never_fits",),
    ),
    Fault(
        "held-out rows are fitted to",
        "selection/criteria.py",
        "prepare(one, whole.of_rows(fold_of != fold))",
        "prepare(one, whole)",
        (f"{SELECTION}::test_held_out_rows_are_not_seen",),
    ),
    Fault(
        "the comparison ranks the worst first",
        "selection/comparing.py",
        'table.sort_values("held_out", ascending=False, kind="stable")',
        'table.sort_values("held_out", ascending=True, kind="stable")',
        (f"{SELECTION}::test_learners_are_ranked_by_what_they_predict",),
    ),
    Fault(
        "a reversed arc counts twice in the Hamming distance",
        "metrics/scores.py",
        '"shd": joined_in_either - counts.exact_pairs + counts.self_loops,',
        '"shd": wrong_entries,',
        (HAND,),
    ),
    Fault(
        "reversals are missed arcs",
        "metrics/scores.py",
        "reversals=int((found_back & ~found & ~is_mutual).sum()),",
        "reversals=int((~found & ~is_mutual).sum()),",
        (HAND,),
    ),
    Fault(
        "false discoveries are a share of true arcs",
        "metrics/scores.py",
        '"fdr": _ratio(false_positives, counts.edges),',
        '"fdr": _ratio(false_positives, counts.true_edges),',
        (HAND,),
    ),
    Fault(
        "ties count fully in the area under the curve",
        "metrics/scores.py",
        "below + 0.5 * equal",
        "below + equal",
        (f"{IDENTITIES}::test_areas_agree_with_scikit_learn",),
    ),
    Fault(
        "order divergence counts arcs that point forward",
        "metrics/scores.py",
        "position[tails] > position[heads]",
        "position[tails] < position[heads]",
        (f"{METRICS}::test_order_divergence_counts_arcs_that_point_backwards",),
    ),
    Fault(
        "intervention distances take columns for causes",
        "metrics/scores.py",
        'edge_direction="from row to column"',
        'edge_direction="from column to row"',
        (f"{METRICS}::test_intervention_distances_worked_out_by_hand",),
    ),
)
