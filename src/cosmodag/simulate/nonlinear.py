"""Non-linear mechanisms: x_v = f_v(parents of v) + z_v with a random function f_v for each node."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import cholesky
from scipy.spatial.distance import pdist, squareform
from scipy.special import expit

from cosmodag.errors import DataError
from cosmodag.simulate.graphs import SparseMatrix, generations, signed_uniform
from cosmodag.simulate.mechanisms import Matrix, draw_noise

__all__ = ["NONLINEAR", "sample_nonlinear"]

HIDDEN_UNITS = 100
# Added to the diagonal of a Gaussian process's covariance so that rounding cannot make it singular:
# a perturbation of standard deviation 1e-3, compared with noise of scale 1.
JITTER = 1e-6


def sample_nonlinear(
    graph: SparseMatrix,
    samples: int,
    rng: np.random.Generator,
    *,
    mechanism: str = "mlp",
    scales: ArrayLike = 1.0,
    held: Matrix | None = None,
) -> Matrix:
    """Sample x_v = f_v(x_pa(v)) + z_v with Gaussian noise; a node without parents is pure noise.

    Parameters
    ----------
    graph : sparse matrix or ndarray, shape (d, d)
        Arcs are its non-zero entries; acyclic.
    samples : int
        The number of rows n.
    rng : numpy.random.Generator
    mechanism : {"mlp", "mim", "gp", "gp-add"}
        How f_v is drawn, weights being ±U(0.5, 2) throughout:

        - ``mlp``: σ(x A) b, with A (|pa| × 100) and b (100), without biases;
        - ``mim``, the multiple index model: tanh(x a) + cos(x b) + sin(x c);
        - ``gp``: a draw from the Gaussian process with kernel exp(−‖x − x'‖²/2);
        - ``gp-add``: a sum of such draws, one for each parent.
    scales : float or array of d floats
        The standard deviation of z, one for all variables or one each.
    held : ndarray, shape (n, d), optional
        Values to which variables are set, independently of their parents; NaN elsewhere.

    Returns
    -------
    ndarray of float64, shape (n, d)
        Not centred.

    Notes
    -----
    The Gaussian processes factorise an n × n matrix for each node: 10,000 samples take about
    a gigabyte and, for each node, a minute.

    Examples
    --------
    >>> collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    >>> sample_nonlinear(collider, 5, np.random.default_rng(0), mechanism="mim").shape
    (5, 3)
    """
    if mechanism not in NONLINEAR:
        raise DataError(
            f"The mechanism {mechanism!r} is unknown: use one of {', '.join(NONLINEAR)}."
        )
    # A separate stream keeps the functions independent of the number of rows of noise.
    function_rng = np.random.default_rng(rng.integers(2**63))
    values = draw_noise("gauss", samples, scales, graph.shape[0], rng)
    parents = sparse.csc_array(graph != 0)  # a stored zero is not an arc
    parents.eliminate_zeros()
    for node in np.concatenate(generations(graph)):
        inputs = parents.indices[parents.indptr[node] : parents.indptr[node + 1]]
        if inputs.size:
            values[:, node] += NONLINEAR[mechanism](values[:, inputs], function_rng)
        if held is not None:
            values[:, node] = np.where(np.isnan(held[:, node]), values[:, node], held[:, node])
    return values


def _mlp(inputs: Matrix, rng: np.random.Generator) -> Matrix:
    first_layer = signed_uniform((inputs.shape[1], HIDDEN_UNITS), rng)
    second_layer = signed_uniform(HIDDEN_UNITS, rng)
    return np.asarray(expit(inputs @ first_layer) @ second_layer)


def _multiple_index(inputs: Matrix, rng: np.random.Generator) -> Matrix:
    first, second, third = (inputs @ signed_uniform(inputs.shape[1], rng) for _ in range(3))
    return np.asarray(np.tanh(first) + np.cos(second) + np.sin(third))


def _gaussian_process(inputs: Matrix, rng: np.random.Generator) -> Matrix:
    return _draw_from(_kernel(inputs), rng)


def _additive_gaussian_process(inputs: Matrix, rng: np.random.Generator) -> Matrix:
    # A sum of independent Gaussian processes is one whose covariance is the sum of theirs.
    covariance = np.zeros((inputs.shape[0], inputs.shape[0]))
    for column in inputs.T:
        covariance += _kernel(column[:, None])
    return _draw_from(covariance, rng)


def _kernel(inputs: Matrix) -> Matrix:
    return np.asarray(np.exp(-0.5 * squareform(pdist(inputs, "sqeuclidean"))))


def _draw_from(covariance: Matrix, rng: np.random.Generator) -> Matrix:
    samples = covariance.shape[0]
    covariance[np.diag_indices(samples)] += JITTER
    factor = cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(factor @ rng.normal(size=samples))


NONLINEAR: dict[str, Callable[[Matrix, np.random.Generator], Matrix]] = {
    "mlp": _mlp,
    "mim": _multiple_index,
    "gp": _gaussian_process,
    "gp-add": _additive_gaussian_process,
}
