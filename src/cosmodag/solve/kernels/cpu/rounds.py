"""The rounds of training that the compiled CPU loops share; each kernel adds its own step.

The same rounds as in `cosmodag.solve.training.loop`: rows in shuffled order, the temperature
annealed between rounds, λ's and Adam's corrections as scalars of a step, the mean objective of a
round, and the first round in which it was not finite.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import inlined
from cosmodag.model.structure.priority import BOUND_SHIFTS
from cosmodag.solve.kernels.cpu.steps import move, norms, scalars_of
from cosmodag.solve.training.shuffle import fill_rows

__all__ = ["Given", "Reached", "Stretch", "run_rounds"]


class Given(NamedTuple):
    """Input arrays of one problem, float32; an optional input that is absent has no rows."""

    data: NDArray[np.float32]
    support: NDArray[np.float32]
    gaps: NDArray[np.float32]
    counted: NDArray[np.float32]


class Stretch(NamedTuple):
    """A range of rounds to run: first … last − 1.

    Attributes
    ----------
    seed
        Seed of the order of rows.
    size, steps, rounds
        Rows per step, steps per round and rounds per pass over the data, as in `Passes`.
    taken
        Steps taken before.
    first, last
        The rounds.
    """

    seed: np.uint32
    size: int
    steps: int
    rounds: int
    taken: int
    first: int
    last: int


class Reached(NamedTuple):
    """Where a stretch of rounds ended.

    Attributes
    ----------
    steps
        Steps taken so far.
    loss
        Mean objective over the batches of the last round.
    diverged_at
        First round whose objective was not finite, −1 if there was none.
    """

    steps: int
    loss: float
    diverged_at: int


@inlined
def _temperature_of(settings: Any, round: Any) -> Any:
    wave = 1 + np.cos(np.pi * round / settings.rounds)
    span = settings.temperature_start - settings.temperature_end
    return np.float32(settings.temperature_end + 0.5 * span * wave)


@inlined
def _take_rows(source: Any, chosen: Any, rows: Any) -> None:
    """Copy the chosen rows; one column is copied to all columns."""
    single = source.shape[1] == 1
    for i in range(chosen.shape[0]):
        row = chosen[i]
        if single:
            rows[i, :] = source[row, 0]
        else:
            for v in range(rows.shape[1]):
                rows[i, v] = source[row, v]


@inlined
def _keep_gaps(order: Any, gaps: Any, apart: Any, raised: Any, lowered: Any) -> None:
    """Move p to where p_v − p_u ≥ gap_uv, as `cosmodag.model.structure.base.keep_gaps` does."""
    d = order.shape[0]
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
    take_step: Any, given: Any, state: Any, work: Any, stretch: Any, settings: Any
) -> Any:
    """Train one problem over a stretch of rounds, in place.

    Parameters
    ----------
    take_step : compiled function
        (rows, counted, outputs, support, state, work, scalars) → Σ c r², ‖H‖₁ before and ‖H‖_F²
        after the step. It moves all parameters but p, and adds the arcs' part to
        `work.order_gradient`; `outputs` is a buffer for x W.
    given : Given
    state : NamedTuple of arrays
        With `arcs`, `order`, `order_mean`, `order_square`; changed.
    work : NamedTuple of arrays
        With `order_gradient`; overwritten.
    stretch : Stretch
    settings : KernelSettings

    Returns
    -------
    the fields of Reached, as a plain tuple
    """
    n, d = given.data.shape
    weighted = given.counted.shape[0] > 0
    rows = np.empty((stretch.size, d), np.float32)
    weights = np.empty((stretch.size if weighted else 0, d), np.float32)
    outputs = np.empty((stretch.size, state.arcs.shape[1]), np.float32)
    order = np.empty(stretch.steps * stretch.size, np.uint32)
    raised, lowered = np.empty(d, np.float32), np.empty(d, np.float32)
    step, loss, diverged_at = stretch.taken, np.nan, -1
    for round in range(stretch.first, stretch.last):
        temperature = _temperature_of(settings, round)
        begin = (round % stretch.rounds) * order.shape[0]
        left = min(order.shape[0], n - begin)
        fill_rows(stretch.seed, round // stretch.rounds, begin, n, order[:left])
        # Summed afresh in each round, so that interrupting a run does not change the result.
        squares = norms(state.arcs)[1]
        total = 0.0
        for start in range(0, left, stretch.size):
            chosen = order[start : min(start + stretch.size, left)]
            count = chosen.shape[0]
            batch, counted = rows[:count], weights[:count]
            _take_rows(given.data, chosen, batch)
            entries = np.float64(batch.size)
            if weighted:
                _take_rows(given.counted, chosen, counted)
                entries = np.float64(norms(counted)[0])
            step += 1
            frobenius = np.sqrt(squares)
            order_norm = np.sqrt(norms(state.order)[1])
            scalars = scalars_of(settings, temperature, step, entries, frobenius, order_norm)
            for v in range(d):
                work.order_gradient[v] = scalars.pull * state.order[v]
            error, magnitudes, squares = take_step(
                batch, counted, outputs[:count], given.support, state, work, scalars
            )
            move(
                state.order,
                state.order_mean,
                state.order_square,
                work.order_gradient,
                scalars,
                scalars.order_rate,
            )
            if given.gaps.shape[0] > 0:
                apart = np.float32(BOUND_SHIFTS * settings.shift)
                _keep_gaps(state.order, given.gaps, apart, raised, lowered)
            total += 0.5 * scalars.loss_scale * error + settings.lambda1 * magnitudes
            total += settings.lambda2 * frobenius + settings.lambda_p * order_norm
        loss = total / ((left + stretch.size - 1) // stretch.size)
        # Not np.isfinite: its subtraction may be optimised away when sums are reordered.
        if diverged_at < 0 and not abs(loss) < np.inf:
            diverged_at = round
    # Not a Reached: constructing one runs Python code, in which a signal may raise and crash Numba.
    return step, loss, diverged_at
