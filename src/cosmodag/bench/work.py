"""The computation of cells: fits that are solved together, single fits, and timings.

Importing this module imports JAX, so other modules import it only when cells are to be computed.
"""

import time
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.bench import stochastic_learners
from cosmodag.bench.bench_plan import Cell, CellBatch
from cosmodag.bench.protocol import METHODS
from cosmodag.errors import CosmodagWarning
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import prepare
from cosmodag.fit.steps import FitResult, Learnt
from cosmodag.learners.registry import LEARNERS
from cosmodag.metrics import evaluate
from cosmodag.runtime.engines import Failure, attempt
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.simulate import load
from cosmodag.solve.plan import plan_many
from cosmodag.solve.training.batch_rows import Passes
from cosmodag.solve.watch import Watch

Result = dict[str, Any]

_LATE = "It took longer than the limit of {:g} s per cell."

# Timing of passes over the data: passes per repetition and number of repetitions, as in the paper,
# and the seconds after which no further repetition begins.
_PASSES, _REPETITIONS, _MAX_SECONDS = 5, 5, 20.0

# Settings that a method changes between problems: their values in its first problem.
_FIRST = {"multiplier": 1.0, "penalty": 1.0, "score_weight": 1.0, "radius": 1.0, "rounds": 5.0}


def carry_out(cells: CellBatch, device: str = "auto", limit: float | None = None) -> list[Result]:
    """Compute the results of a batch of cells, in their order.

    `device` is where problems are solved, `limit` the number of seconds per cell.
    """
    with ignoring(CosmodagWarning):
        if cells[0].kind == "fit" and METHODS[cells[0].method].is_raw:
            outcomes = _fit_together(cells, device, limit)
        else:
            outcomes = [_compute_alone(cell, device, limit) for cell in cells]
    return [o._asdict() if isinstance(o, Failure) else {"status": "done", **o} for o in outcomes]


def _compute_alone(cell: Cell, device: str, limit: float | None) -> Any:
    """Compute one cell; beyond the time limit its result is a `Failure`.

    Learners stop at the limit, but compiled code may run longer.
    """
    compute = {"fit": _fit_alone, "time": _time_fit, "epoch": _time_passes}[cell.kind]
    begin = time.monotonic()
    outcome = attempt(lambda cell: compute(cell, learner_of(cell, device, limit)), cell)
    is_late = limit is not None and time.monotonic() - begin > limit
    return Failure("timeout", _LATE.format(limit)) if is_late else outcome


def learner_of(cell: Cell, device: str, limit: float | None = None) -> Any:
    """Make the learner of a cell, which shows no progress and stops after `limit` seconds."""
    name = METHODS[cell.method].learner
    kind = getattr(stochastic_learners, name, None) or LEARNERS[name].load()
    device = {"fit": device, "time": "cpu", "epoch": cell.device or "auto"}[cell.kind]
    given: dict[str, Any] = {"random_state": cell.graph, "verbose": False, "max_time": limit}
    given |= {"device": device} if "device" in kind().get_params() else {}
    return kind(**{**given, **cell.parameters})


class Simulated(NamedTuple):
    """A simulated table, split into training rows and held-out rows, and its true graph."""

    train: NDArray[np.float32]  # (n, d), centred; on request divided by standard deviations
    held_out: NDArray[np.float32]  # likewise, by the means and deviations of the training rows
    graph: Any


def simulated(name: str, seed: int, standardised: bool = False) -> Simulated:
    """Simulate a table with twice the rows of its name, of which the second half is held out.

    Data sets of one seed that differ only in the number of rows have their first rows in common:
    the training rows are those of ``simulate.load(name, seed)``.
    """
    size, _, rest = name.partition("_")
    rows = int(size.removeprefix("n"))
    data = load(f"n{2 * rows}_{rest}", seed)
    X = data.X - data.X[:rows].mean(axis=0)
    if standardised:
        X /= X[:rows].std(axis=0)
    X = X.astype(np.float32)
    # Copies: a view would keep the whole table in memory, and be pickled with it.
    return Simulated(X[:rows].copy(), X[rows:].copy(), data.graph)


def scores(graph: Any, weights: Any, threshold: float, order: Any = None) -> Result:
    """Compute the paper's metrics over all d² entries, and the share of true arcs out of order."""
    found = evaluate(graph, weights, threshold, order=order)
    figures = {name: found[name] for name in ("nhd", "tpr", "fpr", "shd", "auc", "edges")}
    return {**figures, "violated": found["order_divergence"] / max(1, found["true_edges"])}


