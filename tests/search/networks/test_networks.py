"""Pruned networks: the right arcs, always a DAG, the same in any units, knowledge obeyed."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.search.constraints import Constraints
from cosmodag.search.networks.network_pruning import (
    Effort,
    PrunedNetworks,
    prune_networks,
)
from cosmodag.search.search_run import Run

D = 5
TRUTH = np.zeros((D, D), dtype=bool)
for tail, head in [(0, 2), (1, 2), (1, 3), (2, 4), (3, 4)]:
    TRUTH[tail, head] = True


def sample(seed: int, n: int = 300) -> np.ndarray:
    """Rows of a model of sines and hyperbolic tangents."""
    X = np.random.default_rng(seed).normal(size=(n, D))
    X[:, 2] += 2 * np.sin(X[:, 0] + X[:, 1])
    X[:, 3] += 2 * np.tanh(2 * X[:, 1])
    X[:, 4] += 2 * np.sin(X[:, 2]) * np.tanh(X[:, 3])
    return X


def strengths_of(seed: int) -> np.ndarray:
    """Random strengths that make every arc a candidate."""
    return np.random.default_rng(seed).uniform(0.5, 1, size=(D, D))


def agrees(pruned: PrunedNetworks) -> bool:
    places = np.argsort(pruned.order)
    tails, heads = np.nonzero(pruned.adjacency)
    return bool(np.all(places[tails] < places[heads]))


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [1, 0, 3, 2, 4]])
def test_a_small_graph_is_recovered_from_its_order(order: list[int]) -> None:
    pruned = prune_networks(sample(20), strengths_of(20), order)
    np.testing.assert_array_equal(pruned.adjacency, TRUTH)
    assert pruned.order.tolist() == order
    assert pruned.changed == 0
    assert not pruned.added.any()
    assert np.all(pruned.gains[TRUTH] > 2)
    assert np.all(pruned.gains[~TRUTH] == 0)
    assert pruned.finished


def test_an_arc_that_the_order_forbids_is_added() -> None:
    strengths = strengths_of(1)
    strengths[0, 2] = 0
    strengths[2, 0] = 0  # the learner found no arc between the two
    pruned = prune_networks(sample(1), strengths, [1, 2, 0, 3, 4])
    np.testing.assert_array_equal(pruned.adjacency, TRUTH)
    assert pruned.changed == 1
    assert pruned.added[0, 2]
    assert agrees(pruned)
    assert pruned.order.tolist() == [1, 0, 2, 3, 4]


def test_an_arc_of_little_worth_is_turned_round() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[:, 1] = 0.5 * X[:, 1] + X[:, 0] ** 2 + 0.6 * X[:, 0]
    left = prune_networks(X, np.ones((2, 2)), [1, 0], effort=Effort(weak_nats=0))
    assert left.adjacency[1, 0]
    turned = prune_networks(X, np.ones((2, 2)), [1, 0])
    assert turned.adjacency.tolist() == [[False, True], [False, False]]
    assert turned.order.tolist() == [0, 1]
    assert turned.changed == 1
    required = left.adjacency
    kept = prune_networks(X, np.ones((2, 2)), [1, 0], constraints=Constraints(required=required))
    np.testing.assert_array_equal(kept.adjacency, required)


def test_an_even_function_that_the_order_forbids_is_found() -> None:
    X = np.random.default_rng(1).normal(size=(300, 2))
    X[:, 1] = 0.5 * X[:, 1] + X[:, 0] ** 2
    pruned = prune_networks(X, np.ones((2, 2)), [1, 0])
    assert pruned.adjacency.tolist() == [[False, True], [False, False]]


def test_inputs_that_were_added_are_told_from_those_that_were_kept() -> None:
    strengths = strengths_of(1)
    strengths[[0, 2], [2, 0]] = 0
    pruned = prune_networks(sample(1), strengths, [1, 2, 0, 3, 4])
    kept = pruned.adjacency & ~pruned.added
    assert [np.flatnonzero(inputs).tolist() for inputs in kept.T] == [[], [], [1], [1], [2, 3]]
    assert [np.flatnonzero(inputs).tolist() for inputs in pruned.added.T] == [[], [], [0], [], []]


@settings(max_examples=15, deadline=None)
@given(
    d=st.integers(1, 6),
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    discrete=st.booleans(),
)
def test_the_result_is_a_dag_whatever_comes_in(d: int, n: int, seed: int, discrete: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    if discrete:
        X = np.round(X)
    support = rng.random((d, d)) < 0.8
    counted = rng.random((n, d)) < 0.8
    pruned = prune_networks(
        X,
        rng.normal(size=(d, d)),
        rng.permutation(d),
        counted=counted,
        constraints=Constraints(support),
    )
    assert is_dag(pruned.adjacency)
    assert agrees(pruned)
    assert not np.any(pruned.adjacency & ~support)
    assert np.isfinite(pruned.gains).all()


def test_only_supported_arcs_exist() -> None:
    support = np.ones((D, D), dtype=bool)
    support[0, 2] = support[2, 4] = False
    pruned = prune_networks(sample(2), strengths_of(2), range(D), constraints=Constraints(support))
    np.testing.assert_array_equal(pruned.adjacency & ~support, np.zeros((D, D)))
    assert pruned.adjacency[1, [2, 3]].all()


def test_required_arcs_stay_and_their_order_holds() -> None:
    required = np.zeros((D, D), dtype=bool)
    required[4, 0] = required[0, 1] = True  # a false arc, a useless one, both against the order
    pruned = prune_networks(
        sample(3), strengths_of(3), range(D), constraints=Constraints(required=required)
    )
    assert pruned.adjacency[4, 0]
    assert pruned.adjacency[0, 1]
    assert agrees(pruned)
    assert pruned.changed >= 1


def test_rows_that_do_not_count_are_left_out() -> None:
    X = sample(4, n=600)
    counted = np.ones_like(X)
    counted[300:, 3] = 0
    X[300:, 3] = np.random.default_rng(0).normal(size=300)  # set by intervention
    pruned = prune_networks(X, strengths_of(4), range(D), counted=counted)
    assert np.flatnonzero(pruned.adjacency[:, 3]).tolist() == [1]
    changed = X.copy()
    changed[300:, 3] += 5 * X[300:, 0]  # an arc that only these rows would show
    assert not prune_networks(changed, strengths_of(4), range(D), counted=counted).adjacency[0, 3]
    assert prune_networks(changed, strengths_of(4), range(D)).adjacency[0, 3]


def test_a_variable_that_never_counts_has_only_required_inputs() -> None:
    counted = np.ones((300, D))
    counted[:, 4] = 0
    required = np.zeros((D, D), dtype=bool)
    required[0, 4] = True
    pruned = prune_networks(
        sample(5),
        strengths_of(5),
        range(D),
        counted=counted,
        constraints=Constraints(required=required),
    )
    assert np.flatnonzero(pruned.adjacency[:, 4]).tolist() == [0]


def test_units_do_not_matter() -> None:
    X, strengths = sample(6), strengths_of(6)
    strengths[0, 2] = 0.04  # near the threshold for candidates
    units = 2.0 ** np.array([-9, 3, 12, 0, -4])
    plain = prune_networks(X, strengths, [1, 0, 2, 3, 4])
    networks = prune_networks(X * units, strengths / units[:, None], [1, 0, 2, 3, 4])
    linear = prune_networks(X * units, strengths * units / units[:, None], [1, 0, 2, 3, 4])
    np.testing.assert_array_equal(plain.gains, networks.gains)
    np.testing.assert_array_equal(plain.gains, linear.gains)


def test_the_number_of_workers_does_not_matter_and_seeds_repeat() -> None:
    X, strengths = sample(7), strengths_of(7)
    one, three, again = (
        prune_networks(X, strengths, [1, 0, 3, 2, 4], Run(np.random.default_rng(5), threads=w))
        for w in (1, 3, 3)
    )
    np.testing.assert_array_equal(one.gains, three.gains)
    np.testing.assert_array_equal(three.gains, again.gains)


def test_nothing_given_is_changed() -> None:
    rng = np.random.default_rng(8)
    given_arrays = {
        "X": sample(8, n=60),
        "strengths": strengths_of(8),
        "order": np.array([1, 0, 2, 3, 4]),
        "counted": np.ones((60, D)),
    }
    arcs = {"support": rng.random((D, D)) < 0.9, "required": np.zeros((D, D), dtype=bool)}
    given_arrays |= arcs
    copies = {name: array.copy() for name, array in given_arrays.items()}
    for array in given_arrays.values():
        array.flags.writeable = False
    others = {name: one for name, one in given_arrays.items() if name not in arcs}
    prune_networks(**others, constraints=Constraints(**arcs))
    for name, array in given_arrays.items():
        np.testing.assert_array_equal(array, copies[name])


def test_constant_columns_are_isolated_and_duplicates_do_no_harm() -> None:
    X = sample(9)
    X = np.column_stack([X, np.full(len(X), 0.1), X[:, 2]])
    pruned = prune_networks(X, np.ones((7, 7)), [0, 1, 5, 2, 6, 3, 4])
    assert not pruned.adjacency[5].any()
    assert not pruned.adjacency[:, 5].any()
    assert pruned.adjacency[2, 6]
    assert is_dag(pruned.adjacency)


def test_stopping_early_leaves_a_dag_and_says_so() -> None:
    asked = itertools.count()
    required = np.zeros((D, D), dtype=bool)
    required[4, 0] = True
    pruned = prune_networks(
        sample(10),
        strengths_of(10),
        range(D),
        Run(np.random.default_rng(0), should_stop=lambda: next(asked) >= 2, threads=1),
        constraints=Constraints(required=required),
    )
    assert not pruned.finished
    assert is_dag(pruned.adjacency)
    assert agrees(pruned)
    assert pruned.adjacency[4, 0]
    assert np.isnan(pruned.gains).any()


def test_progress_is_told_to_its_end() -> None:
    told: list[tuple[int, int]] = []
    prune_networks(
        sample(11),
        strengths_of(11),
        range(D),
        Run(np.random.default_rng(0), on_progress=lambda *both: told.append(both)),
    )
    done = [one for one, _ in told]
    assert done == sorted(done)
    assert told[-1] == (2 * D, 2 * D)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": [0, 1, 2, 3, 3]}, "order"),
        ({"strengths": np.ones((2, 2))}, "strengths"),
        ({"X": np.full((4, D), np.nan)}, "finite"),
        ({"constraints": Constraints(required=np.ones((D, D)))}, "cycle"),
        ({"constraints": Constraints(np.zeros((D, D)), np.eye(D, k=1))}, "support"),
        ({"counted": np.ones((4, D))}, "counted"),
    ],
)
def test_what_cannot_be_used_is_named(changes: dict[str, object], message: str) -> None:
    arguments = {"X": sample(12, n=20), "strengths": np.ones((D, D)), "order": range(D)} | changes
    with pytest.raises(DataError, match=message):
        prune_networks(**arguments)
