"""The score of linear relations as a function of the covariance, so that rows no longer count."""

import numpy as np
from numpy.typing import NDArray

from cosmodag.solver.problems import Batch

__all__ = ["covariance_of", "half_squared_error"]

Float64 = NDArray[np.float64]


def covariance_of(batch: Batch, lane: int) -> Float64:
    """C = XᵀX / n of a lane's centred data, in float64."""
    data = np.asarray(batch.tables[batch.table[lane]], np.float64)
    product: Float64 = data.T @ data / len(data)
    return product


def half_squared_error(covariance: Float64, weights: Float64) -> tuple[float, Float64]:
    """ℓ(W) = ‖X − XW‖_F² / 2n = ½ tr (I − W)ᵀC(I − W), and ∇ℓ = −C(I − W).

    Examples
    --------
    >>> half_squared_error(np.eye(2), np.zeros((2, 2)))[0]
    1.0
    """
    rest = np.eye(len(weights)) - weights
    product = covariance @ rest
    return float(0.5 * np.sum(rest * product)), -product
