import numpy as np
import pytest

from cosmodag.order.mixed.curves import curve_gain
from cosmodag.order.mixed.table import BlockTable

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


def test_rows_that_were_set_do_not_count():
    counted = np.ones((400, 2))
    counted[100:, 1] = 0
    few, all_rows = gain(np.sin, counted=counted), gain(np.sin)
    assert few.gain != pytest.approx(all_rows.gain)
