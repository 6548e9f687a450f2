"""The work of cells: fits that are solved together, fits one by one, and times.

Importing this module imports JAX, so that the rest of the package imports it only to work.
"""

import time
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.bench.methods import METHODS
from cosmodag.bench.plan import Cell, CellBatch
from cosmodag.engines import Call, Failure, attempt
from cosmodag.errors import CosmodagWarning
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.steps import FitResult, Learnt
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.registry import LEARNERS
from cosmodag.metrics.scores import count, hamming_scores, order_divergence, ranking_scores
from cosmodag.simulate import load, parse_name
from cosmodag.solve.plan import plan_many
from cosmodag.solve.training.passes import Passes
from cosmodag.solve.watch import Watch
from cosmodag.warning_filters import ignoring

__all__ = ["carry_out", "draw_table", "learner_of", "scores"]

Result = dict[str, Any]

# Passes over the data: number in each repetition and repetitions, as in the paper, and the seconds
# after which no further repetition begins.
_PASSES, _REPETITIONS, _ENOUGH = 5, 5, 20.0

# Settings that a method changes between problems, as in its first problem.
_FIRST = {"multiplier": 1.0, "penalty": 1.0, "score_weight": 1.0, "radius": 1.0, "rounds": 5.0}


def carry_out(cells: CellBatch, device: str = "auto", limit: float | None = None) -> list[Result]:
    """Do the cells of a batch: one result each, in their order.

    Problems are solved on a device; `limit` is the number of seconds per cell.
    """
    first = cells[0]
    with ignoring(CosmodagWarning):
        if first.kind == "fit" and METHODS[first.method].is_solved_together:
            outcomes = _fit_together(cells, device, limit)
        else:
            work: dict[str, Call] = {"time": _time_fit, "epoch": _time_passes}
            work["fit"] = partial(_fit_alone, device)
            outcomes = [attempt(work[first.kind], cell, limit) for cell in cells]
    return [o._asdict() if isinstance(o, Failure) else {"status": "done", **o} for o in outcomes]


def learner_of(cell: Cell, device: str) -> StructureLearner:
    """Make the learner of a cell, which shows no progress."""
    kind = LEARNERS[METHODS[cell.method].learner].load()
    common = {"random_state": cell.graph, "verbose": False, "device": device}
    accepted = common.keys() & kind().get_params().keys()
    return kind(**{**{name: common[name] for name in accepted}, **cell.parameters})


class Drawn(NamedTuple):
    """A simulated table and its true graph. No fit sees the rows that are held out."""

    seen: NDArray[np.float32]  # (n, d), centred; on request divided by standard deviations
    held_out: NDArray[np.float32]  # likewise, by the means and deviations of the rows seen
    graph: Any


def draw_table(cell: Cell) -> Drawn:
    """Simulate the table of a cell.

    With one seed, data sets that differ only in the number of rows share their first ones: the rows
    seen are those of ``simulate.load(cell.data, cell.graph)``.
    """
    rows = parse_name(cell.data).samples
    assert rows is not None
    rest = cell.data.partition("_")[2]
    data = load(f"n{2 * rows}_{rest}", seed=cell.graph)
    X = data.X - data.X[:rows].mean(axis=0)
    if cell.standardised:
        X /= X[:rows].std(axis=0)
    X = X.astype(np.float32)
    # Copies, so that a part that is sent or kept does not hold the whole table.
    return Drawn(X[:rows].copy(), X[rows:].copy(), data.graph)


def scores(graph: Any, weights: Any, cut: float, order: Any = None) -> Result:
    """Return the paper's metrics over all d² entries, and the share of arcs that an order breaks.

    Weights that are not finite raise `FloatingPointError`.
    """
    if not np.isfinite(weights).all():
        raise FloatingPointError("the weights are not finite")
    tails, heads = np.nonzero(graph)
    counts = count(tails, heads, np.abs(weights) > cut)
    all_scores = {**hamming_scores(counts), **ranking_scores(tails, heads, weights)}
    figures = {name: all_scores[name] for name in ("nhd", "tpr", "fpr", "shd", "auc")}
    figures["edges"] = counts.edges
    if order is not None:
        figures["violated"] = order_divergence(graph, order) / max(1, counts.true_edges)
    return figures


def _fit_alone(device: str, cell: Cell) -> Result:
    """Fit one learner with refinement, and score the graph that a user gets."""
    table = draw_table(cell)
    model = learner_of(cell, device).fit(table.seen)
    weights = np.where(model.adjacency_ != 0, model.weights_, 0.0)
    figures = scores(table.graph, weights, 0.0, model.causal_order_)
    return {**figures, "score": model.score(table.held_out)}


