import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refine_reference import linear_table

from cosmodag.refinement.moments import Moments
from cosmodag.refinement.starts import equal_variance_order, respecting, variance_order


def plain_top_down(table):
    """The definition: least residual variance given all that are already in order."""
    centred = table - table.mean(axis=0)
    order: list[int] = []
    while len(order) < table.shape[1]:
        left = [v for v in range(table.shape[1]) if v not in order]
        design = centred[:, order]
        fits = [design @ np.linalg.lstsq(design, centred[:, v])[0] for v in left]
        variances = [np.var(centred[:, v] - fit) for v, fit in zip(left, fits, strict=True)]
        order.append(left[int(np.argmin(variances))])
    return order


@pytest.mark.parametrize("seed", range(5))
def test_exact_equal_variance_order_is_that_of_the_definition(seed):
    table, _ = linear_table(np.random.default_rng(seed), 200, 10)
    moments = Moments.of(table)
    assert equal_variance_order(moments, exact=True).tolist() == plain_top_down(table)


@pytest.mark.parametrize("exact", [True, False])
def test_equal_variance_order_agrees_with_the_truth(exact):
    table, weights = linear_table(np.random.default_rng(0), 20_000, 12)
    place = np.argsort(equal_variance_order(Moments.of(table), exact=exact))
    tails, heads = np.nonzero(weights)
    assert np.all(place[tails] < place[heads])


def test_without_a_penalty_the_sparse_way_is_the_exact_one():
    table, _ = linear_table(np.random.default_rng(1), 300, 60, density=0.1)
    moments = Moments.of(table)
    sparse = equal_variance_order(moments, exact=False, penalty=0.0)
    assert sparse.tolist() == equal_variance_order(moments, exact=True).tolist()


@pytest.mark.parametrize("exact", [True, False])
def test_determined_columns_and_constants_have_a_place(exact):
    random = np.random.default_rng(2)
    base = random.normal(size=(10, 6))
    table = np.column_stack([base, base[:, 0], np.ones(10), random.normal(size=(10, 12))])
    order = equal_variance_order(Moments.of(table), exact=exact)
    assert sorted(order) == list(range(20))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_orders_are_brought_into_line(seed, d):
    random = np.random.default_rng(seed)
    hidden = random.permutation(d)
    before = np.triu(random.random((d, d)) < 0.3, 1)[np.ix_(hidden, hidden)]
    given_order = random.permutation(d)
    moments = Moments.of(random.normal(size=(20, d)))
    for order in (
        respecting(given_order, before),
        equal_variance_order(moments, exact=True, before=before),
        equal_variance_order(moments, exact=False, before=before),
    ):
        place = np.argsort(order)
        assert sorted(order) == list(range(d))
        assert np.all((place[:, None] < place[None, :])[before])
    agreeing = respecting(given_order, before)
    np.testing.assert_array_equal(respecting(agreeing, before), agreeing)


def test_variance_order_breaks_ties_by_index():
    assert variance_order(Moments.of([[1.0, 0, 1], [0, 0, 0]])).tolist() == [1, 0, 2]
