import numpy as np
import pytest
from order_reference import linear_table, parents_on

from cosmodag.errors import DataError
from cosmodag.order import choose_parents
from cosmodag.refinement.moments import Moments

D = 12


def knowledge(random, order):
    """Support and required arcs that agree with an order."""
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
    graph = choose_parents(moments, order, penalty=3.0, support=support, required=required)
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


def test_constant_and_repeated_columns_do_no_harm():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    table = np.column_stack([x, x, np.ones(200), x + random.normal(size=200)])
    required = np.zeros((4, 4), bool)
    required[[0, 1, 2], 3] = True
    graph = choose_parents(Moments.of(table), [0, 1, 2, 3], required=required)
    assert graph.adjacency().toarray()[:, 3].tolist() == [True, True, True, False]
    assert np.all(np.isfinite(graph.matrix().toarray()))
    assert not graph.adjacency().toarray()[:, 2].any()


def test_an_order_that_is_none_or_against_required_arcs_is_refused():
    moments = Moments.of(np.random.default_rng(0).normal(size=(50, 3)))
    required = np.zeros((3, 3), bool)
    required[2, 0] = True
    with pytest.raises(DataError, match="each of"):
        choose_parents(moments, [0, 0, 1])
    with pytest.raises(DataError, match="required"):
        choose_parents(moments, [0, 1, 2], required=required)
