"""Whether an equation changed in a regime, judged by ranks: for noise of any shape."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

__all__ = ["RankEvidence"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Variance of ranked values that are all alike, as a share of one.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RankEvidence:
    """Evidence for a change of an equation, from normal scores of its residuals.

    Under one equation in all regimes, the ranks of its residuals do not depend on the regime,
    whatever the noise. Residuals are replaced by the normal quantiles of their ranks, and mean,
    variance and dependence on the parents are compared between the regime and the others. A
    comparison of the residuals themselves takes the chance differences of variances of
    heavy-tailed noise for changes: with exponential noise (d = 12, 100 rows per regime) about half
    of the targets it found were false.

    Attributes
    ----------
    X : (n, d) array
    labels : (n,) array of int
        The regime of each row.
    """

    X: Floats
    labels: NDArray[np.intp]

    def gains(self, v: int, parents: NDArray[np.intp], targets: Bools) -> Floats:
        """Compute the evidence (k,) that v changed in each regime, the other targets as given.

        Differences of log-likelihoods, penalised by ½ log n_r for each parameter: above zero for a
        change. A regime that alone would be left has no evidence, zero.
        """
        return np.array([self.gain(v, parents, targets, r) for r in range(len(targets))])

    def gain(self, v: int, parents: NDArray[np.intp], targets: Bools, regime: int) -> float:
        """Compute the evidence that v changed in one regime."""
        own = self.labels == regime
        others = ~targets[self.labels] & ~own
        if not others.any():
            return 0.0
        columns = np.column_stack([self.X[:, parents], np.ones(len(own))])
        weights = np.linalg.lstsq(columns[others], self.X[others, v], rcond=None)[0]
        residuals = self.X[:, v] - columns @ weights
        both = own | others
        ranked = np.empty(len(own))
        ranked[both] = ndtri((rankdata(residuals[both]) - 0.5) / np.count_nonzero(both))
        apart, together = _likelihood(ranked[others]), _likelihood(ranked[both])
        return apart - together + self._own(ranked[own], columns[own])

    @staticmethod
    def _own(ranked: Floats, columns: Floats) -> float:
        """Penalised likelihood of a regime on its own: of a constant, or given the parents."""
        rows, parameters = len(ranked), columns.shape[1] + 1
        price: float = 0.5 * math.log(rows)
        alone = _likelihood(ranked) - 2 * price
        if rows <= parameters + 1:
            return alone
        fitted: Floats = columns @ np.linalg.lstsq(columns, ranked, rcond=None)[0]
        given = _likelihood(ranked - fitted) - parameters * price
        return float(max(alone, given))


def _likelihood(values: Floats) -> float:
    """Largest normal log-likelihood, without the terms that do not depend on the variance."""
    return -0.5 * len(values) * math.log(max(float(values.var()), _LEAST_VARIANCE))
