"""Kernels for a CPU: COSMO in single precision, linear or with one layer of sigmoid units.

Each is a compiled loop that trains one problem; the problems of a batch run in parallel threads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from cosmodag.model.draws import HostKey
from cosmodag.model.mechanism import MLP, Linear, Mechanism
from cosmodag.model.objective import (
    AnnealedObjective,
    Loss,
    log_residual_variances,
    mean_squared_error,
)
from cosmodag.model.structure import Priority
from cosmodag.runtime.threads import blas_threads, cores, mapper, threads_worth
from cosmodag.solve.kernels.cpu import linear, mlp
from cosmodag.solve.kernels.cpu.cpu_steps import KernelSettings
from cosmodag.solve.kernels.cpu.rounds import Buffers, Extras, Stretch
from cosmodag.solve.problems import Backend, Batch, Task
from cosmodag.solve.recipe import CosineAnnealing, Recipe
from cosmodag.solve.training.adam import AdamState, fresh_state
from cosmodag.solve.trees import map_arrays

FEATURES = frozenset({"support", "gaps", "counted", "start"})
"""Optional inputs of problems that these kernels support."""

# In place of an optional input that is absent.
_ABSENT = np.empty((0, 0), np.float32)


@dataclass(frozen=True)
class _Kernel:
    """A compiled loop over the rounds of one problem, for some mechanisms and one loss."""

    name: str
    loss: Loss
    fits: Callable[[Mechanism], bool]  # whether it implements a mechanism
    # (state, lane) → the arrays of one problem, in the layout of the loop.
    gather: Callable[[AdamState, int], Any]
    # arrays → further arrays, which every step overwrites.
    workspace: Callable[[Any], Any]
    # The loop, which changes the arrays in place; its results are those of `run_rounds`.
    run: Callable[..., tuple[int, float, int]]
    working_copies: int
    entries: Callable[[Task], int]  # number of parameters of one problem
    # (arrays, state, lane): write the arrays back to the state, unless they are views of it.
    scatter: Callable[[Any, AdamState, int], None] = lambda arrays, state, lane: None
    # Whether problems without optional inputs run the same program as problems with some. A program
    # without them compiles faster, but one program compiles faster than two, and the fit of
    # networks has problems of both kinds: they are trained again on the arcs found.
    has_one_program: bool = False

    def backend(self) -> Backend:
        """Return the kernel as a backend."""
        return Backend(
            self.name,
            self.implements,
            self.advance,
            self.working_copies,
            start=_start,
            entries=self.entries,
            limited=_limited,
        )

    def implements(self, task: Task) -> bool:
        """Whether a task is COSMO in single precision, with this loss and one of the mechanisms."""
        mechanism = task.recipe.mechanism
        cosmo = Recipe(Priority(), mechanism, AnnealedObjective(self.loss), CosineAnnealing())
        is_cosmo = self.fits(mechanism) and task.recipe.is_like(cosmo)
        is_supported = task.dtype == np.float32 and task.features <= FEATURES
        return is_cosmo and is_supported and task.platform == "cpu"

    def advance(self, batch: Batch, state: AdamState, first: int, last: int) -> AdamState:
        """Run rounds first … last − 1 of every problem of a batch, within `_limited`."""
        state = map_arrays(lambda a: a if isinstance(a, np.ndarray) else np.array(a), state)
        advance = partial(self._advance_lane, batch, state, first, last)
        with mapper(min(batch.size, cores())) as map_lanes:
            map_lanes(advance, range(batch.size))
        return state

    def _advance_lane(
        self, batch: Batch, state: AdamState, first: int, last: int, lane: int
    ) -> None:
        settings = batch.settings_of(lane)
        arrays = self.gather(state, lane)
        extras = None
        if batch.given.keys() > {"data"} or self.has_one_program:
            extras = Extras(*(batch.of_lane(name, lane, _ABSENT) for name in Extras._fields))
        _, size, steps, rounds = batch.passes
        taken = int(state.step[lane])
        stretch = Stretch(batch.seeds[lane], size, steps, rounds, taken, first, last)
        values = KernelSettings(*(settings[name] for name in KernelSettings._fields))
        is_weighted = "counted" in batch.given
        buffers = Buffers.of(batch.variables, arrays.arcs.shape[1], size, steps, is_weighted)
        data, work = batch.of_lane("data", lane), self.workspace(arrays)
        state.step[lane], state.loss[lane], diverged_at = self.run(
            data, extras, arrays, buffers, work, stretch, values
        )
        self.scatter(arrays, state, lane)
        if state.diverged_at[lane] < 0:
            state.diverged_at[lane] = diverged_at


def _start(batch: Batch) -> AdamState:
    """Draw the initial states of all problems, or use their given start parameters."""
    parameters = batch.starts
    if parameters is None:
        keys = [HostKey.of(int(seed)) for seed in batch.seeds]
        drawn = [
            batch.recipe.start_from(key, batch.variables, batch.settings_of(lane))
            for lane, key in enumerate(keys)
        ]
        parameters = map_arrays(lambda *lanes: np.stack(lanes), *drawn)
    return fresh_state(map_arrays(np.array, parameters), lanes=(batch.size,))


def _limited(batch: Batch, state: AdamState) -> AbstractContextManager[None]:
    """Context that limits BLAS threads according to the size of the products of one step."""
    multiplications = batch.passes.size * state.parameters["arcs"][0].size
    return blas_threads(threads_worth(multiplications, min(batch.size, cores())))


def is_plain_network(mechanism: Mechanism) -> bool:
    """Whether the networks have one hidden layer of sigmoid units, of any width."""
    if type(mechanism) is not MLP:
        return False
    return len(mechanism.hidden) == 1 and mechanism.activation == "sigmoid"


def _network_entries(task: Task) -> int:
    """Count the parameters: H, p, and the biases and weights of the units and of the output."""
    d, h = task.variables, task.recipe.mechanism.hidden[0]  # type: ignore[attr-defined]
    return int(d * (d * h + 1 + 2 * h + 1))


_LINEAR = _Kernel(
    "numba-linear",
    mean_squared_error,
    lambda mechanism: mechanism == Linear(),
    linear.gather,
    linear.workspace,
    linear.run,
    working_copies=3,  # S, W and the gradient
    entries=lambda task: task.variables * (task.variables + 1),
)
_NETWORKS = _Kernel(
    "numba-mlp",
    mean_squared_error,
    is_plain_network,
    mlp.gather,
    mlp.workspace,
    mlp.run,
    working_copies=5,  # parameters and moments in the layout of the loop, W and the gradient
    entries=_network_entries,
    scatter=mlp.scatter,
    has_one_program=True,
)
_NETWORKS_BY_LIKELIHOOD = replace(
    _NETWORKS,
    name="numba-mlp-likelihood",
    loss=log_residual_variances,
    workspace=partial(mlp.workspace, has_own_variances=True),
)

BACKENDS: tuple[Backend, ...] = tuple(
    kernel.backend() for kernel in (_LINEAR, _NETWORKS, _NETWORKS_BY_LIKELIHOOD)
)
