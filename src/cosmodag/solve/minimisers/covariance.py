"""The score of linear relations as a function of covariances, at a cost independent of rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.solve.problems import Batch

__all__ = ["Covariances", "covariances_of", "half_squared_error"]

Float64 = NDArray[np.float64]


class Covariances(NamedTuple):
    """Second moments of a table, one for each set of rows from which some variable is learnt.

    With c_iv the weight of entry (i, v) and N = Σ c / d, the equation of v depends on the table
    only through C_v = Σ_i c_iv x_i x_iᵀ / N. Variables learnt from the same rows share one matrix;
    if all rows count for all variables, there is only XᵀX / n.
    """

    matrices: Float64  # (g, d, d): one for each group of variables
    members: NDArray[np.intp]  # group k is members[bounds[k] : bounds[k + 1]]
    bounds: NDArray[np.intp]
    own: Float64  # (d, d): column v of C_v for each v, the covariances of v with all others


def covariances_of(batch: Batch, lane: int) -> Covariances:
    """Second moments of a lane's centred data, in float64."""
    data = np.asarray(batch.of_lane("data", lane), np.float64)
    n, d = data.shape
    counted = np.asarray(batch.of_lane("counted", lane, np.ones((n, 1))), np.float64)
    distinct, group = counted, np.zeros(d, np.intp)
    if counted.shape[1] > 1:
        distinct, group = np.unique(counted, axis=1, return_inverse=True)
        group = group.ravel()
    total = counted.sum() / counted.shape[1]
    # If no entry counts, the score is zero.
    scale = max(total, np.finfo(np.float64).tiny)
    matrices = np.stack([(data * column[:, None]).T @ data / scale for column in distinct.T])
    members = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[members], np.arange(len(matrices) + 1))
    own = np.ascontiguousarray(matrices[group, :, np.arange(d)].T)
    return Covariances(matrices, members, bounds, own)


def half_squared_error(covariances: Covariances, weights: Float64) -> tuple[float, Float64]:
    """ℓ(W) = ½ Σ_v (e_v − w_v)ᵀ C_v (e_v − w_v), and ∇ℓ, whose column v is −C_v (e_v − w_v).

    With one covariance this is ‖X − XW‖_F² / 2n = ½ tr (I − W)ᵀ C (I − W).

    Examples
    --------
    >>> one = Covariances(np.eye(2)[None], np.arange(2), np.array([0, 2]), np.eye(2))
    >>> half_squared_error(one, np.zeros((2, 2)))[0]
    1.0
    """
    rest = np.eye(len(weights)) - weights
    if len(covariances.matrices) == 1:
        product = covariances.matrices[0] @ rest
    else:
        product = np.empty_like(rest)
        for k, matrix in enumerate(covariances.matrices):
            group = covariances.members[covariances.bounds[k] : covariances.bounds[k + 1]]
            product[:, group] = matrix @ rest[:, group]
    return float(0.5 * np.sum(rest * product)), -product
