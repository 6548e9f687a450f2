"""Cells that are fits: problems of one shape solved together, everything else one by one."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.bench.cell import Cell
from cosmodag.bench.methods import METHODS
from cosmodag.bench.work.data import Drawn, Result, as_result, draw_tables
from cosmodag.engines.outcomes import Failure, attempt
from cosmodag.errors import CosmodagWarning
from cosmodag.fit.preparation import Preparation
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.registry import LEARNERS
from cosmodag.learners.trained.base import TrainedLearner
from cosmodag.metrics.counts import count, hamming_scores
from cosmodag.metrics.orders import order_divergence
from cosmodag.metrics.ranking import ranking_scores
from cosmodag.solve.many import Solved, solve_many
from cosmodag.solve.plan import device_named
from cosmodag.solve.problems import Problem, Solution
from cosmodag.solve.readout import read_out
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

__all__ = ["fit_cells", "learner_of", "scores"]


# Threshold on optimised weights, as in the paper.
_CUT = 0.3


def learner_of(cell: Cell, **others: Any) -> StructureLearner:
    """Make the learner of a cell, which shows no progress."""
    kind = LEARNERS[METHODS[cell.method].learner].load()
    known = kind().get_params()
    common = {"random_state": cell.graph, "verbose": False, **others}
    accepted = {name: value for name, value in common.items() if name in known}
    return kind(**{**accepted, **cell.parameters})


def fit_cells(
    cells: Sequence[Cell], device: str, limit: float | None, makers: int | None
) -> list[Result]:
    """Fit the learners of cells of one method and one shape of table, and score them."""
    tables = draw_tables(cells, makers)
    models = [learner_of(cell, device=device) for cell in cells]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        first = models[0]
        if isinstance(first, TrainedLearner) and getattr(first, "refine", None) is None:
            return _together([m for m in models if isinstance(m, TrainedLearner)], tables, limit)
        alone = partial(_alone, METHODS[cells[0].method].reads)
        pairs = zip(models, tables, strict=True)
        return [as_result(attempt(alone, pair, limit)) for pair in pairs]


def scores(graph: Any, weights: Any, cut: float, order: Any = None) -> Result:
    """Return the paper's metrics over all d² entries, and the share of arcs that an order breaks.

    Weights that are not finite raise `FloatingPointError`.
    """
    if not np.isfinite(weights).all():
        raise FloatingPointError("the weights are not finite")
    tails, heads = np.nonzero(graph)
    counts = count(tails, heads, np.abs(weights) > cut)
    kept = ("nhd", "tpr", "fpr", "shd")
    figures = {name: value for name, value in hamming_scores(counts).items() if name in kept}
    figures["auc"] = ranking_scores(tails, heads, weights)["auc"]
    figures["edges"] = counts.edges
    if order is not None:
        figures["violated"] = order_divergence(graph, order) / max(1, counts.true_edges)
    return figures


def _alone(reads: str, pair: tuple[StructureLearner, Drawn]) -> Result:
    """Fit one learner, refinement and all."""
    model, table = pair
    model.fit(table.seen)
    if reads == "raw":
        weights, cut = model.raw_weights_, _CUT
    else:
        weights, cut = np.where(model.adjacency_ != 0, model.weights_, 0.0), 0.0
    figures = scores(table.graph, weights, cut, model.causal_order_)
    return {**figures, "score": model.score(table.held_out)}


def _together(
    models: Sequence[TrainedLearner], tables: Sequence[Drawn], limit: float | None
) -> list[Result]:
    """Solve the problems of all models in one call, as many at once as the machine can."""
    scale = {id(table): Preparation.of(table.seen, models[0].scale) for table in tables}
    seen = {id(table): scale[id(table)].apply(table.seen) for table in tables}
    problems = []
    for model, table in zip(models, tables, strict=True):
        problems += model.problems_for(seen[id(table)])
    solver = models[0].solver_for(*tables[0].seen.shape)
    results: list[Result] = [{} for _ in models]
    with Watch(1, "", None if limit is None else limit * len(models), show=False) as watch:
        device = str(getattr(models[0], "device", "cpu"))
        for solved in solve_many(solver, problems, device=device, watch=watch):
            table = tables[solved.place]
            held_out = scale[id(table)].apply(table.held_out)
            work = partial(_read, solved, problems[solved.place], held_out)
            results[solved.place] = as_result(_outcome(work, solved.solution, table, limit))
    return results


def _outcome(
    work: Callable[[Drawn], Result], solution: Solution, table: Drawn, limit: float | None
) -> Any:
    """Figures of one solution, or why there are none."""
    if solution.stopped == "time":
        return Failure("timeout", f"It took longer than the limit of {limit:g} s per cell.")
    if solution.diverged_at is not None:
        return Failure("diverged", f"Training diverged in round {solution.diverged_at}.")
    outcome = attempt(work, table, None)
    if isinstance(outcome, Failure) and "not finite" in outcome.message:
        return Failure("diverged", "The weights that it ended with are not finite.")
    return outcome


def _read(solved: Solved, problem: Problem, held_out: NDArray[Any], table: Drawn) -> Result:
    """Read one solution out and score it."""
    found = read_out(solved.solution, problem, _CUT, device_named("cpu"))
    figures = scores(table.graph, found.strengths, _CUT, found.order)
    return {**figures, "score": _likelihood(solved.solution, problem, held_out)}


def _likelihood(solution: Solution, problem: Problem, held_out: NDArray[Any]) -> float:
    """Mean Gaussian log-likelihood of held-out entries, variances from the rows seen.

    Of the model as it was optimised, with no arc cut: what can be had without the truth.
    """
    rows = np.concatenate([problem.data, held_out])
    # Single precision is enough here, whatever the fit was in.
    single = partial(jax.tree.map, lambda array: np.asarray(array, np.float32))
    settings = solution.recipe.schedule(problem.settings.get("rounds", 1), problem.settings)
    with jax.default_device(device_named("cpu")):
        errors = _residuals(solution.recipe, *map(single, (solution.parameters, settings, rows)))
    squares = np.asarray(errors, np.float64) ** 2
    seen, unseen = np.split(squares, [len(problem.data)])
    variances = np.maximum(seen.mean(axis=0), 1e-12)
    return float(np.mean(-0.5 * (np.log(2 * np.pi * variances) + unseen / variances)))


@partial(jax.jit, static_argnums=0)
def _residuals(recipe: Recipe, parameters: Any, settings: Any, rows: Any) -> jax.Array:
    weights = recipe.structure.orient(parameters, settings, 1.0)
    residuals: jax.Array = rows - recipe.mechanism.predict(rows, weights, parameters["functions"])
    return residuals
