import numpy as np
import pytest
from noise_tables import table

from cosmodag.search.variances import against_equal, common_scale, few_valued

SCALINGS = {
    "population": lambda X: X / X.std(axis=0),
    "sample": lambda X: X / X.std(axis=0, ddof=1),
    "range": lambda X: (X - X.min(axis=0)) / np.ptp(X, axis=0),
    "quartiles": lambda X: X / np.subtract(*np.quantile(X, [0.75, 0.25], axis=0)),
    "median deviation": lambda X: X / np.median(np.abs(X - np.median(X, axis=0)), axis=0),
    "magnitude": lambda X: X / np.abs(X).max(axis=0),
    "mean": lambda X: (X + 30) / (X + 30).mean(axis=0),
    "rounded": lambda X: np.round(X / X.std(axis=0), 3),
}


@pytest.mark.parametrize("scaling", SCALINGS)
def test_common_scales_are_recognised(scaling):
    X, _ = table(0)
    assert common_scale(X) is None
    assert common_scale(SCALINGS[scaling](X)) is not None


def test_rows_drawn_from_a_standardised_table_are_recognised():
    X, _ = table(0, n=1000)
    X = X / X.std(axis=0)
    random = np.random.default_rng(0)
    assert common_scale(X[random.permutation(1000)[:600]]) is not None
    assert common_scale(X[random.integers(1000, size=1000)]) is not None


def test_half_the_columns_are_enough_and_constant_ones_do_not_count():
    X, _ = table(0)
    X[:, :6] /= X[:, :6].std(axis=0)
    X[:, 9] = 4.0
    assert common_scale(X) == "at least half of their standard deviations are the same"
    X[:, 2:6] *= [2, 3, 4, 5]
    assert common_scale(X) is None


@pytest.mark.parametrize("seed", range(5))
def test_raw_tables_of_equal_noise_are_on_no_common_scale(seed):
    assert common_scale(table(seed, uneven=False)[0]) is None


def test_tables_without_two_varying_columns_are_on_no_scale():
    assert common_scale(np.ones((5, 3))) is None
    assert common_scale(np.column_stack([np.arange(5.0), np.ones(5)])) is None


def test_few_values_are_counted_by_their_shares():
    random = np.random.default_rng(0)
    normal = random.normal(size=400)
    columns = {
        "continuous": (normal, False),
        "binary": (normal > 0, True),
        "counts": (random.poisson(5, 400), True),
        "mostly zero": (np.where(random.random(400) < 0.4, 0.0, normal), True),
        "rounded finely": (np.round(normal, 1), False),
        "constant": (np.ones(400), False),
    }
    found = few_valued(np.column_stack([values for values, _ in columns.values()]))
    assert found.tolist() == [expected for _, expected in columns.values()]


def test_few_rows_cannot_show_few_values():
    assert not few_valued(np.random.default_rng(0).normal(size=(15, 2))).any()


def test_values_that_interventions_set_are_left_out():
    X = np.random.default_rng(0).normal(size=(400, 3)) * [1, 2, 3]
    counted = np.ones((400, 3))
    for v in range(3):
        X[v * 120 : (v + 1) * 120, v], counted[v * 120 : (v + 1) * 120, v] = 2.0, 0.0
    assert few_valued(X).all()
    assert not few_valued(X, counted).any()
    counted[:370, 0] = 0.0
    assert against_equal(X, 0.0) is not None
    assert against_equal(X, 0.0, counted) is None
