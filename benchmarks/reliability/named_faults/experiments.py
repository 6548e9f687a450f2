"""Faults in simulated tables and in the benchmark that runs on them."""

from named_faults.fault import Fault

SAMPLING, GRAPHS = "simulate/test_sampling.py", "simulate/test_random_graphs.py"
SET = "simulate/test_interventional.py"
RUN = "bench/test_bench_run.py"

FAULTS = (
    Fault(
        "weights of simulated arcs are all positive",
        "simulate/random_graphs.py",
        "rng.choice([-1.0, 1.0], size=shape)",
        "rng.choice([1.0, 1.0], size=shape)",
        (f"{GRAPHS}::test_weights_are_uniform_in_magnitude_and_balanced_in_sign_over_200_graphs",),
    ),
    Fault(
        "random graphs keep the order of their columns",
        "simulate/random_graphs.py",
        "label = rng.permutation(nodes)",
        "label = np.arange(nodes)",
        (f"{GRAPHS}::test_erdos_renyi_treats_every_ordered_pair_alike",),
    ),
    Fault(
        "hubs of scale-free graphs are not preferred",
        "simulate/random_graphs.py",
        "        urn.extend(chosen)\n",
        "",
        (f"{GRAPHS}::test_scale_free_prefers_by_in_degree_plus_one",),
    ),
    Fault(
        "effects are propagated from effect to cause",
        "simulate/mechanisms.py",
        "parents = sparse.csr_array(weights).T.tocsr()",
        "parents = sparse.csr_array(weights).tocsr()",
        (f"{SAMPLING}::test_propagation_solves_the_structural_equations",),
    ),
    Fault(
        "scales of noise are squared",
        "simulate/mechanisms.py",
        "(samples, nodes)) * _checked_scales(scales, nodes)",
        "(samples, nodes)) * _checked_scales(scales, nodes) ** 2",
        (f"{SAMPLING}::test_each_variable_may_have_its_own_noise_scale",),
    ),
    Fault(
        "values that were set keep their equation",
        "simulate/interventional.py",
        "weights.data = np.where(changed, 0.0, weights.data)",
        "weights.data = np.where(changed, weights.data, weights.data)",
        (f"{SET}::test_other_equations_hold_and_the_targets_own_does_not",),
    ),
    Fault(
        "an imperfect intervention leaves the noise alone",
        "simulate/interventional.py",
        "scales = np.where(chosen, 2.0, 1.0)",
        "scales = np.where(chosen, 1.0, 1.0)",
        (
            f"{SET}::test_other_equations_hold_and_the_targets_own_does_not",
            f"{SET}::test_an_imperfect_intervention_doubles_the_noise",
        ),
        was_missed=True,
    ),
    Fault(
        "a half-done batch counts as done",
        "bench/run.py",
        "if any(cell.key not in results for cell in b)]",
        "if all(cell.key not in results for cell in b)]",
        (f"{RUN}::test_a_batch_of_which_rows_are_missing_is_done_again",),
        was_missed=True,
    ),
    Fault(
        "a store keeps the last of two rows of one cell",
        "bench/store.py",
        '"INSERT OR IGNORE INTO cells VALUES',
        '"INSERT OR REPLACE INTO cells VALUES',
        ("bench/test_store.py::test_rows_come_back_and_the_first_of_one_key_stays",),
    ),
    Fault(
        "another experiment of the same name is accepted",
        "bench/store.py",
        "if self.experiments()[name] != text:",
        "if False:",
        ("bench/test_store.py::test_experiments_are_remembered",),
    ),
)
