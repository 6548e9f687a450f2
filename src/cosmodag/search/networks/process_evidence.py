"""Evidence of a Gaussian process that has one relevance per input, and its gradient.

A target is modelled as y ~ N(0, s² C) with C = I + a K and

    K_ij = 2/π asin(N_ij / √((1 + N_ii)(1 + N_jj))),    N_ij = 2 (b + Σ_u w_u x_iu x_ju),

the covariance of a network of infinitely many sigmoid units whose weights from input u have
variance w_u and whose biases have variance b: a perceptron with everything but these few numbers
integrated out. The variance s² is replaced by its maximum-likelihood estimate, so that

    cost(w, a, b) = n/2 log(yᵀ C⁻¹ y / n) + ½ log |C|

is minus the log evidence in nats, up to a constant. An input with w = 0 has no effect; comparing
costs decides whether an input is needed.

An input may be a block of columns with one relevance, such as the indicators of a category: inputs
are then (n, k, width), padded by zeros. A target may have m columns Y, with their covariance
replaced by its maximum-likelihood estimate: n/2 log |Yᵀ C⁻¹ Y / n| + m/2 log |C|. For the
indicators of a category, this is comparable with the evidence of numbers.

Costs are computed in single precision, which is twice as fast, unless C is so badly conditioned
that digits of the cost would be lost.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats: TypeAlias = NDArray[np.floating]
Numbers: TypeAlias = NDArray[np.float64]

# C lies between I and (1 + a n) I. Up to this condition number, costs in single precision
# were accurate to 0.03 nats.
_LARGEST_CONDITION = 3e6

# Largest N_ii in single precision, which cannot distinguish correlations N_ij / √((1 + N_ii)
# (1 + N_jj)) that are closer to one.
_LARGEST_REACH = 1e5

_SMALLEST_VARIANCE = 1e-12
# Added to joint variances of standardised targets.
_LEAST_SPREAD = 1e-6

# Relevance at which an input is tried for a child without inputs.
_FIRST_RELEVANCE = 0.5


class ProcessKernel(NamedTuple):
    """Relevances w of the inputs, amplitude a, and variance b of the biases."""

    relevances: Numbers
    amplitude: float
    bias: float

    @property
    def usual_relevance(self) -> float:
        """Relevance at which a further input is tried: the median of the others."""
        return float(np.median(self.relevances)) if len(self.relevances) else _FIRST_RELEVANCE

    def only(self, kept: NDArray[np.bool_]) -> "ProcessKernel":
        """Return the kernel of a subset of the inputs."""
        return self._replace(relevances=self.relevances[kept])

    def joined_by(self, relevance: float) -> "ProcessKernel":
        """Return the kernel with one more input, the last."""
        return self._replace(relevances=np.append(self.relevances, relevance))


NO_INPUTS = ProcessKernel(np.zeros(0), amplitude=3.0, bias=1.0)
"""Kernel of a child without inputs, to which a first input is added on trial."""


class Gradient(NamedTuple):
    """The cost, and its derivatives in the relevances, in log a and in log b."""

    cost: float
    relevances: Numbers
    amplitude: float
    bias: float


class _Units(NamedTuple):
    """(n, n): the arguments of asin, and (n,): the factors by which rows were scaled."""

    correlations: Floats
    scales: Floats


class _Solution(NamedTuple):
    """The cost, the Cholesky factor of C, C⁻¹ Y (n, m), and the covariance estimate (m, m)."""

    cost: float
    factor: Floats
    weights: Floats
    variance: Floats


def cost(inputs: Floats, target: Floats, kernel: ProcessKernel) -> float:
    """Return minus the log evidence of a target, in nats, up to a constant.

    The constant depends on the number of rows only, so costs of the same rows can be compared. The
    inputs, (n, k) or (n, k, width), are in single or double precision, best with about unit
    variance; k may be 0. The target, (n,) or (n, m), has mean zero.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 50)[:, None]
    >>> y = np.tanh(3 * x[:, 0])
    >>> kernel = ProcessKernel(np.array([2.0]), amplitude=10.0, bias=1.0)
    >>> nothing = kernel.only(np.array([False]))
    >>> cost(x, y, kernel) < cost(x[:, :0], y, nothing)
    True
    """
    if not inputs.shape[1]:
        return 0.5 * len(target) * _log_determinant(_joint_variance(target, target))
    inputs, target = _in_precision(inputs, target, kernel)
    covariance = _covariance(_units(inputs, kernel).correlations, kernel)
    solved = _solve(covariance, target)
    if np.isfinite(solved.cost) or inputs.dtype == np.float64:
        return solved.cost
    return cost(inputs.astype(np.float64), target.astype(np.float64), kernel)


def cost_and_gradient(
    inputs: Floats, target: Floats, kernel: ProcessKernel, offered: Floats | None = None
) -> Gradient:
    """Return the cost and its derivatives in the relevances of offered columns or blocks.

    By default the inputs are offered. All derivatives use one inverse. At relevance zero, minus the
    derivative is the gain from an input to first order.
    """
    offered = inputs if offered is None else offered
    inputs, target = _in_precision(inputs, target, kernel)
    units = _units(inputs, kernel)
    covariance = _covariance(units.correlations.copy(), kernel)
    solved = _solve(covariance.copy(), target)
    if np.isfinite(solved.cost):
        offered = offered.astype(inputs.dtype, copy=False)
        return _gradient(solved, covariance, units, kernel, offered)
    if inputs.dtype == np.float64:
        return Gradient(np.inf, np.zeros(offered.shape[1]), 0.0, 0.0)
    return cost_and_gradient(inputs.astype(np.float64), target.astype(np.float64), kernel, offered)


def left_out_means(inputs: Floats, target: Floats, kernel: ProcessKernel) -> Numbers:
    """(n, m): the posterior mean of each row given all other rows, y − C⁻¹y / diag(C⁻¹)."""
    targets = target.reshape(len(target), -1).astype(np.float64)
    if not inputs.shape[1]:
        return np.zeros_like(targets)
    columns = inputs.astype(np.float64)
    solved = _solve(_covariance(_units(columns, kernel).correlations, kernel), targets)
    inverse, _ = lapack.dpotri(solved.factor, lower=1)
    return np.asarray(targets - solved.weights / inverse.diagonal()[:, None])


def _in_precision(inputs: Floats, target: Floats, kernel: ProcessKernel) -> tuple[Floats, Floats]:
    """Convert inputs and target to the lowest sufficient precision; double stays double."""
    squares = np.square(inputs)
    squares = squares.sum(axis=2) if inputs.ndim == 3 else squares
    largest = squares.max(0, initial=0.0) @ kernel.relevances
    enough = (
        kernel.amplitude * len(target) < _LARGEST_CONDITION
        and 2 * (largest + kernel.bias) < _LARGEST_REACH
    )
    dtype = np.float32 if enough and inputs.dtype == np.float32 else np.float64
    return inputs.astype(dtype, copy=False), target.astype(dtype, copy=False)


def _units(inputs: Floats, kernel: ProcessKernel) -> _Units:
    constant = np.full((len(inputs), 1), np.sqrt(2 * kernel.bias), inputs.dtype)
    roots = np.sqrt(2 * kernel.relevances).astype(inputs.dtype)
    roots = roots[:, None] if inputs.ndim == 3 else roots
    scaled = np.hstack([(inputs * roots).reshape(len(inputs), -1), constant])
    scales = 1 / np.sqrt(1 + np.einsum("ij,ij->i", scaled, scaled))
    scaled *= scales[:, None]
    return _Units(scaled @ scaled.T, scales)


def _covariance(correlations: Floats, kernel: ProcessKernel) -> Floats:
    """Return a K; the correlations are overwritten."""
    np.arcsin(correlations, out=correlations)
    correlations *= correlations.dtype.type(2 / np.pi * kernel.amplitude)
    return correlations


def _solve(covariance: Floats, target: Floats) -> _Solution:
    """Factorise I + covariance, which is overwritten, and solve for the target."""
    n = len(target)
    covariance.flat[:: n + 1] += 1
    single = covariance.dtype == np.float32
    factorise, solve = (lapack.spotrf, lapack.spotrs) if single else (lapack.dpotrf, lapack.dpotrs)
    factor, failed = factorise(covariance.T, lower=1, clean=0, overwrite_a=1)
    targets = target.reshape(n, -1)
    if failed:
        return _Solution(np.inf, factor, targets, np.eye(targets.shape[1]))
    weights, _ = solve(factor, targets, lower=1)
    variance = _joint_variance(targets, weights)
    half_determinant = float(np.log(factor.diagonal()).sum(dtype=np.float64))
    total = 0.5 * n * _log_determinant(variance) + targets.shape[1] * half_determinant
    return _Solution(total, factor, weights, variance)


def _joint_variance(targets: Floats, weights: Floats) -> Numbers:
    """(m, m): Yᵀ weights / n, regularised so that its determinant is positive."""
    n = len(targets)
    products = targets.reshape(n, -1).T.astype(np.float64) @ weights.reshape(n, -1) / n
    if len(products) == 1:
        return np.maximum(products, _SMALLEST_VARIANCE)
    # A level that occurs in none of the rows has variance zero under every kernel.
    return np.asarray(0.5 * (products + products.T) + _LEAST_SPREAD * np.eye(len(products)))


def _log_determinant(variance: Numbers) -> float:
    return float(np.linalg.slogdet(variance)[1])


def _gradient(
    solved: _Solution, covariance: Floats, units: _Units, kernel: ProcessKernel, offered: Floats
) -> Gradient:
    gradient = _covariance_gradient(solved)
    amplitude = float(np.vdot(gradient, covariance))
    # The chain rule gives the derivative in the correlations: d asin(s) = ds / √(1 − s²).
    correlations, scales = units
    gradient *= gradient.dtype.type(2 / np.pi * kernel.amplitude)
    gradient /= np.sqrt(1 - np.square(correlations))
    rows, number = len(offered), offered.shape[1]
    flat = offered.reshape(rows, -1)
    columns = np.hstack([flat, np.ones((rows, 1), offered.dtype)]) * scales[:, None]
    products = np.einsum("iu,iu->u", columns, gradient @ columns)
    gradient *= correlations
    norms = np.square(columns).T @ (gradient.sum(0) + gradient.sum(1))
    by_column = np.asarray(2 * products - norms, np.float64)
    relevances = by_column[:-1].reshape(number, flat.shape[1] // max(number, 1)).sum(axis=1)
    return Gradient(solved.cost, relevances, amplitude, float(by_column[-1]) * kernel.bias)


def _covariance_gradient(solved: _Solution) -> Floats:
    """Compute the derivative in C: upper triangle, each entry summed with its mirror image."""
    invert = lapack.spotri if solved.factor.dtype == np.float32 else lapack.dpotri
    inverse = invert(solved.factor, lower=1)[0].T
    shares = np.linalg.solve(-solved.variance, solved.weights.T).astype(inverse.dtype)
    gradient: Floats = solved.weights @ shares
    gradient += inverse if len(shares) == 1 else inverse * inverse.dtype.type(len(shares))
    diagonal = 0.5 * gradient.diagonal()
    gradient = np.triu(gradient, 1)
    np.fill_diagonal(gradient, diagonal)
    return gradient
