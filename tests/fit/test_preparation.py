"""The map of each column: finite for every column, and undone by its inverse."""

from typing import get_args

import numpy as np
import pytest

from cosmodag.fit.dag.preparation import Preparation
from cosmodag.learners.parameters import Scale


@pytest.mark.parametrize("scale", get_args(Scale))
def test_a_constant_column_has_finite_values_and_comes_back(scale):
    table = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 20.0, 300.0]
    table[:, 1] = 7.0
    preparation = Preparation.of(table, scale)
    prepared = preparation.apply(table)
    assert np.isfinite(prepared).all()
    # With a tolerance, because prepared values are float32.
    np.testing.assert_allclose(preparation.undo(prepared), table, rtol=1e-5)


@pytest.mark.parametrize("value", [1.7e18, 1e200])
@pytest.mark.parametrize("scale", ["center", "standardize"])
def test_a_constant_column_of_large_numbers_is_zero_exactly(scale, value):
    table = np.random.default_rng(0).normal(size=(70, 3))
    table[:, 1] = value
    preparation = Preparation.of(table, scale)
    assert (preparation.centre(table)[:, 1] == 0).all()
    assert (preparation.undo(preparation.apply(table))[:, 1] == value).all()
