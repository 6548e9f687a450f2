"""Orientations: a vector of priorities determines the direction of every arc.

Each vertex u has a priority p_u, and a shift ε > 0 defines a strict partial order (Equation 2 of
the paper): u ≺ v if p_v − p_u ≥ ε. This file has the order as a matrix (hard), its smooth
relaxation (Definition 1), the construction of priorities for any DAG (Lemma 1), and the bound on
the distance of the relaxation from acyclicity at a given temperature (Theorem 2).

The matrices are JAX functions of one problem: differentiable, and batched by `jax.vmap`. They
compute in the precision of the priorities.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cosmodag.errors import DataError
from cosmodag.graph.dags import topological_order
from cosmodag.later import jax, jnp

if TYPE_CHECKING:
    from jax.typing import ArrayLike


def smooth_orientation(
    priorities: ArrayLike, temperature: ArrayLike, shift: ArrayLike
) -> jax.Array:
    """Smooth orientation matrix S_{t,ε}(p), Definition 1, with its diagonal set to zero.

    S[u, v] = σ((p_v − p_u − ε) / t): near 1 when u comes well before v, near 0 when it does not.
    The paper leaves σ(−ε / t) on the diagonal; here it is zero, as in the authors' code, because a
    variable that may explain itself learns nothing from the others. The logistic saturates without
    overflow, and its gradient stays finite, at any temperature.

    >>> print(smooth_orientation(np.array([0.0, 1.0]), temperature=0.1, shift=0.4).round(4))
    [[0.     0.9975]
     [0.     0.    ]]
    """
    height = len(jnp.asarray(priorities))
    return smooth_orientation_rows(priorities, temperature, shift, 0, height)


def smooth_orientation_rows(
    priorities: ArrayLike, temperature: ArrayLike, shift: ArrayLike, first: ArrayLike, height: int
) -> jax.Array:
    """Rows first … first + height − 1 of S_{t,ε}(p), for matrices too large to be formed whole.

    >>> p = np.array([0.0, 1.0])
    >>> smooth_orientation_rows(p, temperature=1.0, shift=0.4, first=1, height=1).shape
    (1, 2)
    """
    priorities = _floating(priorities)
    temperature, shift = (jnp.asarray(s, priorities.dtype) for s in (temperature, shift))
    causes = jax.lax.dynamic_slice_in_dim(priorities, first, height)
    differences = priorities[None, :] - causes[:, None]
    diagonal = jnp.arange(len(priorities))[None, :] == (first + jnp.arange(height))[:, None]
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
    """Orientation matrix T of the order ≺_{p,ε}, Lemma 1: true at [u, v] when p_v − p_u ≥ ε.

    For ε > 0 it is the adjacency matrix of a DAG.

    >>> hard_orientation(np.array([0.0, 1.0, 1.25]), shift=0.5).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    priorities = _floating(priorities)
    differences = priorities[None, :] - priorities[:, None]
    return differences >= jnp.asarray(shift, priorities.dtype)


def priorities_of(weights: NDArray[Any], shift: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Priorities p and strengths H with W = H ∘ T_{≺p,ε}: the constructive half of Lemma 1.

    The paper puts p = ε·π for a topological order π. In floating point ε·π(v) − ε·π(u) may fall
    just below ε and lose the arc, so the step here is the power of two next above ε: its multiples,
    and their differences, are exact. As the step exceeds ε, lim_{t→0} S_{t,ε}(p) is 1 and not 1/2
    on every arc, and the same H serves Theorem 1. A W with a cycle is refused.

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
    can make W less acyclic than S. It is a logarithm because e^{dα} overflows at high t, and α
    underflows at low t.

    >>> round(log_acyclicity_bound(temperature=5e-4, shift=2e-2, d=30), 3)
    -36.599
    >>> round(log_acyclicity_bound(temperature=0.45, shift=2e-2, d=5000), 1)
    2444.5
    """
    log_alpha = -np.logaddexp(0.0, shift / temperature)
    log_exponent = math.log(d) + float(log_alpha)
    if log_exponent < -40:  # e^x − 1 is x to double precision, and x itself may underflow
        return log_exponent
    exponent = math.exp(log_exponent)
    return exponent + math.log(-math.expm1(-exponent))


def temperature_for(tolerance: float, shift: float, d: int) -> float:
    """Highest temperature at which Theorem 2 still guarantees h(S_{t,ε}(p)) ≤ tolerance.

    The inverse of `log_acyclicity_bound`, in closed form: e^{dα} − 1 = tolerance gives
    α = log(1 + tolerance) / d, and σ(−ε/t) = α gives t = ε / log(1/α − 1). It holds to a relative
    rounding error of about 1e-13 in the tolerance, for tolerances down to the smallest positive
    double. As t grows, α approaches 1/2: a tolerance of e^{d/2} − 1 or more holds at every
    temperature, and the result is infinity.

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
    """Priorities in their own floating-point precision, or in JAX's default."""
    priorities = jnp.asarray(priorities)
    return priorities.astype(jnp.result_type(priorities, 0.0))


def check_positive(name: str, value: float) -> None:
    """Refuse a value that is not a positive, finite number."""
    if not (value > 0 and math.isfinite(value)):
        raise DataError(f"{name} must be a positive, finite number, but it is {value!r}.")
