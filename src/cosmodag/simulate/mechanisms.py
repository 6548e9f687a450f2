"""Mechanisms: linear models with several noise families, and random functions of the parents.

The names of the noise families are those of the NOTEARS generator. Here all of them are additive
noise; in NOTEARS, ``logistic`` is a model of binary data, and ``poisson`` one of counts.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.linalg import cholesky
from scipy.spatial.distance import pdist, squareform
from scipy.special import expit

from cosmodag.errors import DataError
from cosmodag.simulate.random_graphs import SparseMatrix, generations, signed_uniform

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

HIDDEN_UNITS = 100

# Added to the diagonal of the covariance of a Gaussian process, so that rounding cannot make it
# singular. This is noise of standard deviation 1e-3, compared with noise of scale 1.
JITTER = 1e-6


def draw_noise(
    noise: str, samples: int, scales: ArrayLike, nodes: int, rng: np.random.Generator
) -> Matrix:
    """Draw independent noise (n, d): the family's standard form times the variable's scale.

    >>> draw_noise("exp", 1000, [1.0, 5.0], 2, np.random.default_rng(0)).mean(axis=0).round()
    array([1., 5.])
    """
    if noise not in NOISES:
        raise DataError(f"The noise {noise!r} is unknown: use one of {', '.join(NOISES)}.")
    return NOISES[noise](rng, (samples, nodes)) * _checked_scales(scales, nodes)


def propagate(weights: SparseMatrix, noise: Matrix) -> Matrix:
    """Solve X = XW + Z for X by visiting the variables in causal order.

    Only sparse products are computed, never the inverse of I − W, so the cost is one multiplication
    per sample and arc. W (d, d) is sparse or dense, and acyclic; X and Z are (n, d).

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
    """Sample n rows of the linear model x_v = Σ_u W_uv x_u + z_v: (n, d), not centred.

    Parameters
    ----------
    weights : sparse matrix or ndarray, shape (d, d)
        W, acyclic.
    samples : int
        The number of rows n.
    rng : numpy.random.Generator
    noise : {"gauss", "exp", "gumbel", "uniform", "logistic", "poisson"}
        The family of z: N(0, 1), Exponential(mean 1), Gumbel(0, 1), U(−1, 1), Logistic(0, 1) or
        Poisson(1), not centred.
    scales : float or array of d floats
        Factor of the noise of all variables, or of each.

    Examples
    --------
    >>> chain = np.array([[0.0, 2.0], [0.0, 0.0]])
    >>> sample_linear(chain, 5, np.random.default_rng(0)).shape
    (5, 2)
    """
    return propagate(weights, draw_noise(noise, samples, scales, weights.shape[0], rng))


def population_covariance(weights: SparseMatrix, scales: ArrayLike = 1.0) -> Matrix:
    """Return the covariance (I−W)^{-T} diag(scales²) (I−W)^{-1} of the linear Gaussian model.

    Arguments are as for `sample_linear`.

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

    The result (n, d) is not centred.

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
        The standard deviation of the noise of all variables, or of each.
    held : ndarray, shape (n, d), optional
        Values to which variables are set, independently of their parents; NaN elsewhere.

    Notes
    -----
    Gaussian processes need the factorisation of an n × n matrix per node: with 10,000 samples, this
    takes about ten seconds per node on one core, and up to 2.4 GB of memory.

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
    # With a separate stream, the functions do not depend on the number of samples.
    function_rng = np.random.default_rng(rng.integers(2**63))
    values = draw_noise("gauss", samples, scales, graph.shape[0], rng)
    order = np.concatenate(generations(graph))
    parents = sparse.csc_array(graph != 0)  # a stored zero is not an arc
    parents.eliminate_zeros()
    for node in order:
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


def _additive_gaussian_process(inputs: Matrix, rng: np.random.Generator) -> Matrix:
    # The sum of independent Gaussian processes is a Gaussian process with the sum of covariances.
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
    "gp": lambda inputs, rng: _draw_from(_kernel(inputs), rng),
    "gp-add": _additive_gaussian_process,
}
