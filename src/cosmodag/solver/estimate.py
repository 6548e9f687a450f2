"""What a fit will cost, said before it starts."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import jax

from cosmodag.solver.kernels.backends import choose
from cosmodag.solver.many import Solver, device_named, split
from cosmodag.solver.memory import available_bytes, lane_bytes, table_bytes
from cosmodag.solver.problems import Batch, Problem
from cosmodag.solver.training.adam import State

__all__ = ["Estimate", "estimate"]

# Epochs are timed until they add up to this many seconds.
_ENOUGH = 0.2


@dataclass(frozen=True)
class Estimate:
    """Memory and time of a fit.

    Attributes
    ----------
    device, backend
        Where and how it would be computed.
    problems, batches
        How many problems there are, and in how many batches they would be solved.
    memory
        Bytes of the largest batch.
    available
        Bytes that can be had there, or None where that cannot be told.
    seconds_per_epoch
        Measured, for the largest batch.
    seconds
        Expected for everything, compilation aside.
    """

    device: str
    backend: str
    problems: int
    batches: int
    memory: int
    available: int | None
    seconds_per_epoch: float
    seconds: float

    def __str__(self) -> str:
        room = "" if self.available is None else f" of {self.available / 2**30:,.1f} available"
        return (
            f"about {self.memory / 2**30:,.2f} GiB{room} and {self.seconds:,.1f} s on {self.device}"
        )


def estimate(solver: Solver, problems: Sequence[Problem], device: str = "auto") -> Estimate:
    """Time a few epochs of problems of one shape, and extrapolate.

    Raises
    ------
    ResourceError
        When not even one problem fits in memory; nothing is allocated then.
    """
    place = device_named(device)
    recipe = solver.recipe
    available = available_bytes(place)
    parts = list(split(recipe, problems, list(range(len(problems))), place))
    batch = Batch.of(recipe, [problems[index] for index in parts[0]], place)
    backend = choose(batch)
    per_lane = lane_bytes(recipe, problems[0], backend.working_copies)
    epochs = int(problems[0].settings["epochs"])
    seconds_per_epoch = _time_epochs(batch, epochs)
    return Estimate(
        device=place.device_kind,
        backend=backend.name,
        problems=len(problems),
        batches=len(parts),
        memory=per_lane * batch.size + table_bytes(problems[0]) * len(batch.tables),
        available=available,
        seconds_per_epoch=seconds_per_epoch,
        seconds=seconds_per_epoch * epochs * len(parts),
    )


def _finished(state: State) -> State:
    """Wait until a state has been computed."""
    jax.tree.map(lambda leaf: getattr(leaf, "block_until_ready", lambda: leaf)(), state)
    return state


def _time_epochs(batch: Batch, most: int) -> float:
    """Seconds an epoch takes, once compiled."""
    backend = choose(batch)
    state = _finished(backend.advance(batch, backend.start(batch), 0, 1))
    epochs, elapsed = 1, 0.0
    while elapsed < _ENOUGH and epochs <= most:
        begin = time.perf_counter()
        state = _finished(backend.advance(batch, state, 0, epochs))
        elapsed = time.perf_counter() - begin
        last, epochs = epochs, epochs * 4
    return elapsed / last
