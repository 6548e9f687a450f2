"""The rounds of training that the CPU kernels share; each kernel adds its own step.

The rounds are those of `cosmodag.solve.training.loop`: shuffled rows, a temperature annealed
between rounds, the penalties and Adam's bias corrections as scalars of a step, the mean objective
of a round, and the first round in which it is not finite.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.runtime.compiled import inlined, part
from cosmodag.solve.kernels.cpu.cpu_steps import ZERO, move, scalars_of, sum_of_squares
from cosmodag.solve.training.batch_rows import fill_rows


class Extras(NamedTuple):
    """Optional input arrays of one problem, in float32; an absent one has no rows.

    For problems without any of them, None replaces this tuple: the program then has no loops for
    them, and compiles faster.
    """

    support: NDArray[np.float32]
    gaps: NDArray[np.float32]
    counted: NDArray[np.float32]


class Stretch(NamedTuple):
    """The rounds to run, first … last − 1; `size`, `steps` and `rounds` are those of `Passes`."""

    seed: np.uint32  # of the order of rows
    size: int
    steps: int
    rounds: int
    taken: int  # number of steps taken before
    first: int
    last: int


class Buffers(NamedTuple):
    """Arrays for one batch of rows, and the order of the rows of a round."""

    rows: NDArray[np.float32]  # (size, d)
    counted: NDArray[np.float32]  # (size, d), or (0, d) if all weights are one
    outputs: NDArray[np.float32]  # (size, units): x W
    order: NDArray[np.uint32]  # rows of the round, in the order in which they are visited
    raised: NDArray[np.float32]  # (d,): for `_keep_gaps`
    lowered: NDArray[np.float32]  # (d,): likewise

    @classmethod
    def of(cls, d: int, wide: int, size: int, steps: int, is_weighted: bool) -> "Buffers":
        """Allocate buffers for batches of `size` rows and `wide` columns of W."""
        return cls(
            rows=np.empty((size, d), np.float32),
            counted=np.empty((size if is_weighted else 0, d), np.float32),
            outputs=np.empty((size, wide), np.float32),
            order=np.empty(steps * size, np.uint32),
            raised=np.empty(d, np.float32),
            lowered=np.empty(d, np.float32),
        )


@part
def _take_weights(counted: Any, order: Any, first: Any, count: Any, weights: Any) -> float:
    """Copy the weights of a batch of rows, a single column to all columns, and return their sum."""
    stride = 0 if counted.shape[1] == 1 else 1
    total = 0.0
    for i in range(count):
        row = order[first + i]
        for v in range(weights.shape[1]):
            weights[i, v] = counted[row, v * stride]
            total += abs(weights[i, v])
    return total


@part
def _keep_gaps(order: Any, gaps: Any, shift: Any, raised: Any, lowered: Any) -> None:
    """Move p to p_v − p_u ≥ ε gap_uv, like `cosmodag.model.structure.keep_gaps`."""
    d, apart = order.shape[0], np.float32(shift)
    for v in range(d):
        raised[v] = order[v]
        lowered[v] = order[v]
    for u in range(d):
        for v in range(d):
            if gaps[u, v] > 0:
                gap = gaps[u, v] * apart
                raised[v] = max(raised[v], order[u] + gap)
                lowered[u] = min(lowered[u], order[v] - gap)
    for v in range(d):
        order[v] += np.float32(0.5) * ((raised[v] - order[v]) + (lowered[v] - order[v]))


@inlined
def run_rounds(
    take_step: Any,
    data: Any,
    extras: Any,
    state: Any,
    buffers: Any,
    work: Any,
    stretch: Any,
    settings: Any,
) -> Any:
    """Train one problem over a stretch of rounds; `state`, `buffers` and `work` change in place.

    The result is the number of steps taken so far, the mean objective over the batches of the last
    round, and the first round whose objective was not finite (−1 if there was none).

    `take_step` maps (buffers, count, extras, state, work, scalars) to the loss and ‖H‖₁ before, and
    ‖H‖_F² after the step on the first `count` rows of the buffers. It updates all parameters except
    p, and adds the gradient of the loss to `work.order_gradient`.
    """
    n, d = data.shape
    order, size = buffers.order, stretch.size
    step, loss, diverged_at = stretch.taken, np.nan, -1
    for round in range(stretch.first, stretch.last):
        wave = 1 + np.cos(np.pi * round / settings.rounds)
        span = settings.temperature_start - settings.temperature_end
        temperature = np.float32(settings.temperature_end + 0.5 * span * wave)
        begin = (round % stretch.rounds) * order.shape[0]
        left = min(order.shape[0], n - begin)
        # Entries beyond the last row are filled too, but never read.
        fill_rows(stretch.seed, round // stretch.rounds, begin, n, order)
        # Computed anew in each round, so that the division of a run into pieces changes nothing.
        squares = ZERO
        for u in range(d):
            for v in range(state.arcs.shape[1]):
                squares += state.arcs[u, v] * state.arcs[u, v]
        total = 0.0
        for first in range(0, left, size):
            count = min(size, left - first)
            for i in range(count):
                row = order[first + i]
                for v in range(d):
                    buffers.rows[i, v] = data[row, v]
            entries = float(count * d)
            # Nested, because Numba does not compile the inner part if `extras` is None.
            if extras is not None:  # noqa: SIM102
                if extras.counted.shape[0] > 0:
                    entries = _take_weights(extras.counted, order, first, count, buffers.counted)
            step += 1
            frobenius = np.sqrt(squares)
            order_norm = np.sqrt(sum_of_squares(state.order))
            scalars = scalars_of(settings, temperature, step, entries, frobenius, order_norm)
            for v in range(d):
                work.order_gradient[v] = scalars.pull * state.order[v]
            error, magnitudes, squares = take_step(buffers, count, extras, state, work, scalars)
            move(
                state.order,
                state.order_mean,
                state.order_square,
                work.order_gradient,
                scalars,
                scalars.order_rate,
            )
            if extras is not None:  # noqa: SIM102
                if extras.gaps.shape[0] > 0:
                    raised, lowered = buffers.raised, buffers.lowered
                    _keep_gaps(state.order, extras.gaps, settings.shift, raised, lowered)
            total += error + settings.lambda1 * magnitudes
            total += settings.lambda2 * frobenius + settings.lambda_p * order_norm
        loss = total / ((left + size - 1) // size)
        # Not np.isfinite: its subtraction can be optimised away, because sums may be reordered.
        if diverged_at < 0 and not abs(loss) < np.inf:
            diverged_at = round
    # A plain tuple: the construction of a named one runs Python code, in which a signal handler can
    # raise an error and crash Numba.
    return step, loss, diverged_at