def _fit_together(cells: CellBatch, device: str, limit: float | None) -> list[Any]:
    """Fit the learners of cells of one method and one shape of table in one call.

    Weights are scored as optimised. A cell without figures has a `Failure`.
    """
    drawn: dict[object, tuple[Drawn, Prepared]] = {}  # equal tables once
    tables, tasks = list[Drawn](), list[FitTask]()
    for cell in cells:
        learner, name = learner_of(cell, device), (cell.data, cell.graph, cell.standardised)
        if name not in drawn:
            table = draw_table(cell)
            drawn[name] = table, prepare(learner, table.seen)
        table, prepared = drawn[name]
        tables.append(table)
        tasks.append(FitTask(learner, prepared))

    def take(place: int, result: FitResult, learnt: Learnt) -> Any:
        return attempt(partial(_as_optimised, tasks[place], result, learnt), tables[place])

    outcomes: list[Any] = [None] * len(cells)
    with Watch(1, "", None if limit is None else limit * len(cells), show=False) as watch:
        for place, stopped, error, taken in fit_many(tasks, watch, take=take):
            outcomes[place] = taken
            if stopped == "time":
                reason = f"It took longer than the limit of {limit:g} s per cell."
                outcomes[place] = Failure("timeout", reason)
            elif error is not None:
                outcomes[place] = Failure("diverged", str(error))
    return outcomes


def _as_optimised(task: FitTask, result: FitResult, learnt: Learnt, table: Drawn) -> Result:
    """Score weights as optimised, cut at 0.3 as in the paper.

    The score is the mean Gaussian log-likelihood of held-out entries under the optimised equations
    without threshold, variances from the rows seen; it does not need the true graph.
    """
    given = task.given
    rows = np.concatenate([given.data, given.preparation.apply(table.held_out)])
    squares = (rows - learnt.predict(rows)) ** 2
    seen, unseen = np.split(squares, [len(given.data)])
    variances = np.maximum(seen.mean(axis=0), 1e-12)
    score = np.mean(-0.5 * (np.log(2 * np.pi * variances) + unseen / variances))
    figures = scores(table.graph, result.attributes["raw_weights_"], 0.3, learnt.order)
    return {**figures, "score": float(score)}


def _time_fit(cell: Cell) -> Result:
    """Time one fit as the paper does: processor time of ``fit`` alone, on one thread.

    A short fit of the same table comes first, so that compilation is not timed.
    """
    seen = draw_table(cell).seen
    model = learner_of(cell, "cpu")
    # These leave the compiled programs unchanged.
    short = dict.fromkeys({"epochs", "max_iter"} & model.get_params().keys(), 1)
    clone(model).set_params(**short).fit(seen)
    wall, processor = time.perf_counter(), time.process_time()
    model.fit(seen)
    seconds = time.process_time() - processor
    return {"seconds": seconds, "wall_seconds": time.perf_counter() - wall}


def _time_passes(cell: Cell) -> Result:
    """Time passes over the data, in the first problem that a method trains; the median counts.

    Compilation is not timed.
    """
    device = cell.device or "auto"
    model: Any = learner_of(cell, device)  # one that trains
    data = np.asarray(load(cell.data, seed=cell.graph).X, np.float32)
    problems = model.problems_for(data - data.mean(axis=0))
    solver = model.solver_for(*data.shape)
    (plan,) = plan_many(solver, problems, device)
    recipe = solver.recipes[0]
    batch = plan.batch(recipe, problems, plan.batches[0])
    changed = recipe.needs - set(batch.settings)
    batch = batch.with_settings(**{name: _FIRST[name] for name in changed})
    rounds = Passes.over(len(data), recipe.batch_size).rounds
    backend = batch.backend

    def advanced(state: Any, passes: int) -> Any:
        """Train further, and wait until it is done."""
        state = backend.advance(batch, state, 0, passes * rounds)
        return jax.block_until_ready(state)  # type: ignore[no-untyped-call]

    state, times = backend.start(batch), list[float]()
    with backend.limited(batch, state):
        state = advanced(state, 1)
        while len(times) < _REPETITIONS and sum(times) < _ENOUGH / _PASSES:
            begin = time.perf_counter()
            state = advanced(state, _PASSES)
            times.append((time.perf_counter() - begin) / _PASSES)
    return {
        "epoch_seconds": float(np.median(times)),
        "repetitions": len(times),
        "backend": backend.name,
        "machine": plan.device.device_kind,
    }
