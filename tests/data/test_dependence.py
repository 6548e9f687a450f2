"""Tests of independence between the noise of an effect and its cause."""

import numpy as np

from cosmodag.data.dependence import pair_tests, powers_of


def test_skewed_noise_that_is_independent_does_not_look_uneven():
    """Of 400 pairs with exponential noise, few exceed three standard errors.

    The larger of two standard normal variables does so in 2 of 400 cases. With a standard error
    that was too small by a factor of √2, 13 pairs did.
    """
    random = np.random.default_rng(0)
    beyond = 0
    for _ in range(400):
        x, noise = random.exponential(size=(2, 300))
        residual = np.polynomial.Polynomial.fit(x, x + noise, 1)(x) - x - noise
        beyond += abs(pair_tests(powers_of(residual), powers_of(x))[-1]) > 3
    assert beyond <= 6


def test_noise_that_grows_with_its_cause_is_seen():
    random = np.random.default_rng(0)
    x = random.normal(size=500)
    residual = np.exp(0.3 * x) * random.normal(size=500)
    assert abs(pair_tests(powers_of(residual), powers_of(x))[-1]) > 5
