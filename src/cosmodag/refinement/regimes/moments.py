"""Sufficient statistics of each regime of a table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RegimeMoments"]

Floats = NDArray[np.float64]


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
