"""Cost of a fit: its plan, and its time from a few timed rounds."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from cosmodag.solve.methods.solver import Solver
from cosmodag.solve.plan import Plan, plan_many
from cosmodag.solve.problems import Batch, Problem
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import map_arrays

__all__ = ["Cost", "estimate"]

# Rounds are timed until they add up to this many seconds.
_ENOUGH = 0.2


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
    """Time a few rounds of problems of one shape, and extrapolate; raises as `plan_many`."""
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
