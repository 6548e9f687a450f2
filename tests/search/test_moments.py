"""Correlations of many variables are stored as multiples of a unit, in half the memory."""

import numpy as np
import pytest

from cosmodag.errors import DataError
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.moments import UNIT, Moments
from cosmodag.search.parents import choose_parents
from cosmodag.search.search_run import Run
from cosmodag.search.starts.conditional_variances import equal_variance_order
from cosmodag.search.wide import search_large, unexplained
from linear_tables import linear_table


@pytest.fixture
def in_whole_units(monkeypatch):
    """A function that stores the moments of a table like those of a very large table."""

    def moments(table, counted=None):
        with monkeypatch.context() as context:
            context.setattr("cosmodag.search.moments.WHOLE_BEYOND", 1)
            context.setattr("cosmodag.search.moments.TILE", 3)  # divides no number of columns
            return Moments.of(table, counted)

    return moments


def deep_table(seed: int = 3, rows: int = 1000, d: int = 40) -> np.ndarray:
    """Shuffled columns whose residual variance given four parents falls along the order to 1e-7."""
    random = np.random.default_rng(seed)
    columns = [random.normal(size=rows) for _ in range(d)]
    for v in range(4, d):
        parents = random.choice(np.arange(max(0, v - 15), v), 4, replace=False)
        sizes = random.choice([-1.0, 1.0], 4) * random.uniform(0.5, 2, 4)
        for parent, size in zip(parents, sizes, strict=True):
            columns[v] = columns[v] + size * columns[parent]
    return np.column_stack(columns)[:, random.permutation(d)]


def test_whole_units_are_within_half_a_unit_of_double_precision(in_whole_units):
    table = np.column_stack([linear_table(np.random.default_rng(4), 300, 7)[0], np.ones(300)])
    double, whole = Moments.of(table), in_whole_units(table)
    assert (double.correlations.dtype, double.unit) == (np.float64, 1.0)
    assert (whole.correlations.dtype, whole.unit) == (np.int32, UNIT)
    np.testing.assert_allclose(
        whole.correlations * UNIT, double.correlations, rtol=0, atol=0.5001 * UNIT
    )
    assert np.diagonal(whole.correlations[0] * UNIT).tolist() == [1.0] * 7 + [0.0]


def test_moments_about_zero_keep_their_unit(in_whole_units):
    table = linear_table(np.random.default_rng(4), 300, 8)[0] + np.arange(8)
    counted = np.ones((300, 8))
    counted[:100, 2] = 0
    double = Moments.of(table, counted).about_zero()
    whole = in_whole_units(table, counted).about_zero()
    assert whole.correlations.dtype == np.int32
    # Half a unit of rounding in the correlations, and half a unit in the products about zero.
    np.testing.assert_allclose(whole.correlations * UNIT, double.correlations, rtol=0, atol=UNIT)


def test_parents_that_leave_a_ten_millionth_are_found_in_whole_units(in_whole_units):
    table = deep_table()
    double, whole, single = Moments.of(table), in_whole_units(table), Moments.of(table)
    single.correlations[:] = single.correlations.astype(np.float32)
    order = equal_variance_order(double, exact=True)
    expected, found, rough = (
        choose_parents(moments, order, penalty=7.0) for moments in (double, whole, single)
    )
    assert 1e-7 < expected.residuals.min() < 2e-7
    assert np.array_equal(found.adjacency().toarray(), expected.adjacency().toarray())
    # An error of half a unit in about ten products is 2e-9, a fiftieth of the smallest fraction.
    np.testing.assert_allclose(found.residuals, expected.residuals, rtol=0.02)
    assert not np.allclose(rough.residuals, expected.residuals, rtol=0.1)


def test_searches_and_starts_agree_in_whole_units(in_whole_units):
    table, _ = linear_table(np.random.default_rng(1), 400, 30)
    double, whole = Moments.of(table), in_whole_units(table)
    assert np.array_equal(
        equal_variance_order(whole, exact=False), equal_variance_order(double, exact=False)
    )
    np.testing.assert_allclose(unexplained(whole, 6.0), unexplained(double, 6.0), atol=1e-7)
    found, expected = (
        search_large(ColumnScore.of(moments, penalty=6.0), np.arange(30), Run.seeded(0))
        for moments in (whole, double)
    )
    assert np.array_equal(found.order, expected.order)
    # A residual fraction of 1e-4 is off by about 1e-9: 500 log(1 + 1e-5) in the score.
    assert found.score == pytest.approx(expected.score, abs=0.05)


def test_the_order_of_a_deep_table_is_found_in_whole_units(in_whole_units):
    table = deep_table()
    found, expected = (
        search_large(
            ColumnScore.of(moments, "equal-variance", penalty=7.0), np.arange(40), Run.seeded(0)
        )
        for moments in (in_whole_units(table), Moments.of(table))
    )
    arcs = [result.graph.adjacency().toarray() for result in (found, expected)]
    assert np.array_equal(*arcs)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_values_without_finite_squares_are_refused_unless_their_rows_do_not_count(value):
    table, _ = linear_table(np.random.default_rng(0), 50, 3)
    table[4, 1] = value
    with pytest.raises(DataError, match="missing or infinite"):
        Moments.of(table)
    counted = np.arange(50) != 4
    assert np.isfinite(Moments.of(table, counted).correlations).all()
