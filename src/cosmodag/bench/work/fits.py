"""Cells that are fits: problems of one shape solved together, everything else one by one."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.bench.cell import Cell
from cosmodag.bench.methods import METHODS
from cosmodag.bench.work import Result, as_result
from cosmodag.bench.work.tables import Drawn, draw_tables
from cosmodag.engines.outcomes import Failure, attempt
from cosmodag.errors import CosmodagWarning
from cosmodag.fit.pipeline import FitTask, Learnt, Outcome, fit_many
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.registry import LEARNERS
from cosmodag.metrics.counts import count, hamming_scores
from cosmodag.metrics.orders import order_divergence
from cosmodag.metrics.ranking import ranking_scores
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


def fit_cells(cells: Sequence[Cell], device: str, limit: float | None) -> list[Result]:
    """Fit the learners of cells of one method and one shape of table, and score them."""
    tables = draw_tables(cells)
    models = [learner_of(cell, device=device) for cell in cells]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        if METHODS[cells[0].method].is_solved_together:
            return _together(models, tables, limit)
        pairs = zip(models, tables, strict=True)
        return [as_result(attempt(_alone, pair, limit)) for pair in pairs]


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


def _alone(pair: tuple[StructureLearner, Drawn]) -> Result:
    """Fit one learner with refinement, and score the graph that a user gets."""
    model, table = pair
    model.fit(table.seen)
    weights = np.where(model.adjacency_ != 0, model.weights_, 0.0)
    figures = scores(table.graph, weights, 0.0, model.causal_order_)
    return {**figures, "score": model.score(table.held_out)}


def _together(
    models: Sequence[StructureLearner], tables: Sequence[Drawn], limit: float | None
) -> list[Result]:
    """Fit all models in one call, and score their weights as optimised."""
    prepared: dict[int, Prepared] = {}
    tasks = []
    for model, table in zip(models, tables, strict=True):
        if id(table) not in prepared:
            prepared[id(table)] = prepare(model, table.seen)
        tasks.append(FitTask(model, prepared[id(table)]))

    def take(place: int, learnt: Learnt) -> Any:
        """Score one fit, and delete it."""
        model, given = tasks[place]
        outcome = attempt(lambda table: _as_optimised(model, given, learnt, table), tables[place])
        model.forget()
        return outcome

    results: list[Result] = [{} for _ in models]
    with Watch(1, "", None if limit is None else limit * len(models), show=False) as watch:
        for outcome in fit_many(tasks, watch, take=take):
            results[outcome.place] = as_result(_result_of(outcome, limit))
    return results


def _result_of(outcome: Outcome, limit: float | None) -> Any:
    """Figures of one fit, or its failure."""
    if outcome.stopped == "time":
        return Failure("timeout", f"It took longer than the limit of {limit:g} s per cell.")
    if outcome.error is not None:
        return Failure("diverged", str(outcome.error))
    return outcome.taken


def _as_optimised(model: StructureLearner, given: Prepared, learnt: Learnt, table: Drawn) -> Result:
    """Score weights as optimised, and the held-out likelihood of the equations with them."""
    figures = scores(table.graph, model.raw_weights_, _CUT, learnt.order)
    return {**figures, "score": _likelihood(given, learnt, table.held_out)}


def _likelihood(given: Prepared, learnt: Learnt, held_out: NDArray[Any]) -> float:
    """Mean Gaussian log-likelihood of held-out entries, variances from the rows seen.

    Of the optimised equations, without threshold; it does not need the true graph.
    """
    rows = np.concatenate([given.data, given.preparation.apply(held_out)])
    squares = (rows - learnt.predict(rows)) ** 2
    seen, unseen = np.split(squares, [len(given.data)])
    variances = np.maximum(seen.mean(axis=0), 1e-12)
    return float(np.mean(-0.5 * (np.log(2 * np.pi * variances) + unseen / variances)))
