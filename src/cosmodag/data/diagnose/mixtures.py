"""Several populations: a mixture of two against one population, on held-out residuals."""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, stats
from scipy.special import expit, ndtri

from cosmodag.data.diagnose.findings import Finding

Floats = NDArray[np.float64]

# Fewest rows, also per column; most rows and columns, for the time it takes (18 ms of CPU time for
# 1,000 rows of 12 columns).
_FEWEST, _ROWS_PER_COLUMN, _MOST_ROWS, _MOST_COLUMNS = 200, 10, 2_000, 60
# Number of standard errors by which the mixture must be better on held-out rows. On 20 tables of 12
# columns and 1,000 rows each, it was at most .8 standard errors better without a shift (normal,
# Laplace, uniform, t and exponential noise), and at least 6 (4 with exponential noise) if 20 % of
# the rows were shifted by one standard deviation.
_BEYOND = 4.0
# Mean absolute skewness above which residuals in a graph that is right only up to its class depend
# on one another, although there is one population: exponential noise has 2.
_SKEWED = 0.75
_ROUNDS, _RIDGE, _TINY = 25, 1e-3, 1e-9
# Fractions of the rows that start in the second population, one for each start.
_FRACTIONS = (0.2, 0.5, 0.8)


def shifted_rows(residuals: Floats, *, any_shape: bool) -> list[Finding]:
    """Report that the rows of a fit come from two populations with different means.

    Residuals (n, d) of the equations of a graph enter as normal scores, so that the shape of the
    noise decides nothing. With `any_shape`, the graph was chosen for noise of any shape.
    """
    n, d = residuals.shape
    if n < max(_FEWEST, _ROWS_PER_COLUMN * d) or not 2 <= d <= _MOST_COLUMNS:
        return []
    used = residuals[:: -(-n // _MOST_ROWS)]
    if not any_shape and np.abs(stats.skew(used)).mean() > _SKEWED:
        return []
    scores = ndtri((stats.rankdata(used, axis=0) - 0.5) / len(used))
    advantage, share = mixture_advantage(scores)
    if advantage <= _BEYOND:
        return []
    sentence = (
        f"About {share:.0%} of the rows seem to come from another population with other means (a "
        f"mixture of two is {advantage:.1f} standard errors better on held-out rows), so arcs can "
        "join columns only because both differ between populations: fit each population "
        "separately, or add a column that names the population of each row."
    )
    return [Finding("several_populations", (), advantage, "warning", sentence)]


def mixture_advantage(X: Floats) -> tuple[float, float]:
    """Compare two normal populations of one covariance with one, on held-out halves of the rows.

    Returns the mean gain in log density in its standard errors, and the smaller share.

    >>> X = np.random.default_rng(0).normal(size=(600, 6))
    >>> mixture_advantage(X)[0] < 3
    True
    >>> X[:120] += 2
    >>> mixture_advantage(X)[0] > 3
    True
    """
    halves = np.array_split(np.random.default_rng(0).permutation(len(X)), 2)
    gains, shares = np.empty(len(X)), []
    for held, others in (halves, halves[::-1]):
        own = X[others]
        mean, covariance = own.mean(axis=0), _covariance(own)
        found = [
            _two_populations(own, np.where(along > np.quantile(along, 1 - fraction), 0.9, 0.1))
            for along, fraction in zip(_directions(own, covariance), _FRACTIONS, strict=True)
        ]
        share, means, inner = max(found, key=lambda one: _log_mixture(own, *one).mean())
        gains[held] = _log_mixture(X[held], share, means, inner)
        gains[held] -= _log_normal(X[held], mean, covariance)
        shares.append(min(share, 1 - share))
    error = gains.std() / np.sqrt(len(gains))
    return float(gains.mean() / max(error, _TINY)), float(np.mean(shares))


def _directions(X: Floats, covariance: Floats) -> list[Floats]:
    """Project rows on the direction of skewness, of largest variance, and of skewness again."""
    _, vectors = linalg.eigh(covariance)
    white = (X - X.mean(axis=0)) @ np.linalg.cholesky(np.linalg.inv(covariance))
    skewed = (white * (white**2).sum(axis=1)[:, None]).mean(axis=0)
    return [white @ skewed, X @ vectors[:, -1], white @ skewed]


def _two_populations(X: Floats, weights: Floats) -> tuple[float, tuple[Floats, Floats], Floats]:
    """Fit by EM, from the probabilities (n,) that each row is of the second population."""
    n = len(X)
    total = _covariance(X)
    for _ in range(_ROUNDS):
        share = float(np.clip(weights.mean(), 1 / n, 1 - 1 / n))
        second = weights @ X / max(weights.sum(), _TINY)
        first = (1 - weights) @ X / max((1 - weights).sum(), _TINY)
        between = second - first
        inner = total - share * (1 - share) * np.outer(between, between)
        direction = np.linalg.solve(inner, between)
        middle = direction @ (first + second) / 2
        weights = expit(X @ direction - middle + np.log(share / (1 - share)))
    return share, (first, second), inner


def _covariance(X: Floats) -> Floats:
    return np.cov(X.T, bias=True) + _RIDGE * np.eye(X.shape[1])


def _log_mixture(
    X: Floats, share: float, means: tuple[Floats, Floats], covariance: Floats
) -> Floats:
    first, second = (_log_normal(X, mean, covariance) for mean in means)
    return np.logaddexp(np.log(1 - share) + first, np.log(share) + second)


def _log_normal(X: Floats, mean: Floats, covariance: Floats) -> Floats:
    """Compute log densities of rows (n,), up to a constant."""
    root = np.linalg.cholesky(covariance)
    scaled = linalg.solve_triangular(root, (X - mean).T, lower=True)
    return np.asarray(-0.5 * (scaled**2).sum(axis=0) - np.log(np.diag(root)).sum())
