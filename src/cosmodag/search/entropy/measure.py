"""Entropy of residuals from two moments, and a test of whether residuals are Gaussian.

A variable u of mean 0 and variance 1 has an entropy below the Gaussian one by about

    79.047 (E log cosh u − 0.37457)² + 7.4129 (E u e^{−u²/2})²

(Hyvärinen 1998, the maximum-entropy approximation), called its *negentropy* here. The first term
measures heavy and light tails, the second skewness.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri

from cosmodag.runtime.compiled import compiled, inlined

GAUSSIAN_ENTROPY = float(0.5 * np.log(2 * np.pi * np.e))
_LOG_COSH_WEIGHT, _LOG_COSH_GAUSSIAN, _SKEW_WEIGHT = 79.047, 0.37457, 7.4129
_LOG_2 = float(np.log(2.0))
# Share of Gaussian tables that may be classified as non-Gaussian.
_LEVEL = 0.005

# Standard deviation of a residual, relative to its variable, below which it is a rounding error.
SMALLEST_DEVIATION = 1e-6

_SMALLEST_EXPONENT = -40.0  # e^{−40} is negligible beside 1
_SQUARED = 64.0  # exp(x) = exp(x / 64)^64: six squarings


def _powers(function: Any, start: float, end: float, degree: int) -> NDArray[np.float64]:
    """Coefficients, highest first, of the interpolating polynomial at the Chebyshev points."""
    series = Chebyshev.interpolate(function, degree, domain=[start, end])
    return np.ascontiguousarray(series.convert(kind=Polynomial).coef[::-1])


# Polynomials, because loops that call the library's exp and log are not vectorised.
_EXP = _powers(np.exp, _SMALLEST_EXPONENT / _SQUARED, 0.0, 9)
_ARTANH = _powers(  # artanh(√z) / √z
    lambda z: np.arctanh(np.sqrt(z)) / np.sqrt(z), 1e-12, 1.0 / 9.0, 8
)


@inlined
def _polynomial(powers: Any, x: float) -> Any:
    """Horner's rule; the compiler unrolls this loop, so that loops around it are vectorised."""
    value = powers[0]
    for i in range(1, len(powers)):
        value = value * x + powers[i]
    return value


@inlined
def _exp_of_negative(x: float) -> float:
    value = _polynomial(_EXP, max(x, _SMALLEST_EXPONENT) / _SQUARED)
    for _ in range(6):
        value *= value
    return value


@inlined
def _log_of_one_plus(x: float) -> float:
    """log(1 + x) = 2 artanh(x / (2 + x)) for 0 ≤ x ≤ 1."""
    root = x / (2.0 + x)
    return 2.0 * root * _polynomial(_ARTANH, root * root)


@compiled
def entropy_parts(
    residuals: NDArray[np.float64], counted: NDArray[np.float64]
) -> tuple[float, float]:
    """Compute the standard deviation s and negentropy J of one variable with weighted rows.

    Its entropy is about log s + ½ log 2πe − J.
    """
    total = mean = variance = 0.0
    for i in range(residuals.size):
        total += counted[i]
        mean += counted[i] * residuals[i]
    mean /= total
    for i in range(residuals.size):
        variance += counted[i] * (residuals[i] - mean) ** 2
    deviation = np.sqrt(variance / total)
    if not deviation > 0.0:
        return 0.0, 0.0
    scale = 1.0 / deviation
    log_cosh = skew = 0.0
    for i in range(residuals.size):
        u = (residuals[i] - mean) * scale
        size = abs(u)
        log_cosh += counted[i] * (size + _log_of_one_plus(_exp_of_negative(-2.0 * size)))
        skew += counted[i] * u * _exp_of_negative(-0.5 * u * u)
    log_cosh = log_cosh / total - _LOG_2 - _LOG_COSH_GAUSSIAN
    skew /= total
    return deviation, _LOG_COSH_WEIGHT * log_cosh**2 + _SKEW_WEIGHT * skew**2


class NonGaussianity(NamedTuple):
    """Whether residuals are non-Gaussian, and by how much."""

    gain: float  # in log-likelihood over Gaussian residuals, in nats
    threshold: float  # gain that Gaussian residuals exceed by chance in half a percent of tables

    @property
    def is_non_gaussian(self) -> bool:
        """Whether the gain is above the threshold."""
        return self.gain > self.threshold


def non_gaussianity(residuals: ArrayLike) -> NonGaussianity:
    """Decide between Gaussian and non-Gaussian noise by the likelihood of the residuals.

    Twice the gain of Gaussian residuals approximately has a χ² distribution with two degrees of
    freedom per variable, one for each moment of the approximation. Of Gaussian tables (d = 1 to
    100, n = 50 to 5000), 0.2 to 0.8% were classified as non-Gaussian at the level of 0.5%.

    The parents of the variables must be chosen by a *Gaussian* score: a search that maximises
    non-Gaussianity finds some in the residuals (n, d) of any data.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> non_gaussianity(random.exponential(size=(500, 10))).is_non_gaussian
    True
    >>> found = non_gaussianity(random.normal(size=(500, 10)))
    >>> round(found.gain, 1), round(found.threshold, 1)
    (9.1, 20.0)
    """
    columns = np.ascontiguousarray(np.asarray(residuals, np.float64).T)
    rows = columns.shape[1]
    parts = np.array([entropy_parts(column, np.ones(rows)) for column in columns])
    deviations, negentropies = parts.T
    variables = int((deviations > 0).sum())
    gain = float(rows * negentropies.sum())
    threshold = float(0.5 * chdtri(2 * max(variables, 1), _LEVEL))
    return NonGaussianity(gain, threshold)
