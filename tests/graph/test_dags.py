"""DAGs as matrices: acyclicity test, orders, thresholding, removal of cycles."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import above, agreeing, drop_cycles, is_dag, order_of, topological_order

FORMATS = [np.asarray, sparse.csr_array, sparse.coo_matrix, sparse.lil_array]

sizes = st.integers(0, 10)
seeds = st.integers(0, 2**32 - 1)


def random_graph(d: int, seed: int) -> np.ndarray:
    """Weights with many ties and a random density, often cyclic."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, size=(d, d)) * (rng.random((d, d)) < rng.random())


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def repaired_slowly(weights: np.ndarray) -> np.ndarray:
    """Follow the policy literally, with networkx."""
    graph = nx.empty_graph(len(weights), create_using=nx.DiGraph)
    kept = np.zeros_like(weights)
    for index in np.argsort(-np.abs(weights), axis=None, kind="stable"):
        tail, head = np.unravel_index(index, weights.shape)
        if weights[tail, head] and not nx.has_path(graph, head, tail):
            graph.add_edge(tail, head)
            kept[tail, head] = weights[tail, head]
    return kept


@given(sizes, seeds, st.sampled_from(FORMATS))
def test_is_dag_agrees_with_networkx(d: int, seed: int, form: type) -> None:
    graph = random_graph(d, seed)
    as_networkx = nx.from_numpy_array(graph, create_using=nx.DiGraph)
    assert is_dag(form(graph)) == nx.is_directed_acyclic_graph(as_networkx)


@pytest.mark.parametrize("form", FORMATS)
def test_a_loop_is_a_cycle(form: type) -> None:
    assert not is_dag(form(np.diag([0.0, 0.5, 0.0])))


def test_a_stored_zero_is_not_an_arc() -> None:
    stored = sparse.csr_array((np.array([1.0, 0.0]), ([0, 1], [1, 0])), shape=(2, 2))
    assert is_dag(stored)


def test_entries_that_cancel_are_not_an_arc() -> None:
    stored = sparse.coo_array((np.array([1.0, -1.0, 1.0]), ([1, 1, 0], [0, 0, 1])), shape=(2, 2))
    assert is_dag(stored)


def test_nan_and_infinity_are_arcs() -> None:
    assert not is_dag(np.array([[0, np.nan], [np.inf, 0]]))


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2, 2, 2)])
@pytest.mark.parametrize("verb", [is_dag, topological_order, drop_cycles])
def test_a_graph_that_is_not_square_is_an_error(verb: object, shape: tuple[int, ...]) -> None:
    with pytest.raises(DataError, match="square matrix.*" + str(shape[0])):
        verb(np.zeros(shape))


@given(sizes, seeds, st.sampled_from(FORMATS))
def test_a_topological_order_points_every_arc_forward(d: int, seed: int, form: type) -> None:
    graph = random_graph(d, seed)
    graph = drop_cycles(graph)[0]
    order = topological_order(form(graph))
    assert sorted(order) == list(range(d))
    as_networkx = nx.from_numpy_array(graph, create_using=nx.DiGraph)
    assert order.tolist() == list(nx.lexicographical_topological_sort(as_networkx))


def test_a_cyclic_graph_has_no_topological_order() -> None:
    with pytest.raises(DataError, match="2 of its 3 vertices lie on a cycle or downstream"):
        topological_order([[0, 1, 0], [0, 0, 1], [0, 1, 0]])


def test_order_of_breaks_ties_by_index() -> None:
    priorities = np.array([1.0, 0.0, 1.0, 0.0, -2.0] * 20)
    order = order_of(priorities)
    assert order.tolist() == sorted(range(100), key=lambda vertex: (priorities[vertex], vertex))


@given(sizes, seeds, st.sampled_from(FORMATS))
def test_agreeing_keeps_exactly_the_forward_arcs(d: int, seed: int, form: type) -> None:
    graph = random_graph(d, seed)
    order = np.random.default_rng(seed).permutation(d)
    kept = agreeing(form(graph), order)
    expected = np.zeros_like(graph)
    expected[np.ix_(order, order)] = np.triu(graph[np.ix_(order, order)], k=1)
    np.testing.assert_array_equal(dense(kept), expected)
    assert sparse.issparse(kept) == sparse.issparse(form(graph))
    assert kept.dtype == graph.dtype


@pytest.mark.parametrize(
    "verb", [lambda w: agreeing(w, np.arange(len(w))), lambda w: above(w, 0.3)]
)
def test_dense_matrices_are_masked_without_lists_of_arcs(verb: object) -> None:
    weights = np.random.default_rng(0).normal(size=(400, 400))
    tracemalloc.start()
    kept = verb(weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept.nbytes <= peak < 1.5 * kept.nbytes  # the result, and one byte per Boolean


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3], [[0, 1, 2]]])
def test_an_order_must_be_a_permutation(order: list[int]) -> None:
    with pytest.raises(DataError, match="An order of 3 vertices"):
        agreeing(np.ones((3, 3)), order)


@given(sizes, seeds, st.sampled_from(FORMATS))
def test_above_is_strict_and_in_magnitude(d: int, seed: int, form: type) -> None:
    graph = random_graph(d, seed)
    kept = above(form(graph), threshold=2)
    np.testing.assert_array_equal(dense(kept), np.where(abs(graph) == 3, graph, 0))
    assert sparse.issparse(kept) == sparse.issparse(form(graph))


@given(sizes, seeds, st.sampled_from(FORMATS))
def test_drop_cycles_is_the_policy_word_for_word(d: int, seed: int, form: type) -> None:
    graph = random_graph(d, seed)
    acyclic, n_dropped = drop_cycles(form(graph))
    expected = repaired_slowly(graph)
    np.testing.assert_array_equal(dense(acyclic), expected)
    assert n_dropped == np.count_nonzero(graph) - np.count_nonzero(expected)


@pytest.mark.parametrize("d", [70, 130])  # more than one word of 64 bits, more than one chunk
def test_drop_cycles_follows_the_policy_on_a_larger_graph(d: int) -> None:
    rng = np.random.default_rng(d)
    graph = rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.15)
    np.testing.assert_array_equal(drop_cycles(graph)[0], repaired_slowly(graph))


def test_drop_cycles_keeps_a_dag_and_does_not_change_its_input() -> None:
    graph = np.triu(np.random.default_rng(0).normal(size=(20, 20)), k=1)
    before = graph.copy()
    acyclic, n_dropped = drop_cycles(graph)
    acyclic[0, 0] = 1
    np.testing.assert_array_equal(graph, before)
    assert n_dropped == 0


def test_a_full_graph_of_500_is_repaired_to_a_full_dag() -> None:
    weights = np.random.default_rng(0).normal(size=(500, 500))
    acyclic, n_dropped = drop_cycles(weights)
    assert is_dag(acyclic)
    assert n_dropped == 500 + 500 * 499 // 2


def test_a_chain_of_ten_thousand_vertices_is_put_in_order() -> None:
    rng = np.random.default_rng(0)
    chain = sparse.csr_array(sparse.diags_array(np.ones(9_999), offsets=1))
    shuffled = rng.permutation(10_000)
    graph = chain[shuffled][:, shuffled]
    assert is_dag(graph)
    np.testing.assert_array_equal(shuffled[topological_order(graph)], np.arange(10_000))
