"""Problems (data, hyper-parameters, seed and knowledge), batches of them, and their backends."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import SettingsError
from cosmodag.model.structure import Parameters
from cosmodag.runtime.devices import Host, jax_device, on_device
from cosmodag.runtime.later import jax, jitted
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState, fresh_state
from cosmodag.solve.training.batch_rows import Passes
from cosmodag.solve.trees import map_arrays

FEATURES = frozenset({"support", "required", "gaps", "counted", "start"})
"""Names of the optional inputs of a problem."""


class Task(NamedTuple):
    """The work for which a backend is chosen."""

    recipe: Recipe
    features: frozenset[str]  # which of `FEATURES` the problems have
    lanes: int  # number of problems solved together
    rows: int
    variables: int
    dtype: np.dtype[Any]  # of the tables
    platform: str  # kind of device: "cpu", "gpu", …


@dataclass(frozen=True)
class Backend:
    """One implementation of the training rounds; tests compare it with the reference loop."""

    name: str
    # Whether it supports a task completely.
    implements: Callable[[Task], bool]
    # (batch, state, first, last) → state after those rounds; the given state is consumed.
    advance: Callable[[Batch, AdamState, int, int], AdamState]
    # Parameter-sized arrays per problem beside the state.
    working_copies: int
    # Makes the initial state of a batch.
    start: Callable[[Batch], AdamState] = lambda batch: batch.start()
    # Stacked parameters of a state, without padding.
    parameters: Callable[[Batch, AdamState], Parameters] = lambda batch, state: state.parameters
    # Why it cannot run on this machine although it implements the task, or None. Such a task goes
    # to a slower backend, with a warning.
    missing: Callable[[Task], str | None] = lambda task: None
    # Number of devices over which it distributes a problem.
    devices: Callable[[Task], int] = lambda task: 1
    # Number of parameters of one problem, or None to let JAX count them.
    entries: Callable[[Task], int | None] = lambda task: None
    # Context, entered around calls of `advance`, that limits threads.
    limited: Callable[[Batch, AdamState], AbstractContextManager[None]] = lambda batch, state: (
        nullcontext()
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """One optimisation problem.

    An array object that several problems have in common is stored once.
    """

    data: NDArray[Any]  # (n, d), centred
    settings: Mapping[str, float]  # hyper-parameters by name
    seed: int  # of the initial parameters and of the order of rows, in [0, 2³²)
    # (d, d) bool: arcs that may exist, and arcs that must exist, which λ₁ does not penalise.
    support: NDArray[Any] | None = None
    required: NDArray[Any] | None = None
    # (d, d): length of the longest chain of known order from u to v, −∞ if there is none.
    gaps: NDArray[Any] | None = None
    # (n, 1) or (n, d): weight of each row, or of each entry, in the loss. It is zero for entries
    # set by intervention, from which the equation of the variable is not learnt.
    counted: NDArray[Any] | None = None
    start: Parameters | None = None  # parameters to start from; None to draw them

    @property
    def given(self) -> dict[str, NDArray[Any]]:
        """Input arrays by name, without those that are None."""
        names = ("data", "support", "required", "gaps", "counted")
        return {name: array for name in names if (array := getattr(self, name)) is not None}

    @property
    def shape(self) -> tuple[Any, ...]:
        """Key that is equal for problems that can be solved in one batch."""
        arrays = tuple((name, array.shape) for name, array in self.given.items())
        rounds = self.settings.get("rounds")
        starts = self.start is not None
        return (arrays, starts, self.data.dtype.str, rounds, tuple(sorted(self.settings)))

    def task(self, recipe: Recipe, lanes: int, platform: str) -> Task:
        """Describe the solution of `lanes` problems of this shape as a task for a backend."""
        features = frozenset(self.given) - {"data"}
        if self.start is not None:
            features |= {"start"}
        n, d = self.data.shape
        return Task(recipe, features, lanes, n, d, self.data.dtype, platform)


def check_settings(settings: Mapping[str, float], needs: frozenset[str]) -> None:
    """Refuse settings unless they are finite, and exactly those that a solver reads."""
    missing, unknown = sorted(needs - set(settings)), sorted(set(settings) - needs)
    if missing or unknown:
        raise SettingsError(
            "The settings must be those that the solver reads: missing are "
            f"{missing or 'none'}, unknown are {unknown or 'none'}."
        )
    for name, value in settings.items():
        if not math.isfinite(value):
            raise SettingsError(f"The setting {name} is {value!r}: it must be a finite number.")


@dataclass(frozen=True)
class Solution:
    """Solution of one problem."""

    parameters: Parameters
    recipe: Recipe  # of the parameters
    iterations: int  # rounds of training, or iterations of another minimiser
    stopped: str | None  # why it ended early ("time" or "interrupt"), or None
    diverged_at: int | None  # first round in which the objective was not finite
    history: list[dict[str, float]]
    converged: bool = True  # False if a limit was reached


@dataclass(frozen=True, eq=False)
class Batch:
    """Problems of one shape, stacked: lane i of every array belongs to problem i."""

    recipe: Recipe
    # The distinct input arrays of each kind, stacked, and the index of the array that each lane
    # uses: given["data"][which["data"][i]] is the table of lane i.
    given: dict[str, Any]
    which: dict[str, NDArray[np.int32]]
    seeds: NDArray[np.uint32]
    settings: dict[str, NDArray[Any]]  # each hyper-parameter as a (k,) array
    device: Host | jax.Device
    backends: Mapping[Recipe, Backend]  # of each recipe of the solver
    # Seconds between checks of the watch: enough for their cost to be negligible, few enough for a
    # prompt response to Ctrl-C.
    chunk_seconds: float = 0.5
    starts: Parameters | None = None  # stacked parameters to start from; None to draw them

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        problems: Sequence[Problem],
        device: Host | jax.Device,
        backends: Mapping[Recipe, Backend],
    ) -> Batch:
        """Stack problems of one shape."""
        dtype = problems[0].data.dtype
        given, which = {}, {}
        for name in problems[0].given:
            arrays = [problem.given[name] for problem in problems]
            distinct = {id(array): array for array in arrays}
            index_of = {key: index for index, key in enumerate(distinct)}
            stacked: Any = np.stack(list(distinct.values()))
            if device.platform == "cpu" or stacked.dtype != np.bool_:
                stacked = stacked.astype(dtype, copy=False)  # masks stay small on a GPU
            if device.platform != "cpu":
                stacked = jax.device_put(stacked, device)  # once, not for every piece of the run
            given[name] = stacked
            which[name] = np.array([index_of[id(array)] for array in arrays], np.int32)
        starts = None
        if problems[0].start is not None:
            starts = map_arrays(lambda *lanes: np.stack(lanes), *(p.start for p in problems))
        return cls(
            recipe=recipe,
            given=given,
            which=which,
            seeds=np.array([problem.seed for problem in problems], np.uint32),
            settings={
                name: np.array([problem.settings[name] for problem in problems], dtype)
                for name in problems[0].settings
            },
            device=device,
            backends=backends,
            starts=starts,
        )

    @property
    def size(self) -> int:
        """Number of problems."""
        return len(self.seeds)

    @property
    def variables(self) -> int:
        """Number of variables, d."""
        return int(self.given["data"].shape[2])

    @property
    def rows(self) -> int:
        """Number of rows, n."""
        return int(self.given["data"].shape[1])

    @property
    def passes(self) -> Passes:
        """Division of passes over the rows into rounds."""
        return Passes.over(self.rows, self.recipe.batch_size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the tables."""
        return np.dtype(self.given["data"].dtype)

    @property
    def backend(self) -> Backend:
        """Backend of the batch's recipe."""
        return self.backends[self.recipe]

    def of_lane(self, name: str, lane: int, otherwise: Any = None) -> Any:
        """Return an input array of one problem by name, or `otherwise` if it is absent."""
        return self.given[name][self.which[name][lane]] if name in self.given else otherwise

    def settings_of(self, lane: int) -> dict[str, float]:
        """Return the settings of one problem as numbers."""
        return {name: float(values[lane]) for name, values in self.settings.items()}

    def with_settings(self, **values: Any) -> Batch:
        """Return the batch with some settings replaced, by one number or by one per problem."""
        arrays = {
            name: np.array(np.broadcast_to(value, self.size), self.dtype)
            for name, value in values.items()
        }
        return replace(self, settings={**self.settings, **arrays})

    def steps_per_piece(self, steps: int, seconds: float) -> int:
        """Return the number of steps until the next check, if `steps` took `seconds`."""
        return max(1, int(self.chunk_seconds * steps / max(seconds, 1e-9)))

    def start(self) -> AdamState:
        """Draw the initial states of all problems, or use their given start parameters."""
        device = jax_device(self.device)
        with on_device(device):
            if self.starts is not None:
                state = fresh_state(self.starts, self.recipe.guard is not None, (self.size,))
            else:
                state = _start(self.recipe, self.seeds, self.variables, self.settings)
        # Committed to the device like every later state; otherwise JAX would compile twice.
        return jax.device_put(state, device)


def start_many(recipe: Recipe, seeds: Any, d: int, settings: Any) -> AdamState:
    """Draw the initial states of problems of d variables, stacked."""

    def one(seed: Any, settings: Any) -> AdamState:
        return fresh_state(recipe.start(seed, d, settings), recipe.guard is not None)

    return jax.vmap(one)(seeds, settings)


_start = jitted(static_argnums=(0, 2))(start_many)
