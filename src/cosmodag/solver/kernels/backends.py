"""Ways to run the epochs of a batch: one for every recipe, and faster ones for some.

A backend is an implementation of the same steps, never another method: it is fed the same row order
and held to the same answer by tests. The first that applies is used.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import numpy as np
from threadpoolctl import ThreadpoolController

from cosmodag.mechanism import Mechanism
from cosmodag.objective import cosmo_objective
from cosmodag.solver.kernels.cpu import linear as linear_cpu
from cosmodag.solver.kernels.cpu import mlp as mlp_cpu
from cosmodag.solver.kernels.cpu.steps import Knobs
from cosmodag.solver.kernels.gpu import large as linear_gpu
from cosmodag.solver.kernels.gpu import sharded
from cosmodag.solver.kernels.gpu import small as small_gpu
from cosmodag.solver.problems import Batch
from cosmodag.solver.training.adam import State
from cosmodag.solver.training.loop import run_many
from cosmodag.solver.training.schedules import anneal_temperature
from cosmodag.structure import Parameters, Priority

__all__ = ["BACKENDS", "Backend", "choose"]

# Multiplications in a matrix product, about a millisecond's worth, below which a second thread
# gains little on an idle machine; on a busy one, threads that wait for each other were measured to
# make such a product a hundred times slower.
_WORTH_THREADS = 1e8


def _plain_parameters(batch: Batch, state: State) -> Parameters:
    return state.parameters


@dataclass(frozen=True)
class Backend:
    """One way to run epochs.

    Attributes
    ----------
    name
        For messages and benchmarks.
    applies
        Whether it can run a batch.
    advance
        (batch, state, first, last) → state after those epochs; the state given is used up.
    working_copies
        Arrays as large as the parameters that it holds for each problem beside the state.
    start
        batch → its initial state.
    parameters
        (batch, state) → the stacked parameters, without anything a backend added.
    """

    name: str
    applies: Callable[[Batch], bool]
    advance: Callable[[Batch, State, int, int], State]
    working_copies: int
    start: Callable[[Batch], State] = Batch.start
    parameters: Callable[[Batch, State], Parameters] = _plain_parameters


def choose(batch: Batch) -> Backend:
    """Return the first backend that applies to a batch."""
    return next(backend for backend in BACKENDS if backend.applies(batch))


def _advance_xla(batch: Batch, state: State, first: int, last: int) -> State:
    with jax.default_device(batch.device):
        advanced: State = _run_many(
            batch.recipe, state, batch.tables, batch.table, batch.seeds, batch.settings, first, last
        )
        return advanced


_run_many = jax.jit(run_many, static_argnums=0, donate_argnums=1)


@dataclass(frozen=True)
class Kernel:
    """A compiled loop over the epochs of one problem on a CPU, for one mechanism.

    Attributes
    ----------
    applies
        Whether it is written for a mechanism.
    gather
        (state, lane) → the arrays of one problem as the loop wants them.
    scatter
        (arrays, state, lane): write them back, where they are not views already.
    run_epochs
        The loop; it changes the arrays in place.
    """

    applies: Callable[[Mechanism], bool]
    gather: Callable[[State, int], Any]
    scatter: Callable[[Any, State, int], None]
    run_epochs: Callable[..., tuple[int, float, int]]


def _applies_numba(kernel: Kernel, batch: Batch) -> bool:
    recipe = batch.recipe
    return (
        batch.device.platform == "cpu"
        and batch.tables.dtype == np.float32
        and isinstance(recipe.structure, Priority)
        and kernel.applies(recipe.mechanism)
        and recipe.objective is cosmo_objective
        and recipe.schedule is anneal_temperature
    )


def _advance_numba(kernel: Kernel, batch: Batch, state: State, first: int, last: int) -> State:
    state = jax.tree.map(_writable, state)
    advance = partial(_advance_lane, kernel, batch, state, first, last)
    workers = min(batch.size, _cores())
    with _blas().limit(limits=_threads(batch, state, workers), user_api="blas"):
        if workers == 1:
            for lane in range(batch.size):
                advance(lane)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(advance, range(batch.size)))
    return state


def _advance_lane(
    kernel: Kernel, batch: Batch, state: State, first: int, last: int, lane: int
) -> None:
    knobs = {name: float(batch.settings[name][lane]) for name in Knobs._fields}
    arrays = kernel.gather(state, lane)
    step, loss, diverged_at = kernel.run_epochs(
        batch.tables[batch.table[lane]],
        arrays,
        int(state.step[lane]),
        batch.seeds[lane],
        Knobs(**knobs),
        batch.recipe.batch_size,
        first,
        last,
    )
    kernel.scatter(arrays, state, lane)
    state.step[lane], state.loss[lane] = step, loss
    if state.diverged_at[lane] < 0:
        state.diverged_at[lane] = diverged_at


def _threads(batch: Batch, state: State, workers: int) -> int:
    products = batch.recipe.batch_size * state.parameters["arcs"][0].size
    return max(1, _cores() // workers) if products > _WORTH_THREADS else 1


def _writable(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else np.array(array)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


_LINEAR = Kernel(linear_cpu.applies, linear_cpu.gather, linear_cpu.scatter, linear_cpu.run_epochs)
_MLP = Kernel(mlp_cpu.applies, mlp_cpu.gather, mlp_cpu.scatter, mlp_cpu.run_epochs)

BACKENDS: tuple[Backend, ...] = (
    Backend("numba", partial(_applies_numba, _LINEAR), partial(_advance_numba, _LINEAR), 3),
    # Five: three in its own layout, W and the gradient.
    Backend("numba-mlp", partial(_applies_numba, _MLP), partial(_advance_numba, _MLP), 5),
    Backend("sharded", sharded.applies, sharded.advance, 5, sharded.start),
    Backend(
        "pallas",
        linear_gpu.applies,
        linear_gpu.advance,
        0,
        linear_gpu.start,
        linear_gpu.parameters,
    ),
    Backend("pallas-small", small_gpu.applies, small_gpu.advance, 2),
    # Five: S, W, the gradient, and what XLA keeps between them; a test compares with its analysis.
    Backend("xla", lambda batch: True, _advance_xla, 5),
)
