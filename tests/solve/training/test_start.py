"""Initial parameters follow the distributions of the paper."""

import numpy as np
import pytest
from scipy import stats
from solver_problems import SETTINGS, cosmo_recipe

from cosmodag.model.mechanism import MLP, Linear


@pytest.mark.parametrize("shift", [1e-2, 0.3])
def test_priorities_are_normal_with_a_deviation_of_the_shift_over_root_two(shift):
    start = cosmo_recipe().start(3, 1000, {**SETTINGS, "shift": shift})
    # Another standard deviation, such as the shift itself, gives p-values below 1e-20.
    assert stats.kstest(np.asarray(start["order"]) / (shift / np.sqrt(2)), "norm").pvalue > 1e-3


@pytest.mark.parametrize(
    ("mechanism", "limit"),
    [(Linear(), np.sqrt(3 / 60)), (MLP((7,)), 1 / np.sqrt(60 * 7))],
    ids=["linear", "mlp"],
)
def test_arcs_are_uniform(mechanism, limit):
    arcs = np.asarray(cosmo_recipe(mechanism).start(3, 60, SETTINGS)["arcs"]).ravel()
    assert np.abs(arcs).max() <= limit
    assert stats.kstest(arcs / limit, "uniform", args=(-1, 2)).pvalue > 1e-3


def test_the_seed_decides():
    first, again, other = (cosmo_recipe().start(seed, 5, SETTINGS) for seed in (0, 0, 1))
    for group in ("arcs", "order"):
        assert np.array_equal(first[group], again[group])
        assert not np.array_equal(first[group], other[group])
