"""Orientations: a vector of priorities determines the direction of every arc.

Each vertex u has a priority p_u, and a shift ε > 0 defines a strict partial order (Equation 2 of
the paper): u ≺ v if p_v − p_u ≥ ε. This module has the matrix of that order (hard orientation), its
smooth relaxation (Definition 1), the construction of priorities for any DAG (Lemma 1), and the
bound on how far the relaxation is from acyclic at a given temperature (Theorem 2).

The matrices are differentiable JAX functions of one problem, which `jax.vmap` batches. They are
computed in the precision of the priorities.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cosmodag.errors import DataError
from cosmodag.graph.dags import topological_order
from cosmodag.runtime.later import jax, jnp

if TYPE_CHECKING:
    from jax.typing import ArrayLike


def smooth_orientation(
    priorities: ArrayLike, temperature: ArrayLike, shift: ArrayLike
) -> jax.Array:
    """Smooth orientation matrix S_{t,ε}(p), Definition 1, with its diagonal set to zero.

    S[u, v] = σ((p_v − p_u − ε) / t): near 1 when u comes well before v, near 0 when it does not.
    The paper leaves σ(−ε / t) on the diagonal. Here it is zero, as in the authors' code, because a
    variable that could predict itself would learn nothing from the others. At any temperature, the
    logistic function saturates without overflow and its gradient is finite. Priorities of shape
    (…, d) give matrices of shape (…, d, d).

    >>> print(smooth_orientation(np.array([0.0, 1.0]), temperature=0.1, shift=0.4).round(4))
    [[0.     0.9975]
     [0.     0.    ]]
    """
    height = jnp.asarray(priorities).shape[-1]
    return smooth_orientation_rows(priorities, temperature, shift, 0, height)


def smooth_orientation_rows(
    priorities: ArrayLike, temperature: ArrayLike, shift: ArrayLike, first: ArrayLike, height: int
) -> jax.Array:
    """Rows first … first + height − 1 of S_{t,ε}(p), for matrices too large to store as a whole.

    >>> p = np.array([0.0, 1.0])
    >>> smooth_orientation_rows(p, temperature=1.0, shift=0.4, first=1, height=1).shape
    (1, 2)
    """
    priorities = _floating(priorities)
    temperature, shift = (jnp.asarray(s, priorities.dtype) for s in (temperature, shift))
    causes = jax.lax.dynamic_slice_in_dim(priorities, first, height, axis=-1)
    differences = priorities[..., None, :] - causes[..., :, None]
    diagonal = jnp.arange(priorities.shape[-1])[None, :] == (first + jnp.arange(height))[:, None]
    return jnp.where(diagonal, 0, jax.nn.sigmoid((differences - shift) / temperature))


def host_orientation_rows(
    priorities: NDArray[Any], temperature: float, shift: float, first: int, height: int
) -> NDArray[Any]:
    """Compute :func:`smooth_orientation_rows` in NumPy.

    >>> p = np.array([0.0, 1.0])
    >>> host_orientation_rows(p, temperature=0.1, shift=0.4, first=0, height=2).round(4).tolist()
    [[0.0, 0.9975], [0.0, 0.0]]
    """
    causes = priorities[first : first + height]
    gaps = priorities - causes[:, None] - priorities.dtype.type(shift)
    smooth: NDArray[Any] = expit(gaps / temperature)
    smooth[np.arange(height), first + np.arange(height)] = 0
    return smooth.astype(priorities.dtype, copy=False)


def hard_orientation(priorities: ArrayLike, shift: ArrayLike) -> jax.Array:
    """Orientation matrix T of the order ≺_{p,ε}, Lemma 1: true at [u, v] if p_v − p_u ≥ ε.

    For ε > 0 it is the adjacency matrix of a DAG.

    >>> hard_orientation(np.array([0.0, 1.0, 1.25]), shift=0.5).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    priorities = _floating(priorities)
    differences = priorities[..., None, :] - priorities[..., :, None]
    return differences >= jnp.asarray(shift, priorities.dtype)


