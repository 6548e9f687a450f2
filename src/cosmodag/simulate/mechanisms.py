"""Linear mechanisms and their noise.

The names of the noise families are those of the NOTEARS generator. Here all of them are additive
noise; in NOTEARS, ``logistic`` and ``poisson`` are a binary and a count model.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.simulate.graphs import SparseMatrix, generations

__all__ = ["NOISES", "draw_noise", "population_covariance", "propagate", "sample_linear"]

Matrix = NDArray[np.float64]
NoiseFamily = Callable[[np.random.Generator, tuple[int, int]], Matrix]

NOISES: dict[str, NoiseFamily] = {
    "gauss": lambda rng, shape: rng.normal(size=shape),
    "exp": lambda rng, shape: rng.exponential(size=shape),
    "gumbel": lambda rng, shape: rng.gumbel(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-1.0, 1.0, size=shape),
    "logistic": lambda rng, shape: rng.logistic(size=shape),
    "poisson": lambda rng, shape: rng.poisson(size=shape).astype(np.float64),
}


def draw_noise(
    noise: str, samples: int, scales: ArrayLike, nodes: int, rng: np.random.Generator
) -> Matrix:
    """Draw independent noise: the family's standard form times the variable's scale.

    The standard forms are N(0, 1), Exponential(mean 1), Gumbel(0, 1), U(−1, 1), Logistic(0, 1) and
    Poisson(1), none of them centred. The result has one row for each sample and one column for each
    node.

    Examples
    --------
    >>> draw_noise("exp", 1000, [1.0, 5.0], 2, np.random.default_rng(0)).mean(axis=0).round()
    array([1., 5.])
    """
    if noise not in NOISES:
        raise DataError(f"The noise {noise!r} is unknown: use one of {', '.join(NOISES)}.")
    return NOISES[noise](rng, (samples, nodes)) * _checked_scales(scales, nodes)


def propagate(weights: SparseMatrix, noise: Matrix) -> Matrix:
    """Solve X = XW + Z for X by visiting the variables in causal order.

    Only sparse products are formed, never the inverse of I − W, so the cost is one multiplication
    for each sample and arc. W (d, d) is sparse or dense, and acyclic; X and Z are (n, d).

    Examples
    --------
    >>> propagate(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 10.0]]))
    array([[ 1., 12.]])
    """
    parents = sparse.csr_array(weights).T.tocsr()
    values = np.array(noise.T, dtype=np.float64, order="C")
    for layer in generations(weights):
        values[layer] += parents[layer] @ values
    return np.ascontiguousarray(values.T)


def sample_linear(
    weights: SparseMatrix,
    samples: int,
    rng: np.random.Generator,
    *,
    noise: str = "gauss",
    scales: ArrayLike = 1.0,
) -> Matrix:
    """Sample the linear model x_v = Σ_u W_uv x_u + z_v.

    Parameters
    ----------
    weights : sparse matrix or ndarray, shape (d, d)
        W, acyclic.
    samples : int
        The number of rows n.
    rng : numpy.random.Generator
    noise : {"gauss", "exp", "gumbel", "uniform", "logistic", "poisson"}
        The family of z; see `draw_noise`.
    scales : float or array of d floats
        The scale of z, one for all variables or one each.

    Returns
    -------
    ndarray of float64, shape (n, d)
        Not centred.

    Examples
    --------
    >>> chain = np.array([[0.0, 2.0], [0.0, 0.0]])
    >>> sample_linear(chain, 5, np.random.default_rng(0)).shape
    (5, 2)
    """
    return propagate(weights, draw_noise(noise, samples, scales, weights.shape[0], rng))


def population_covariance(weights: SparseMatrix, scales: ArrayLike = 1.0) -> Matrix:
    """Return the covariance (I−W)^{-T} diag(scales²) (I−W)^{-1} of the linear Gaussian model.

    Parameters
    ----------
    weights : sparse matrix or ndarray, shape (d, d)
        W, acyclic.
    scales : float or array of d floats
        The standard deviation of each variable's noise.

    Returns
    -------
    ndarray of float64, shape (d, d)

    Examples
    --------
    >>> population_covariance(np.array([[0.0, 2.0], [0.0, 0.0]]))
    array([[1., 2.],
           [2., 5.]])
    """
    factor = propagate(weights, np.diag(_checked_scales(scales, weights.shape[0])))
    return factor.T @ factor


def _checked_scales(scales: ArrayLike, nodes: int) -> Matrix:
    array = np.asarray(scales, dtype=np.float64)
    if array.shape not in ((), (nodes,)) or not np.all(array > 0) or not np.all(np.isfinite(array)):
        raise DataError(
            f"The noise scales must be one positive number or {nodes}, one for each variable."
        )
    return np.broadcast_to(array, (nodes,))
