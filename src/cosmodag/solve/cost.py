"""Cost of a fit: memory, before any allocation, and time, from a few timed rounds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cosmodag.errors import ResourceError
from cosmodag.later import jax
from cosmodag.solve.machine.devices import Host
from cosmodag.solve.machine.memory import main_memory
from cosmodag.solve.problems import Batch, Problem
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import map_arrays

if TYPE_CHECKING:
    from cosmodag.solve.plan import Plan, Solver

__all__ = ["Cost", "available_bytes", "check_fits", "estimate", "lane_bytes", "lanes_that_fit"]

# The parameters and Adam's two moments.
_STATE_COPIES = 3

# Share of memory that can be used: allocators round up, and other processes need some.
_USABLE = 0.85

# Rounds are timed until they add up to this many seconds.
_ENOUGH = 0.2


def lane_bytes(
    recipe: Recipe, problem: Problem, working_copies: int, entries: int | None = None
) -> int:
    """Bytes that one problem takes while it is solved, without its input arrays.

    `working_copies` is the number of parameter-sized arrays beside the state; `entries` is the
    number of parameters, None to let JAX count them.
    """
    if entries is None:
        settings = dict.fromkeys((*problem.settings, *recipe.needs), 1.0)
        shapes = jax.eval_shape(lambda: recipe.start(0, problem.data.shape[1], settings))
        entries = sum(leaf.size for leaf in jax.tree.leaves(shapes))
    return int(entries * problem.data.dtype.itemsize * (_STATE_COPIES + working_copies))


def available_bytes(device: Host | jax.Device) -> int | None:
    """Bytes available on a device; None if unknown."""
    if isinstance(device, Host):
        return main_memory()
    statistics = device.memory_stats() or {}
    if "bytes_limit" not in statistics:
        return None
    return int(statistics["bytes_limit"] - statistics["bytes_in_use"])


def lanes_that_fit(per_lane: int, fixed: int, available: int | None) -> int | None:
    """Return how many problems fit beside fixed memory; None without a limit, 0 if none fits."""
    if available is None:
        return None
    return max(0, int((_USABLE * available - fixed) // per_lane))


def check_fits(
    needed: int,
    available: int | None,
    what: str,
    remedy: str = "use fewer columns, or a device with more memory",
) -> None:
    """Refuse work that needs more memory than available, before anything is allocated."""
    if available is not None and needed > _USABLE * available:
        raise ResourceError(
            f"{what} needs about {needed / 2**30:,.1f} GiB, but only "
            f"{_USABLE * available / 2**30:,.1f} GiB can be used here: {remedy}."
        )


@dataclass(frozen=True)
class Cost:
    """The plan of a fit and its expected duration."""

    plan: Plan
    seconds_per_round: float  # measured, for the largest batch
    seconds: float  # of all training, without compilation

    def __str__(self) -> str:
        plan = self.plan
        room = "" if plan.available is None else f" of {plan.available / 2**30:,.1f} available"
        return (
            f"about {plan.memory / 2**30:,.2f} GiB{room} and {self.seconds:,.1f} s on "
            f"{plan.device.device_kind} by '{plan.backend}'"
        )

    def facts(self) -> dict[str, object]:
        """Return the cost as plain values."""
        times = {"seconds_per_round": self.seconds_per_round, "seconds": self.seconds}
        return {**self.plan.facts(), **times}


def estimate(solver: Solver, problems: Sequence[Problem], device: str = "auto") -> Cost:
    """Time a few rounds of problems of one shape, and extrapolate.

    Raises
    ------
    ResourceError
        If not even one problem fits in memory; nothing is allocated then.
    """
    from cosmodag.solve.plan import plan_many

    (plan,) = plan_many(solver, problems, device)
    rounds = int(problems[0].settings["rounds"])
    batch = plan.batch(solver.recipe, problems, plan.batches[0])
    per_round = _time_rounds(batch, rounds)
    return Cost(plan, per_round, per_round * rounds * len(plan.batches))


def _finished(state: AdamState) -> AdamState:
    """Wait until a state has been computed."""
    map_arrays(lambda leaf: getattr(leaf, "block_until_ready", lambda: leaf)(), state)
    return state


def _time_rounds(batch: Batch, most: int) -> float:
    """Measure the seconds per round after compilation."""
    backend = batch.backend
    state = backend.start(batch)
    with backend.limited(batch, state):
        state = _finished(backend.advance(batch, state, 0, 1))
        rounds, elapsed = 1, 0.0
        while elapsed < _ENOUGH and rounds <= most:
            begin = time.perf_counter()
            state = _finished(backend.advance(batch, state, 0, rounds))
            elapsed = time.perf_counter() - begin
            last, rounds = rounds, rounds * 4
    return elapsed / last
