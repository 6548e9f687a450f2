"""Essential graphs, compared with an enumeration of all DAGs of the class."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.graph.equivalence import (
    EquivalenceClass,
    class_distance,
    compelled,
    essential_graph,
    separated,
)
from cosmodag.simulate import erdos_renyi, scale_free


def v_structures(arcs: np.ndarray) -> set[tuple[int, int, int]]:
    joined = arcs | arcs.T
    d = len(arcs)
    return {
        (a, c, b)
        for a, b in itertools.combinations(range(d), 2)
        for c in range(d)
        if arcs[a, c] and arcs[b, c] and not joined[a, b]
    }


def essential_by_counting(arcs: np.ndarray, agrees=lambda other: True) -> np.ndarray:
    """Union of all DAGs with the same skeleton and v-structures that satisfy a condition."""
    pairs = np.argwhere(np.triu(arcs | arcs.T))
    union = np.zeros_like(arcs)
    for flips in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(arcs)
        for (u, v), flip in zip(pairs, flips, strict=True):
            other[(v, u) if flip else (u, v)] = True
        if agrees(other) and is_dag(other) and v_structures(other) == v_structures(arcs):
            union |= other
    return union


@st.composite
def dags(draw: st.DrawFn) -> np.ndarray:
    d = draw(st.integers(2, 5))
    bits = draw(st.lists(st.booleans(), min_size=d * d, max_size=d * d))
    order = draw(st.permutations(range(d)))
    return np.triu(np.array(bits).reshape(d, d), 1)[np.ix_(order, order)]


@given(dags())
def test_it_is_the_union_of_the_class(arcs):
    assert np.array_equal(essential_graph(arcs), essential_by_counting(arcs))


@given(dags())
def test_compelled_arcs_are_those_without_their_reverse(arcs):
    class_of = essential_by_counting(arcs)
    assert np.array_equal(compelled(arcs * -0.5), class_of & ~class_of.T)


@given(dags(), st.data())
def test_known_arrows_direct_whatever_all_that_agree_share(arcs, data):
    known = arcs & np.array(
        data.draw(st.lists(st.booleans(), min_size=arcs.size, max_size=arcs.size))
    ).reshape(arcs.shape)
    counted = essential_by_counting(arcs, lambda other: bool((known <= other).all()))
    assert np.array_equal(essential_graph(arcs, known), counted)
    # Knowledge about arcs that the graph does not have changes nothing.
    assert np.array_equal(essential_graph(arcs, known | ~(arcs | arcs.T)), counted)


def test_each_of_the_rules_is_needed():
    """d → c implies a → b: b → a would add b → a ← d or close the cycle b → a → d → c → b."""
    a, b, c, d = range(4)
    arcs, known = np.zeros((2, 4, 4), bool)
    for tail, head in ((a, b), (a, c), (a, d), (d, c), (c, b)):
        arcs[tail, head] = True
    known[d, c] = True
    counted = essential_by_counting(arcs, lambda other: bool(other[d, c]))
    directed = counted & ~counted.T
    assert directed[a, b]
    assert not directed[a, c]
    assert np.array_equal(compelled(arcs, known), directed)


def test_an_arc_beside_two_branches_into_a_collider_is_compelled():
    """u → v in u → b → v ← c ← u: v → u would add b → u ← c or close a cycle."""
    u, b, c, v = range(4)
    arcs = np.zeros((4, 4), bool)
    for tail, head in ((u, b), (u, c), (b, v), (c, v), (u, v)):
        arcs[tail, head] = True
    assert np.array_equal(essential_graph(arcs), essential_by_counting(arcs))
    assert compelled(arcs)[u].tolist() == [False, False, False, True]


def test_two_known_arrows_direct_the_third_side_of_a_triangle():
    a, b, c = range(3)
    arcs = np.triu(np.ones((3, 3), bool), 1)
    known = np.zeros((3, 3), bool)
    known[a, b] = known[b, c] = True
    assert compelled(arcs, known)[a, c]


def cut(arcs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Skeleton of the graph after an intervention on a set of variables."""
    left = arcs & ~targets
    return left | left.T


