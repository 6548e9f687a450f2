"""Parts of a step that the CPU kernels share: scalars, Adam, e^x, matrix products."""

from typing import Any, NamedTuple

import numpy as np

from cosmodag.runtime.compiled import inlined
from cosmodag.solve.training.adam import EPSILON

# Constants are converted here, because conversions in compiled functions take time to compile.
ONE = np.float32(1)
ZERO = np.float32(0)
_EPSILON = np.float32(EPSILON)

# Constants of `exp`.
_LARGEST = np.float32(87.0)
_PER_LN2 = np.float32(1.4426950408889634)
_HALF = np.float32(0.5)
# ln 2 in two parts, the first with few bits, so that power · ln 2 is subtracted exactly.
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(2.12194440e-4)
_C7, _C6, _C5 = np.float32(1.0 / 5040.0), np.float32(1.0 / 720.0), np.float32(1.0 / 120.0)
_C4, _C3 = np.float32(1.0 / 24.0), np.float32(1.0 / 6.0)
_BIAS, _MANTISSA = np.int32(127), np.int32(23)


class KernelSettings(NamedTuple):
    """Settings of one problem, as compiled code reads them."""

    learning_rate: float
    priority_learning_rate: float
    lambda1: float
    lambda2: float
    lambda_p: float
    shift: float
    temperature_start: float
    temperature_end: float
    rounds: float
    beta1: float
    beta2: float


class StepScalars(NamedTuple):
    """Scalars of one step, in single precision; rates and scales include bias correction."""

    temperature: np.float32
    shift: np.float32
    lambda1: np.float32
    ridge: np.float32  # λ₂ / ‖H‖_F, the factor of H in the gradient of its norm
    pull: np.float32  # λ_p / ‖p‖₂, likewise for p
    loss_scale: np.float32  # 2 / Σ c in the gradient of the loss, with weights c of the entries
    beta1: np.float32
    beta2: np.float32
    rate: np.float32
    order_rate: np.float32
    square_scale: np.float32  # of Adam's second moment


@inlined
def scalars_of(
    settings: Any, temperature: Any, step: Any, entries: Any, frobenius: Any, order_norm: Any
) -> Any:
    """Compute the scalars of a step on a batch whose weights have the sum `entries`."""
    mean_scale = 1 / (1 - settings.beta1**step)
    return StepScalars(
        temperature,
        np.float32(settings.shift),
        np.float32(settings.lambda1),
        np.float32(settings.lambda2 / frobenius) if frobenius > 0 else ZERO,
        np.float32(settings.lambda_p / order_norm) if order_norm > 0 else ZERO,
        np.float32(2.0 / entries) if entries > 0 else ZERO,
        np.float32(settings.beta1),
        np.float32(settings.beta2),
        np.float32(settings.learning_rate * mean_scale),
        np.float32(settings.priority_learning_rate * mean_scale),
        np.float32(1 / (1 - settings.beta2**step)),
    )


@inlined
def sign_of(value: Any) -> Any:
    """Sign of a number: −1, 0 or 1."""
    return ONE if value > ZERO else (-ONE if value < ZERO else ZERO)


@inlined
def adam(value: Any, mean: Any, square: Any, gradient: Any, scalars: Any, rate: Any) -> Any:
    """Return a parameter, and the moments of its gradient, after a step of Adam."""
    mean = scalars.beta1 * mean + (ONE - scalars.beta1) * gradient
    square = scalars.beta2 * square + (ONE - scalars.beta2) * gradient * gradient
    value -= rate * mean / (np.sqrt(square * scalars.square_scale) + _EPSILON)
    return value, mean, square


@inlined
def move(values: Any, means: Any, squares: Any, gradients: Any, scalars: Any, rate: Any) -> None:
    """Update a vector of parameters by Adam, in place."""
    for k in range(values.shape[0]):
        values[k], means[k], squares[k] = adam(
            values[k], means[k], squares[k], gradients[k], scalars, rate
        )


@inlined
def sum_of_squares(values: Any) -> Any:
    """Sum of squares of a vector."""
    total = ZERO
    for k in range(values.shape[0]):
        total += values[k] * values[k]
    return total


@inlined
def exp(x: Any) -> Any:
    """e^x to about one ulp, in a form that vectorises (libm's does not)."""
    x = min(max(x, -_LARGEST), _LARGEST)
    power = np.floor(x * _PER_LN2 + _HALF)
    rest = x - power * _LN2_HIGH + power * _LN2_LOW
    series = ((((_C7 * rest + _C6) * rest + _C5) * rest + _C4) * rest + _C3) * rest + _HALF
    series = (series * rest + ONE) * rest + ONE
    return series * np.int32((np.int32(power) + _BIAS) << _MANTISSA).view(np.float32)


@inlined
def product(rows: Any, weights: Any, outputs: Any, count: Any) -> None:
    """Write rows · weights to the outputs, for the first `count` rows."""
    # Most batches are full, and slices cost 1/20 of a step at d = 30.
    if count < rows.shape[0]:
        np.dot(rows[:count], weights, outputs[:count])
    else:
        np.dot(rows, weights, outputs)


@inlined
def transposed_product(rows: Any, outputs: Any, gradient: Any, count: Any) -> None:
    """Write rowsᵀ · outputs, for the first `count` rows of both, to the gradient."""
    if count < rows.shape[0]:
        np.dot(rows[:count].T, outputs[:count], gradient)
    else:
        np.dot(rows.T, outputs, gradient)
