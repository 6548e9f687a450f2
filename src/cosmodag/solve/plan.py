"""Solution of many problems: the plan (device, backends, batches), the run, and its cost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cosmodag.errors import FallbackWarning
from cosmodag.runtime.devices import Host, device_named, refuse_after_fork
from cosmodag.runtime.later import jax
from cosmodag.runtime.memory import available_bytes, check_fits, lanes_that_fit
from cosmodag.solve.kernels import backends_for
from cosmodag.solve.methods.solver import Solver
from cosmodag.solve.problems import Backend, Batch, Problem, Solution, Task, check_settings
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import map_arrays
from cosmodag.solve.watch import Watch

# Parameter-sized arrays of a training state: the parameters and Adam's two moments.
_STATE_COPIES = 3

# Largest number of problems in a batch on a CPU. There they run in parallel threads, not in one
# program: small batches cost nothing, and solutions arrive sooner.
_LARGEST_CPU_BATCH = 32

# Additional parameter-sized arrays for the read-out, where it shares memory with training: the
# strengths of arcs in double precision.
_READ_OUT_COPIES = 2


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan for problems of one shape."""

    device: Host | jax.Device
    backends: Mapping[Recipe, Backend]  # of each recipe that is trained
    batches: tuple[tuple[int, ...], ...]  # indices of the problems in each batch
    precision: str  # name of the floating-point type
    memory: int  # bytes of the largest batch
    available: int | None  # bytes; None if unknown

    @property
    def backend(self) -> str:
        """Names of the backends that train, joined; ``"closed form"`` if there are none."""
        names = dict.fromkeys(backend.name for backend in self.backends.values())
        return " + ".join(names) or "closed form"

    def facts(self) -> dict[str, object]:
        """Return the plan as plain values."""
        return {
            "device": self.device.device_kind,
            "backend": self.backend,
            "precision": self.precision,
            "batches": len(self.batches),
            "problems": sum(map(len, self.batches)),
            "memory": self.memory,
            "available": self.available,
        }

    def batch(self, recipe: Recipe, problems: Sequence[Problem], members: Sequence[int]) -> Batch:
        """Stack the problems of one batch."""
        some = [problems[index] for index in members]
        return Batch.of(recipe, some, self.device, self.backends)


def choose_backend(task: Task) -> Backend:
    """Return the first backend that implements a task; the last one implements every task."""
    for backend in backends_for(task.platform):
        if not backend.implements(task):
            continue
        reason = backend.missing(task)
        if reason is None:
            return backend
        warnings.warn(
            f"The fast backend '{backend.name}' cannot be used because {reason}: a slower one is "
            "used instead.",
            FallbackWarning,
            stacklevel=2,
        )
    raise AssertionError("the reference loop implements every task")


def plan_many(solver: Solver, problems: Sequence[Problem], device: str = "auto") -> list[Plan]:
    """Plan the solution of problems, with one plan per shape.

    If not even a single problem fits in memory, a `ResourceError` is raised before anything is
    allocated.
    """
    target = device_named(device)
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, problem in enumerate(problems):
        groups.setdefault(problem.shape, []).append(index)
    return [_plan(solver, problems, members, target) for members in groups.values()]


def _plan(
    solver: Solver, problems: Sequence[Problem], members: list[int], device: Host | jax.Device
) -> Plan:
    """Plan one group: in batches if two problems fit in memory, otherwise one by one."""
    first = problems[members[0]]
    per_device = available_bytes(device)
    read_out = _READ_OUT_COPIES if device.platform == "cpu" and not solver.working_copies else 0
    shared = _shared_bytes([problems[index] for index in members])
    # Which backend is chosen, and so its memory, may depend on the number of problems per batch.
    for lanes in dict.fromkeys((len(members), 1)):
        tasks = {r: first.task(r, lanes, device.platform) for r in solver.trained_recipes}
        backends = {recipe: choose_backend(task) for recipe, task in tasks.items()}
        copies = max(solver.working_copies, *(b.working_copies for b in backends.values()), 0)
        devices = min((b.devices(tasks[r]) for r, b in backends.items()), default=1)
        last = solver.recipe
        entries = backends[last].entries(tasks[last]) if last in backends else None
        per_lane = lane_bytes(last, first, copies + read_out, entries)
        available = None if per_device is None else per_device * devices
        fitting = lanes_that_fit(per_lane, shared, available)
        if fitting is None or fitting >= min(2, lanes):
            break
    check_fits(per_lane + _shared_bytes([first]), available, "A single problem")
    size = lanes if fitting is None else min(lanes, max(1, fitting))
    if device.platform == "cpu":
        size = min(size, _LARGEST_CPU_BATCH)
    batches = tuple(tuple(members[begin : begin + size]) for begin in range(0, len(members), size))
    memory = per_lane * len(batches[0]) + shared
    return Plan(device, backends, batches, first.data.dtype.name, memory, available)


