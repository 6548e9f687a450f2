"""Sufficient statistics of each regime of a table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.moments import Moments

__all__ = ["RegimeMoments"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Variance of a column below which it is constant, as a share of its variance in the whole table.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class RegimeMoments:
    """Numbers of rows, means and products of each regime, of columns with deviation one.

    Attributes
    ----------
    rows : (k,) array
    means : (k, d) array
        About the mean of the whole table.
    products : (k, d, d) array
        Σ x xᵀ over the rows of a regime, about its own means.
    """

    rows: Floats
    means: Floats
    products: Floats

    @staticmethod
    def of(X: Floats, labels: NDArray[np.intp], regimes: int) -> "RegimeMoments":
        """Take the moments of a table whose row i belongs to the regime ``labels[i]``.

        Examples
        --------
        >>> X = np.array([[0.0], [2.0], [5.0], [9.0]])
        >>> moments = RegimeMoments.of(X, np.array([0, 0, 1, 1]), 2)
        >>> moments.rows.tolist(), bool(moments.products[1, 0, 0] > moments.products[0, 0, 0])
        ([2.0, 2.0], True)
        """
        centred = X - X.mean(axis=0)
        scales = centred.std(axis=0)
        centred /= np.where(scales > 0, scales, 1.0)
        d = X.shape[1]
        means, products = np.zeros((regimes, d)), np.zeros((regimes, d, d))
        for regime in range(regimes):
            own = centred[labels == regime]
            means[regime] = own.mean(axis=0)
            own = own - means[regime]
            products[regime] = own.T @ own
        rows = np.bincount(labels, minlength=regimes).astype(np.float64)
        return RegimeMoments(rows, means, products)

    def without(self, targets: Bools) -> Moments:
        """Join the regimes, for each variable those in which it is no target.

        Parameters
        ----------
        targets : (k, d) array of bool
            Every variable is no target somewhere.

        Examples
        --------
        >>> X = np.array([[0.0, 1.0], [2.0, 2.0], [5.0, 0.0], [9.0, 4.0]])
        >>> moments = RegimeMoments.of(X, np.array([0, 0, 1, 1]), 2)
        >>> moments.without(np.array([[False, False], [False, True]])).rows.tolist()
        [2.0, 4.0]
        """
        kept, group = np.unique(~targets, axis=1, return_inverse=True)
        counted = np.ascontiguousarray(kept.T, np.float64)
        rows = counted @ self.rows
        means = counted @ (self.rows[:, None] * self.means) / rows[:, None]
        products = np.tensordot(counted, self.products, 1)
        for place, some in enumerate(kept.T):
            apart = (self.means[some] - means[place]) * np.sqrt(self.rows[some])[:, None]
            products[place] += apart.T @ apart
        variances = np.einsum("gii->gi", products) / rows[:, None]
        scales = np.sqrt(np.where(variances > _ROUNDING, variances, 0.0))
        inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)
        correlations = products * inverse[:, :, None] * inverse[:, None, :] / rows[:, None, None]
        np.einsum("gii->gi", correlations)[...] = scales > 0
        return Moments(correlations, group.ravel().astype(np.int64), rows, means, scales)
