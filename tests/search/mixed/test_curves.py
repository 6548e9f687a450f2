from dataclasses import replace

import numpy as np
import pytest

from cosmodag.search.mixed.curves import (
    HeldOutGain,
    curve_gain,
    held_out_densities,
    random_folds,
    shape_gain,
)
from cosmodag.search.mixed.table import BlockTable

LINE = np.array([[0, 1], [0, 0]])
CURVE = np.array([[0, 4], [0, 0]])


def gain(function, rows=400, counted=None):
    random = np.random.default_rng(0)
    x = random.normal(size=rows)
    X = np.column_stack([x, function(x) + 0.5 * random.normal(size=rows)])
    return curve_gain(BlockTable.of(X, counted=counted), LINE, CURVE, random)


def test_curves_are_kept_where_there_are_some():
    found = gain(lambda x: np.sin(2 * x))
    assert found.is_certain
    assert "curves gain" in found.reason


def test_lines_are_kept_where_there_are_no_curves():
    found = gain(lambda x: 2 * x)
    assert not found.is_certain
    assert "lines were kept" in found.reason


def test_the_same_equations_gain_nothing():
    random = np.random.default_rng(1)
    table = BlockTable.of(random.normal(size=(100, 2)))
    assert curve_gain(table, CURVE, CURVE, random).gain == 0


def test_folds_in_which_nothing_varies_gain_nothing():
    x = np.zeros(300)
    x[:7] = np.arange(1.0, 8.0)
    table = BlockTable.of(np.column_stack([x, x**2]))
    found = shape_gain(table, LINE, CURVE, np.random.default_rng(0))
    assert np.isfinite([found.gain, found.error]).all()


def test_reversed_arcs_of_skewed_noise_have_no_curves_by_shape():
    random = np.random.default_rng(0)
    cause = random.exponential(size=1000)
    effect = cause + 0.7 * random.normal(size=1000)
    table = BlockTable.of(np.column_stack([effect, cause]))  # the arc of both graphs is reversed
    true = LINE.T
    assert curve_gain(table, true, CURVE, np.random.default_rng(1)).is_certain
    assert shape_gain(table, true, CURVE, np.random.default_rng(1)).gain < 0


def test_the_density_of_rounding_errors_is_finite():
    x = np.random.default_rng(0).normal(size=200)
    table = BlockTable.of(np.column_stack([x, 3 * x]))
    found = held_out_densities(table, 1, LINE[:, 1], random_folds(200, np.random.default_rng(0)))
    np.testing.assert_allclose(found, np.log(1e6))


def test_a_gain_by_rounding_errors_is_not_certain():
    assert not HeldOutGain.of_rows(np.full(400, 6e-13)).is_certain
    assert HeldOutGain.of_rows(np.full(400, 0.01)).is_certain


@pytest.mark.parametrize("compare", [curve_gain, shape_gain])
def test_values_that_were_set_are_no_evidence(compare):
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    X = np.column_stack([x, x + random.exponential(size=400)])
    counted = np.ones((400, 2))
    counted[:100, 1] = 0
    table = BlockTable.of(X, counted=counted)
    changed = X.copy()
    changed[:100, 1] = 3 * x[:100] ** 2
    other = replace(table, X=changed, columns=table.embedding.columns(changed))
    gains = [compare(one, LINE, CURVE, np.random.default_rng(1)) for one in (table, other)]
    assert gains[0] == gains[1]


def test_folds_without_counted_rows_have_no_gain():
    random = np.random.default_rng(0)
    counted = np.ones((100, 2))
    counted[3:, 1] = 0
    table = BlockTable.of(random.normal(size=(100, 2)), counted=counted)
    assert np.isfinite(shape_gain(table, LINE, CURVE, random).gain)


def test_rows_that_were_set_do_not_count():
    counted = np.ones((400, 2))
    counted[100:, 1] = 0
    few, all_rows = gain(np.sin, counted=counted), gain(np.sin)
    assert few.gain != pytest.approx(all_rows.gain)