def lane_bytes(
    recipe: Recipe, problem: Problem, working_copies: int, entries: int | None = None
) -> int:
    """Memory for solving one problem, in bytes, without its input arrays.

    `working_copies` is the number of parameter-sized arrays beside the state, and `entries` the
    number of parameters; None lets JAX count them.
    """
    if entries is None:
        settings = dict.fromkeys((*problem.settings, *recipe.needs), 1.0)
        shapes = recipe.parameter_shapes(problem.data.shape[1], settings)
        entries = sum(leaf.size for leaf in jax.tree.leaves(shapes))
    return int(entries * problem.data.dtype.itemsize * (_STATE_COPIES + working_copies))


def _shared_bytes(problems: Sequence[Problem]) -> int:
    """Memory of the distinct input arrays of some problems, in bytes."""
    distinct = {id(array): array for problem in problems for array in problem.given.values()}
    return sum(
        array.size * min(array.itemsize, problems[0].data.dtype.itemsize)
        for array in distinct.values()
    )


class Solved(NamedTuple):
    """The solution of one problem, and the plan by which it was computed."""

    place: int  # index of the problem in the input
    solution: Solution
    plan: Plan


def solve_many(
    solver: Solver, problems: Sequence[Problem], *, device: str = "auto", watch: Watch
) -> Iterator[Solved]:
    """Solve problems within the context of a watch; yield solutions as batches finish.

    Problems of one shape form one batch, or several if memory or responsiveness requires it; their
    data, hyper-parameters, seeds and knowledge may differ. Raises a `ResourceError` like
    `plan_many`, and a `ForkError` in a process that was forked after JAX was used.
    """
    refuse_after_fork()
    for problem in problems:
        check_settings(problem.settings, solver.needs)
    for plan in plan_many(solver, problems, device):
        for members in plan.batches:
            batch = plan.batch(solver.recipe, problems, members)
            for index, solution in zip(members, solver.solve(batch, watch), strict=True):
                yield Solved(index, solution, plan)


# Minimum duration of the rounds that are timed for an estimate.
_TIMED_SECONDS = 0.2


@dataclass(frozen=True)
class Cost:
    """The plan of a fit, and its expected duration if that can be known before the fit."""

    plan: Plan
    seconds_per_round: float | None = None  # measured, for the largest batch
    seconds: float | None = None  # of all training, without compilation
    trains: bool = True  # False if the fit will not train, and only refine

    def __str__(self) -> str:
        plan = self.plan
        room = "" if plan.available is None else f" of {plan.available / 2**30:,.1f} available"
        memory = f"about {plan.memory / 2**30:,.2f} GiB{room}"
        where = f"on {plan.device.device_kind} by '{plan.backend}'"
        if not self.trains:
            return f"{memory}; nothing is trained, and the duration of refinement is not known yet"
        if self.seconds is None:
            return f"{memory} {where}; the duration depends on convergence and is not known yet"
        return f"{memory} and {self.seconds:,.1f} s of training {where}"

    def facts(self) -> dict[str, object]:
        """Return the cost as plain values."""
        times: dict[str, object] = {
            "seconds_per_round": self.seconds_per_round,
            "seconds": self.seconds,
            "trains": self.trains,
        }
        return {**self.plan.facts(), **times}


def estimate(solver: Solver, problems: Sequence[Problem], device: str = "auto") -> Cost:
    """Time a few rounds of problems of one shape, and extrapolate to the whole run.

    Methods of several sub-problems end by convergence, so that only their plan is known. Raises a
    `ResourceError` like `plan_many`.
    """
    (plan,) = plan_many(solver, problems, device)
    if not solver.has_fixed_length:
        return Cost(plan)
    rounds = int(problems[0].settings["rounds"])
    batch = plan.batch(solver.recipe, problems, plan.batches[0])
    per_round = _time_rounds(batch, rounds)
    return Cost(plan, per_round, per_round * rounds * len(plan.batches))


def _wait_for(state: AdamState) -> AdamState:
    """Wait until a state has been computed, and return it."""
    map_arrays(lambda leaf: getattr(leaf, "block_until_ready", lambda: leaf)(), state)
    return state


def _time_rounds(batch: Batch, max_rounds: int) -> float:
    """Measure the seconds per round, without compilation."""
    backend = batch.backend
    state = backend.start(batch)
    with backend.limited(batch, state):
        state = _wait_for(backend.advance(batch, state, 0, 1))
        rounds, elapsed = 1, 0.0
        while elapsed < _TIMED_SECONDS and rounds <= max_rounds:
            begin = time.perf_counter()
            state = _wait_for(backend.advance(batch, state, 0, rounds))
            elapsed = time.perf_counter() - begin
            last, rounds = rounds, rounds * 4
    return elapsed / last