@given(dags(), st.data())
def test_target_sets_direct_what_experiments_can_tell(arcs, data):
    d = len(arcs)
    drawn = data.draw(st.lists(st.lists(st.booleans(), min_size=d, max_size=d), max_size=3))
    sets = np.array([[False] * d, *drawn])
    tails, heads = np.nonzero(arcs)
    told = np.zeros_like(arcs)
    told[tails, heads] = separated(tails, heads, sets)

    # Hauser and Bühlmann (2012), Theorem 10: equal skeletons under every set of targets.
    def same(other: np.ndarray) -> bool:
        return all(np.array_equal(cut(arcs, one), cut(other, one)) for one in sets)

    assert np.array_equal(essential_graph(arcs, told), essential_by_counting(arcs, same))


def test_a_long_chain_is_directed_by_its_first_arrow():
    d = 3_000
    chain = sparse.eye_array(d, k=1, format="csr")
    first = sparse.csr_array(([1.0], ([0], [1])), shape=(d, d))
    assert compelled(chain).nnz == 0
    assert compelled(chain, first).nnz == d - 1


def test_a_class_lists_its_arrows_and_lines_once():
    marks = essential_graph(np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]))
    found = EquivalenceClass.of("abcd", marks)
    assert found.directed == (("a", "c"), ("b", "c"))
    assert found.undirected == (("a", "d"),)
    graph = found.to_networkx()
    assert {(u, v) for u, v, told in graph.edges(data="directed") if told} == set(found.directed)
    assert graph.has_edge("a", "d")
    assert graph.has_edge("d", "a")


@given(dags(), dags())
def test_the_class_distance_counts_pairs_marked_differently(one, other):
    d = min(len(one), len(other))
    one, other = one[:d, :d], other[:d, :d]
    differs = essential_by_counting(one) != essential_by_counting(other)
    assert class_distance(one, other) == np.triu(differs | differs.T).sum()


@given(dags(), st.sampled_from([sparse.csr_array, sparse.csc_matrix, sparse.coo_array]))
def test_sparse_input_gives_the_same_result_as_a_sparse_matrix(arcs, form):
    for verb in (essential_graph, compelled):
        answer = verb(form(arcs))
        assert sparse.issparse(answer)
        assert np.array_equal(answer.toarray(), verb(arcs))


def test_a_stored_zero_is_not_an_arc():
    stored = sparse.csr_array((np.array([1.0, 0.0]), ([0, 1], [2, 2])), shape=(3, 3))
    assert essential_graph(stored).nnz == 2  # 0 → 2 alone is reversible
    assert stored.nnz == 2  # and the caller's matrix is unchanged


@pytest.mark.parametrize("draw", [lambda rng: erdos_renyi(20_000, 80_000, rng),
                                  lambda rng: scale_free(20_000, 4, rng)])  # fmt: skip
def test_twenty_thousand_variables(draw):
    graph = draw(np.random.default_rng(0))
    class_of = essential_graph(graph)
    assert ((class_of + class_of.T) != (graph + graph.T)).nnz == 0  # the same skeleton
    # Colliders are compelled: all pairs of arcs into a node from nodes that are not joined.
    kept = compelled(graph)
    hub = int(np.argmax(np.diff(graph.tocsc().indptr)))
    parents = graph.tocsc()[:, [hub]].nonzero()[0]
    joined = (graph + graph.T)[parents][:, parents].toarray()
    in_collider = ~(joined | np.eye(len(parents), dtype=bool)).all(axis=1)
    arcs = kept[parents][:, [hub]].toarray().ravel()
    assert in_collider.any()
    assert arcs[in_collider].all()
    assert class_distance(graph, graph) == 0


def test_cyclic_graphs_and_different_shapes_are_refused():
    with pytest.raises(DataError, match="cycle"):
        essential_graph(np.array([[0, 1], [1, 0]]))
    with pytest.raises(DataError, match="shapes"):
        class_distance(np.zeros((2, 2)), np.zeros((3, 3)))