def _fit_alone(cell: Cell, model: Any) -> Result:
    """Fit one learner with refinement, and score the graph that a user gets."""
    table = simulated(cell.data, cell.graph, cell.standardised)
    model.fit(table.train)
    weights = np.where(model.adjacency_ != 0, model.weights_, 0.0)
    figures = scores(table.graph, weights, 0.0, model.causal_order_)
    return {**figures, "score": model.score(table.held_out)}


def _fit_together(cells: CellBatch, device: str, limit: float | None) -> list[Any]:
    """Fit the learners of cells of one method and one shape of table in one call.

    The optimised weights are scored. The result of a cell without figures is a `Failure`.
    """
    learners = [learner_of(cell, device) for cell in cells]
    table_of = cache(simulated)  # cells may share tables
    prepared = cache(lambda *table: prepare(learners[0], table_of(*table).train))
    tables = [(cell.data, cell.graph, cell.standardised) for cell in cells]
    tasks = [FitTask(one, prepared(*table)) for one, table in zip(learners, tables, strict=True)]

    def score(place: int, result: FitResult, learnt: Learnt) -> Any:
        score_on = partial(_score_optimised, tasks[place], result, learnt)
        return attempt(score_on, table_of(*tables[place]))

    outcomes: list[Any] = [None] * len(cells)
    with Watch(1, "", None if limit is None else limit * len(cells), show=False) as watch:
        for place, stopped, error, scored in fit_many(tasks, watch, take=score):
            outcomes[place] = scored
            if stopped == "time":
                outcomes[place] = Failure("timeout", _LATE.format(limit))
            elif error is not None:
                outcomes[place] = Failure("diverged", str(error))
    return outcomes


def _score_optimised(task: FitTask, result: FitResult, learnt: Learnt, table: Simulated) -> Result:
    """Score the optimised weights, thresholded at 0.3 as in the paper.

    The figure ``score``, for which no true graph is needed, is the mean Gaussian log-likelihood of
    the held-out entries under the optimised equations without threshold, with the residual
    variances of the training rows.
    """
    given = task.given
    rows = np.concatenate([given.data, given.preparation.apply(table.held_out)])
    squares = (rows - learnt.predict(rows)) ** 2
    train, held_out = np.split(squares, [len(given.data)])
    variances = np.maximum(train.mean(axis=0), 1e-12)
    score = np.mean(-0.5 * (np.log(2 * np.pi * variances) + held_out / variances))
    figures = scores(table.graph, result.attributes["raw_weights_"], 0.3, learnt.order)
    return {**figures, "score": float(score)}


def _time_fit(cell: Cell, model: Any) -> Result:
    """Time one fit as the paper does: processor time of ``fit`` alone, on one thread.

    A short fit of the same table comes first, so that compilation is not timed.
    """
    table = simulated(cell.data, cell.graph).train
    # A shorter training uses the same compiled programs.
    short = dict.fromkeys({"epochs", "max_iter"} & model.get_params().keys(), 1)
    clone(model).set_params(**short).fit(table)
    wall, processor = time.perf_counter(), time.process_time()
    model.fit(table)
    seconds = time.process_time() - processor
    return {"seconds": seconds, "wall_seconds": time.perf_counter() - wall}


def _time_passes(cell: Cell, model: Any) -> Result:
    """Time passes over the data, after compilation, in the first problem that a method trains."""
    data = np.asarray(load(cell.data, seed=cell.graph).X, np.float32)
    problems = model.problems_for(data - data.mean(axis=0))
    solver = model.solver_for(*data.shape)
    (plan,) = plan_many(solver, problems, model.device)
    recipe = solver.trained_recipes[0]
    batch = plan.batch(recipe, problems, plan.batches[0])
    changed = recipe.needs - set(batch.settings)
    batch = batch.with_settings(**{name: _FIRST[name] for name in changed})
    rounds = Passes.over(len(data), recipe.batch_size).rounds
    state, times = batch.backend.start(batch), list[float]()
    with batch.backend.limited(batch, state):
        for passes in (1, *[_PASSES] * _REPETITIONS):  # the first pass includes compilation
            begin = time.perf_counter()
            state = batch.backend.advance(batch, state, 0, passes * rounds)
            jax.block_until_ready(state)  # type: ignore[no-untyped-call]
            times.append((time.perf_counter() - begin) / passes)
            if sum(times[1:]) > _MAX_SECONDS / _PASSES:
                break
    seconds, machine = float(np.median(times[1:])), plan.device.device_kind
    return {"epoch_seconds": seconds, "backend": batch.backend.name, "machine": machine}
