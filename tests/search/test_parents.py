import numpy as np
import pytest
from order_reference import parents_on

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.search import choose_parents
from cosmodag.search.constraints import Constraints
from cosmodag.search.moments import Moments
from linear_tables import linear_table

D = 12


def knowledge(random, order):
    """Draw allowed and required arcs that are consistent with an order."""
    place = np.argsort(order)
    ahead = place[:, None] < place
    required = ahead & (random.random((D, D)) < 0.05)
    return (random.random((D, D)) < 0.6) | required, required


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("is_ruled", [False, True])
def test_parents_and_scores_are_those_of_the_definition(seed, is_ruled):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 300, D)
    counted = np.ones(table.shape)
    counted[:30, :2] = 0
    moments = Moments.of(table, counted if seed % 2 else None)
    order = random.permutation(D)
    support, required = knowledge(random, order) if is_ruled else (None, None)
    graph = choose_parents(moments, order, penalty=3.0, constraints=Constraints(support, required))
    adjacency, scores = parents_on(moments, order, 3.0, support, required)
    np.testing.assert_array_equal(graph.adjacency().toarray(), adjacency)
    np.testing.assert_allclose(graph.scores, scores, rtol=1e-8, atol=1e-8)


def test_weights_are_those_of_least_squares_in_the_units_of_the_data():
    random = np.random.default_rng(0)
    table, weights = linear_table(random, 2000, D)
    order = np.argsort(np.linalg.inv(np.eye(D) - (weights != 0) / D).sum(axis=0), kind="stable")
    factors = 10.0 ** random.integers(-3, 4, D)
    graph = choose_parents(Moments.of(table * factors), order)
    found = graph.matrix().toarray() * factors[:, None] / factors
    centred = table - table.mean(axis=0)
    for v in range(D):
        parents = np.flatnonzero(found[:, v])
        expected = np.linalg.lstsq(centred[:, parents], centred[:, v], rcond=None)[0]
        np.testing.assert_allclose(found[parents, v], expected, rtol=1e-6)
        left = (centred[:, v] - centred[:, parents] @ expected).var() / table[:, v].var()
        np.testing.assert_allclose(graph.residuals[v], left, rtol=1e-6)


def test_constant_and_repeated_columns_do_no_harm():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    table = np.column_stack([x, x, np.ones(200), x + random.normal(size=200)])
    required = np.zeros((4, 4), bool)
    required[[0, 1, 2], 3] = True
    graph = choose_parents(
        Moments.of(table), [0, 1, 2, 3], constraints=Constraints(required=required)
    )
    assert graph.adjacency().toarray()[:, 3].tolist() == [True, True, True, False]
    assert np.all(np.isfinite(graph.matrix().toarray()))
    assert not graph.adjacency().toarray()[:, 2].any()


def test_counted_rows_are_the_rows_that_matter():
    random = np.random.default_rng(1)
    table, _ = linear_table(random, 150, 6)
    counted = np.ones((150, 6))
    counted[:50, 3] = 0
    moments = Moments.of(table, counted)
    assert moments.correlations.shape == (2, 6, 6)
    here, there = choose_parents(moments, np.arange(6), penalty=3.0), Moments.of(table[50:])
    weights = choose_parents(there, np.arange(6), penalty=3.0).matrix().toarray()
    np.testing.assert_allclose(here.matrix().toarray()[:, 3], weights[:, 3], rtol=1e-9)


def test_repeated_rows_and_counts_agree():
    random = np.random.default_rng(2)
    table, _ = linear_table(random, 100, 5)
    counts = random.integers(0, 3, 100)
    weighted, repeated = Moments.of(table, counts), Moments.of(np.repeat(table, counts, axis=0))
    np.testing.assert_allclose(weighted.correlations, repeated.correlations, atol=1e-12)
    np.testing.assert_allclose(weighted.scales, repeated.scales)


def awkward_tables():
    random = np.random.default_rng(3)
    base = random.normal(size=(40, 6))
    yield "constant", np.column_stack([base, np.full(40, 0.1)])
    yield "duplicate", np.column_stack([base, base[:, 0], base[:, 0]])
    yield "collinear", np.column_stack([base, base @ random.normal(size=(6, 3))])
    yield "n < d", random.normal(size=(5, 20))
    yield "one row", random.normal(size=(1, 4))
    yield "all constant", np.ones((10, 3))


@pytest.mark.parametrize(("name", "table"), list(awkward_tables()))
def test_awkward_tables_give_finite_dags(name, table):
    moments = Moments.of(table)
    found = choose_parents(moments, np.arange(table.shape[1]))
    weights = found.matrix()
    assert is_dag(weights)
    assert np.all(np.isfinite(weights.toarray()))
    assert np.all(np.isfinite(found.scores))
    assert np.diff(found.starts).max() <= max(len(table) - 2, 0)
    if name == "constant":
        assert found.adjacency().toarray()[6].sum() == found.adjacency().toarray()[:, 6].sum() == 0


def test_duplicates_have_an_arc():
    column = np.random.default_rng(0).normal(size=50)
    found = choose_parents(Moments.of(np.column_stack([column, 2 * column])), [1, 0])
    np.testing.assert_allclose(found.matrix().toarray(), [[0, 0], [0.5, 0]])


def test_a_hub_keeps_all_its_parents():
    random = np.random.default_rng(4)
    parents = random.normal(size=(4000, 90))
    table = np.column_stack([parents, parents.sum(axis=1) + random.normal(size=4000)])
    found = choose_parents(Moments.of(table), np.arange(91))
    assert found.adjacency().toarray()[:90, 90].all()


def test_threads_do_not_change_anything():
    table, _ = linear_table(np.random.default_rng(5), 100, 300, density=0.01)
    moments = Moments.of(table)
    one, three = (choose_parents(moments, np.arange(300), threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.parents, three.parents)
    np.testing.assert_array_equal(one.weights, three.weights)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [[0, 1, 2]]])
def test_what_is_not_an_order_is_refused(order):
    with pytest.raises(DataError, match="order lists each"):
        choose_parents(Moments.of(np.eye(3)), order)


def test_required_arcs_against_the_order_are_refused():
    required = np.zeros((3, 3), bool)
    required[2, 0] = True
    with pytest.raises(DataError, match="order contradicts"):
        choose_parents(Moments.of(np.eye(3)), [0, 1, 2], constraints=Constraints(required=required))


@pytest.mark.parametrize("counted", [np.ones(4), -np.ones(5), np.zeros(5), np.full(5, np.nan)])
def test_row_weights_are_checked(counted):
    with pytest.raises(DataError, match="Row weights"):
        Moments.of(np.ones((5, 2)), counted)