def priorities_of(weights: NDArray[Any], shift: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Priorities p and strengths H with W = H ∘ T_{≺p,ε}: the constructive half of Lemma 1.

    The paper puts p = ε·π for a topological order π. In floating point ε·π(v) − ε·π(u) may fall
    just below ε and lose the arc, so the step here is the next power of two above ε: its multiples
    and their differences are exact. Because the step exceeds ε, lim_{t→0} S_{t,ε}(p) is 1, not 1/2,
    on every arc, so the same H also serves Theorem 1. A `DataError` is raised if W has a cycle.

    >>> priorities, strengths = priorities_of(np.array([[0.0, 0.0], [2.0, 0.0]]), shift=0.1)
    >>> priorities.tolist()
    [0.125, 0.0]
    """
    check_positive("shift", shift)
    weights = np.asarray(weights)
    order = topological_order(weights)
    dtype = np.result_type(weights.dtype, np.float32)
    step = np.exp2(np.frexp(np.asarray(shift, dtype))[1])
    priorities = np.empty(len(order), dtype)
    priorities[order] = step * np.arange(len(order))
    return priorities, weights.astype(dtype)


def log_acyclicity_bound(temperature: float, shift: float, d: int) -> float:
    """Logarithm of Theorem 2's bound: h(S_{t,ε}(p)) ≤ e^{dα} − 1 for every p, with α = σ(−ε/t).

    h(S) = tr e^S − d. The bound applies to the orientation S, not to W = H ∘ S: large entries of H
    can make h(W) larger than h(S). The logarithm is returned because e^{dα} overflows at high
    temperatures, and α underflows at low ones.

    >>> round(log_acyclicity_bound(temperature=5e-4, shift=2e-2, d=30), 3)
    -36.599
    >>> round(log_acyclicity_bound(temperature=0.45, shift=2e-2, d=5000), 1)
    2444.5
    """
    log_alpha = -np.logaddexp(0.0, shift / temperature)
    log_exponent = math.log(d) + float(log_alpha)
    if log_exponent < -40:  # e^x − 1 equals x in double precision, and x itself may underflow
        return log_exponent
    exponent = math.exp(log_exponent)
    return exponent + math.log(-math.expm1(-exponent))


def temperature_for(tolerance: float, shift: float, d: int) -> float:
    """Highest temperature at which Theorem 2 still guarantees h(S_{t,ε}(p)) ≤ tolerance.

    The inverse of `log_acyclicity_bound`, in closed form: e^{dα} − 1 = tolerance gives
    α = log(1 + tolerance) / d, and σ(−ε/t) = α gives t = ε / log(1/α − 1). The relative rounding
    error in the tolerance is about 1e-13, for tolerances down to the smallest positive double. As t
    grows, α approaches 1/2: every temperature satisfies a tolerance of e^{d/2} − 1 or more, and the
    result is infinity.

    >>> round(temperature_for(1e-8, shift=1e-2, d=30), 6)
    0.000458
    >>> temperature_for(10.0, shift=1e-2, d=2)
    inf
    """
    check_positive("acyclicity_tolerance", tolerance)
    check_positive("shift", shift)
    log_alpha = math.log(math.log1p(tolerance)) - math.log(d)
    if log_alpha >= math.log(0.5):
        return math.inf
    return shift / (math.log1p(-math.exp(log_alpha)) - log_alpha)


def _floating(priorities: ArrayLike) -> jax.Array:
    """Convert priorities to floating point: their own precision, or JAX's default for integers."""
    priorities = jnp.asarray(priorities)
    return priorities.astype(jnp.result_type(priorities, 0.0))


def check_positive(name: str, value: float) -> None:
    """Raise a `DataError` unless a value is a positive, finite number."""
    if not (value > 0 and math.isfinite(value)):
        raise DataError(f"{name} must be a positive, finite number, but it is {value!r}.")
