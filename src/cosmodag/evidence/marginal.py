"""The marginal distribution of one column: normal scores, their inverse, and a density."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]

# A column with fewer distinct values, or with one value in a larger share of the rows, has no
# density: densities of atoms are unbounded and would decide every comparison.
_FEWEST_VALUES, _LARGEST_ATOM = 40, 0.05


def has_density(x: Floats) -> bool:
    """Whether a column has enough distinct values for a density.

    >>> has_density(np.arange(100.0)), has_density(np.arange(100.0) % 7)
    (True, False)
    """
    counts = np.unique(x, return_counts=True)[1]
    return bool(len(counts) >= _FEWEST_VALUES and counts.max() <= _LARGEST_ATOM * len(x))


@dataclass(frozen=True, eq=False)
class Marginal:
    """An estimate of a distribution from a sample, with at least two distinct values.

    Normal scores are normal quantiles of the empirical distribution. The log density comes from
    spacings over about 2 √n values, with tails of the Cauchy kind beyond the sample.
    """

    values: Floats  # (k,): distinct values of the sample, rising
    scores: Floats  # (k,): their normal scores
    logs: Floats  # (k,): log density at these values
    tails: tuple[float, float]  # scales of the density below and above the sample

    @classmethod
    def of(cls, x: Floats) -> "Marginal":
        """Estimate the distribution of a sample."""
        n, ordered = len(x), np.sort(x)
        values, first, counts = np.unique(ordered, return_index=True, return_counts=True)
        middle = first + (counts - 1) / 2
        reach = max(5, math.isqrt(n))
        places = np.rint(middle).astype(np.intp)
        low, high = np.maximum(places - reach, 0), np.minimum(places + reach, n - 1)
        # A grid of rounded values has at least the width of its steps.
        least = max(1e-6 * float(values[-1] - values[0]), 1e-300)
        gaps = np.maximum(ordered[high] - ordered[low], least)
        ends = min(reach, n - 1)
        tails = (ordered[ends] - ordered[0], ordered[-1] - ordered[-1 - ends])
        return cls(
            values,
            ndtri((middle + 0.5) / n),
            np.log(np.maximum(high - low, 1) / n / gaps),
            (max(float(tails[0]), least), max(float(tails[1]), least)),
        )

    def scored(self, x: Floats) -> Floats:
        """Return the normal scores of new values; beyond the sample, of its ends.

        >>> marginal = Marginal.of(np.arange(101.0))
        >>> marginal.scored(np.array([50.0, -3.0])).round(2).tolist()
        [0.0, -2.58]
        """
        return np.interp(x, self.values, self.scores)

    def restored(self, z: Floats) -> Floats:
        """Values of normal scores, the inverse of `scored` within the sample."""
        return np.interp(z, self.scores, self.values)

    def log_density(self, x: Floats) -> Floats:
        """Log density at new values.

        >>> x = np.random.default_rng(0).normal(size=4000)
        >>> bool(abs(Marginal.of(x).log_density(x).mean() + 1.42) < 0.03)
        True
        """
        below = np.maximum(self.values[0] - x, 0) / self.tails[0]
        above = np.maximum(x - self.values[-1], 0) / self.tails[1]
        inner = np.interp(x, self.values, self.logs)
        return np.asarray(inner - 2 * np.log1p(below) - 2 * np.log1p(above))


def normal_scores(X: Floats) -> Floats:
    """(n, d): normal scores of the columns that have a density; others are standardised.

    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> np.array_equal(normal_scores(X), normal_scores(np.exp(X)))
    True
    """
    found = np.empty_like(X)
    for v, x in enumerate(X.T):
        if has_density(x):
            found[:, v] = Marginal.of(x).scored(x)
        else:
            found[:, v] = (x - x.mean()) / (x.std() or 1.0)
    return found
