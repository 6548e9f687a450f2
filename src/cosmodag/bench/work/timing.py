"""Cells that are times: of one fit alone, and of a pass over the data."""

import time
import warnings
from typing import Any

import jax
import numpy as np

from cosmodag.bench.cell import Cell
from cosmodag.bench.work import Result
from cosmodag.bench.work.fits import learner_of
from cosmodag.bench.work.tables import draw_table
from cosmodag.errors import CosmodagWarning
from cosmodag.simulate import load
from cosmodag.solve.plan import plan_many
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.training.passes import Passes

__all__ = ["time_epochs", "time_fit"]

# As in the paper: passes in each repetition, and repetitions.
_PASSES, _REPETITIONS = 5, 5

# Seconds after which no further repetition begins.
_ENOUGH = 20.0

# Parameters that shorten a fit and leave the compiled programs unchanged.
_SHORT = {"epochs": 1, "max_iter": 1}


def time_fit(cell: Cell) -> Result:
    """Time one fit as the paper does: processor time of ``fit`` alone, on one thread.

    A short fit of the same table comes first, so that compilation is not timed.
    """
    table = draw_table(cell)
    model = learner_of(cell, device="cpu")
    short = {name: value for name, value in _SHORT.items() if name in model.get_params()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        learner_of(cell, device="cpu").set_params(**short).fit(table.seen)
        wall, processor = time.perf_counter(), time.process_time()
        model.fit(table.seen)
        return {
            "seconds": time.process_time() - processor,
            "wall_seconds": time.perf_counter() - wall,
        }


def time_epochs(cell: Cell) -> Result:
    """Time passes over the data, in the first problem that a method trains; the median counts.

    Compilation is not timed.
    """
    model: Any = learner_of(cell, device=cell.device)  # one that trains
    data = np.asarray(load(cell.data, seed=cell.graph).X, np.float32)
    problems = model.problems_for(data - data.mean(axis=0))
    solver = model.solver_for(*data.shape)
    (plan,) = plan_many(solver, problems, cell.device or "auto")
    recipe = solver.recipes[0]
    batch = plan.batch(recipe, problems, plan.batches[0])
    changed = solver.recipes[0].needs - set(batch.settings)
    batch = batch.with_settings(**{name: _FIRST[name] for name in changed})
    rounds = Passes.over(len(data), recipe.batch_size).rounds
    backend = batch.backend
    state, times = backend.start(batch), list[float]()
    with backend.limited(batch, state):
        state = _finished(backend.advance(batch, state, 0, rounds))
        while len(times) < _REPETITIONS and sum(times) < _ENOUGH / _PASSES:
            begin = time.perf_counter()
            state = _finished(backend.advance(batch, state, 0, _PASSES * rounds))
            times.append((time.perf_counter() - begin) / _PASSES)
    return {
        "epoch_seconds": float(np.median(times)),
        "repetitions": len(times),
        "backend": backend.name,
        "machine": plan.device.device_kind,
    }


def _finished(state: AdamState) -> AdamState:
    """Wait until a state is computed."""
    jax.block_until_ready(state)  # type: ignore[no-untyped-call]
    return state


# Settings that a method changes between problems, as in its first problem.
_FIRST = {"multiplier": 1.0, "penalty": 1.0, "score_weight": 1.0, "radius": 1.0, "rounds": 5.0}
