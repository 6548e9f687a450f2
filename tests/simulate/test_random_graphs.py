"""Random graphs have the documented distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.simulate import bipartite, erdos_renyi, random_weights, scale_free
from cosmodag.simulate.random_graphs import _unrank_pairs, generations

GRAPHS = 200


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("nodes", "degree"), [(10, 2), (30, 4), (40, 6)])
def test_edge_counts_are_exact_over_200_graphs(nodes: int, degree: int) -> None:
    for seed in range(GRAPHS):
        random_order = erdos_renyi(nodes, degree * nodes, generator(seed))
        growing = scale_free(nodes, degree, generator(seed))
        assert random_order.nnz == random_order.sum() == degree * nodes
        assert growing.nnz == growing.sum() == degree * nodes - degree * (degree + 1) // 2
        assert is_dag(random_order)
        assert is_dag(growing)


@given(st.integers(1, 40), st.data())
def test_erdos_renyi_takes_any_number_of_edges_there_is_room_for(
    nodes: int, data: st.DataObject
) -> None:
    edges = data.draw(st.integers(0, nodes * (nodes - 1) // 2))
    graph = erdos_renyi(nodes, edges, generator(0))
    assert graph.nnz == edges
    assert is_dag(graph)


def test_erdos_renyi_treats_every_ordered_pair_alike() -> None:
    # 4 nodes; 3 of 6 pairs adjacent, in either direction: each ordered pair has probability 1/4.
    draws = 4_000
    rng = generator(0)
    counts = sum(erdos_renyi(4, 3, rng).toarray().astype(int) for _ in range(draws))
    off_diagonal = counts[~np.eye(4, dtype=bool)]
    standard_error = np.sqrt(draws * 0.25 * 0.75)
    assert np.abs(off_diagonal - draws / 4).max() < 4 * standard_error
    assert counts.trace() == 0


@given(st.integers(1, 2**31), st.integers(-2, 2))
def test_pairs_are_decoded_exactly_where_square_roots_are_rounded(row: int, offset: int) -> None:
    code = max(row * (row - 1) // 2 + offset, 0)
    later, earlier = (int(part[0]) for part in _unrank_pairs(np.array([code])))
    assert 0 <= earlier < later
    assert later * (later - 1) // 2 + earlier == code


def test_scale_free_prefers_by_in_degree_plus_one() -> None:
    # Three nodes, one arc each: the third chooses the second's target (in-degree 1, so weight 2)
    # over the second (weight 1) with probability 2/3; by total degree it would be 1/2.
    rng = generator(0)
    stars = sum(scale_free(3, 1, rng).sum(axis=0).max() == 2 for _ in range(3_000))
    assert stats.binomtest(int(stars), 3_000, 2 / 3).pvalue > 1e-3


def limiting_in_degrees(attachments: int, largest: int) -> np.ndarray:
    """P(in-degree ≥ k) in the limit of many nodes.

    Nodes of in-degree k gain arcs at the rate c(k+1)/t, c = m/(m+1), so the stationary shares
    satisfy p_k (1 + c(k+1)) = c k p_{k−1} with p_0 (1 + c) = 1. Their tail decays like
    k^{−(2 + 1/m)}.
    """
    rate = attachments / (attachments + 1)
    shares = [1 / (1 + rate)]
    for degree in range(1, largest):
        shares.append(shares[-1] * rate * degree / (1 + rate * (degree + 1)))
    return 1 - np.concatenate([[0], np.cumsum(shares)])


def test_scale_free_in_degrees_have_the_heavy_tail_of_the_theory() -> None:
    nodes, attachments = 20_000, 4
    in_degrees = scale_free(nodes, attachments, generator(0)).sum(axis=0)
    expected = limiting_in_degrees(attachments, 61)
    for degree in (1, 5, 20, 60):
        standard_error = np.sqrt(expected[degree] * (1 - expected[degree]) / nodes)
        # Four standard errors, plus 10% for the finite size and for redrawn repeated arcs.
        tolerance = 4 * standard_error + 0.1 * expected[degree]
        assert abs((in_degrees >= degree).mean() - expected[degree]) < tolerance
    # An Erdős–Rényi graph with as many arcs has no such hubs.
    assert in_degrees.max() > 300
    assert erdos_renyi(nodes, attachments * nodes, generator(0)).sum(axis=0).max() < 60


def test_hubs_of_scale_free_graphs_are_sinks() -> None:
    for seed in range(GRAPHS):
        graph = scale_free(50, 4, generator(seed))
        in_degrees, out_degrees = graph.sum(axis=0), graph.sum(axis=1)
        # A new node has four outgoing arcs, and hubs grow by incoming arcs.
        assert out_degrees.max() == 4
        # There is a hub, and only the first node has no outgoing arcs.
        assert in_degrees.max() >= 12
        assert in_degrees[out_degrees == 0].size == 1


def test_bipartite_arcs_leave_a_fifth_of_the_nodes() -> None:
    # 4 sources and 16 targets; 32 of the 64 arcs, so each is present with probability 1/2.
    for seed in range(GRAPHS):
        graph = bipartite(20, 32, generator(seed))
        sources = np.flatnonzero(graph.sum(axis=1))
        assert graph.nnz == 32
        assert len(sources) <= 4
        assert graph.sum(axis=0)[sources].sum() == 0


def test_weights_are_uniform_in_magnitude_and_balanced_in_sign_over_200_graphs() -> None:
    weights = np.concatenate(
        [
            random_weights(erdos_renyi(30, 120, generator(seed)), generator(GRAPHS + seed)).data
            for seed in range(GRAPHS)
        ]
    )
    assert stats.kstest(np.abs(weights), stats.uniform(0.5, 1.5).cdf).pvalue > 1e-3
    assert stats.binomtest(int((weights > 0).sum()), weights.size, 0.5).pvalue > 1e-3
    magnitudes_by_sign = np.abs(weights[weights > 0]), np.abs(weights[weights < 0])
    assert stats.ks_2samp(*magnitudes_by_sign).pvalue > 1e-3


def test_weights_lie_on_the_arcs_and_nowhere_else() -> None:
    graph = erdos_renyi(12, 30, generator(0))
    weights = random_weights(graph, generator(1), low=3.0, high=4.0)
    assert np.array_equal(weights.toarray() != 0, graph.toarray())
    assert 3 <= np.abs(weights.data).min() <= np.abs(weights.data).max() <= 4


@pytest.mark.parametrize("dtype", [np.float64, np.int8])
def test_the_callers_graph_is_left_alone_and_its_stored_zeros_get_no_weight(dtype: type) -> None:
    stored = np.array([0, 1, 1], dtype=dtype)
    graph = sparse.csr_array((stored, ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    before = graph.copy()
    weights = random_weights(graph, generator(0))
    assert np.argwhere(weights.toarray()).tolist() == [[0, 2], [1, 2]]
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(graph, part), getattr(before, part))


@given(st.integers(1, 30), st.integers(0, 2**32))
def test_generations_put_parents_in_earlier_layers(nodes: int, seed: int) -> None:
    graph = erdos_renyi(nodes, nodes * (nodes - 1) // 4, generator(seed))
    layer_of = np.empty(nodes, dtype=int)
    layers = generations(graph)
    assert sorted(np.concatenate(layers)) == list(range(nodes))
    for index, layer in enumerate(layers):
        layer_of[layer] = index
    tails, heads = graph.nonzero()
    assert (layer_of[tails] < layer_of[heads]).all()


def test_a_cycle_has_no_generations() -> None:
    with pytest.raises(DataError, match="cycle"):
        generations(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))


def test_the_same_generator_gives_the_same_graph_and_leaves_the_global_one_alone() -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    for draw in (erdos_renyi, bipartite, scale_free):
        one, other = (draw(30, 4, generator(7)).toarray() for _ in range(2))
        assert np.array_equal(one, other)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize(
    ("draw", "size"),
    [(erdos_renyi, 11), (erdos_renyi, -1), (bipartite, 5), (scale_free, 5), (scale_free, 0)],
)
def test_a_graph_without_room_is_refused(draw: object, size: int) -> None:
    with pytest.raises(DataError, match="5 nodes"):
        draw(5, size, generator(0))  # type: ignore[operator]


@pytest.mark.parametrize("draw", [erdos_renyi, bipartite, scale_free])
@pytest.mark.parametrize("edges", [0, 1])
def test_a_negative_number_of_nodes_is_refused(draw: object, edges: int) -> None:
    with pytest.raises(DataError, match="nodes"):
        draw(-3, edges, generator(0))  # type: ignore[operator]
