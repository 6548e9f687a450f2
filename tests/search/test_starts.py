import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.graph.dags import respecting
from cosmodag.search.moments import Moments
from cosmodag.search.starts.conditional_variances import equal_variance_order
from cosmodag.search.starts.elimination import LEAST_SHARE
from cosmodag.search.starts.orders import (
    elimination_order,
    scale_free_order,
    variance_order,
)
from linear_tables import linear_table


def plain_top_down(table):
    """The definition: smallest residual variance given the variables already in order."""
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


def plain_elimination(table, penalty):
    """The definition, with all costs computed anew in every step."""
    left, order = list(range(table.shape[1])), []

    def worth(columns):
        inverse = np.linalg.inv(np.corrcoef(table[:, columns].T).reshape(len(columns), -1))
        squares = inverse**2 / np.outer(inverse.diagonal(), inverse.diagonal())
        return squares * len(table) / 2

    while left:
        costs = []
        now = worth(left)
        for place, v in enumerate(left):
            rest = [w for w in left if w != v]
            keep = np.delete(np.arange(len(left)), place)
            near = now[place, keep] > LEAST_SHARE * penalty
            pairs = np.triu(np.outer(near, near), 1)
            then = worth(rest) if rest else np.zeros((0, 0))
            change = np.minimum(then, penalty) - np.minimum(now[np.ix_(keep, keep)], penalty)
            own = np.minimum(now[place, keep], penalty)[near].sum()
            costs.append(own + change[pairs].sum())
        # Of costs that are equal up to rounding, the last variable is eliminated.
        (ties,) = np.nonzero(np.array(costs) <= min(costs) + 1e-6 * penalty)
        order.append(left.pop(int(ties[-1])))
    return order[::-1]


@pytest.mark.parametrize("seed", range(4))
def test_the_first_eliminated_is_that_of_the_definition(seed):
    # Later variables may differ: costs of variables that are not neighbours are not updated.
    table, _ = linear_table(np.random.default_rng(seed), 300, 9)
    order = elimination_order(Moments.of(table), 5.0)
    assert order[-1] == plain_elimination(table, 5.0)[-1]


@pytest.mark.parametrize("seed", range(4))
def test_elimination_of_few_variables_is_that_of_the_definition(seed):
    random = np.random.default_rng(seed)
    noise = random.normal(size=(2000, 4))
    table = np.cumsum(noise, axis=1)  # all pairs are joined: all costs are updated
    table[:, 3] += noise[:, 0] + noise[:, 1]
    order = elimination_order(Moments.of(table), 5.0)
    assert order.tolist() == plain_elimination(table, 5.0)


@pytest.mark.parametrize("seed", range(3))
def test_elimination_leaves_nearly_no_arc_against_the_order(seed):
    table, weights = linear_table(np.random.default_rng(seed), 20_000, 30, density=0.15)
    place = np.argsort(elimination_order(Moments.of(table / table.std(axis=0)), 10.0))
    tails, heads = np.nonzero(weights)
    assert np.mean(place[tails] > place[heads]) < 0.15


def test_scale_free_order_does_not_depend_on_units_and_takes_any_columns():
    random = np.random.default_rng(3)
    table, _ = linear_table(random, 500, 12)
    units = 2.0 ** random.integers(-20, 20, 12)
    order = scale_free_order(Moments.of(table))
    assert order.tolist() == scale_free_order(Moments.of(table * units)).tolist()
    table = np.column_stack([table, table[:, 0], np.ones(500)])
    assert sorted(scale_free_order(Moments.of(table))) == list(range(14))
    assert sorted(scale_free_order(Moments.of(table[:20]))) == list(range(14))
