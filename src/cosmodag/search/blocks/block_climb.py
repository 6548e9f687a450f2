"""Searches among variables that are blocks of columns, also if every block is one column."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.search.blocks.block_problem import BlockProblem
from cosmodag.search.blocks.block_score import BlockScore
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.column_search import search
from cosmodag.search.local_scores import FoundBlocks, Score
from cosmodag.search.order_climb import climb, restarts_of
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.search_run import Run


def choose_block_parents(problem: BlockProblem, order: ArrayLike) -> FoundBlocks:
    """Choose the parents of each variable among its predecessors.

    Examples
    --------
    A category of three levels, as two indicators, that depends on the first column:

    >>> from cosmodag.search.moments import Moments
    >>> random = np.random.default_rng(0)
    >>> x, y = random.normal(size=(2, 500))
    >>> level = np.digitize(x + random.normal(size=500), [-0.5, 0.5])
    >>> table = np.column_stack([x, y, level == 1, level == 2])
    >>> problem = BlockProblem(Moments.of(table), np.array([1, 1, 2]), penalty=3.0)
    >>> choose_block_parents(problem, [0, 1, 2]).adjacency.astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    checked = problem.constraints.checked(order, problem.variables)
    if problem.are_columns:
        return _as_blocks(checked, _column_score(problem).chosen(checked, Run()))
    return BlockScore(problem).found(checked.tolist())


def search_blocks(
    problem: BlockProblem, start: ArrayLike, run: Run, score: Score | None = None
) -> FoundBlocks:
    """Search for the order, and the graph on it, of best score, starting from an order.

    This is `climb` with the given score, by default a new `BlockScore`. If every variable is one
    column, it is by default `cosmodag.search.search`.
    """
    if score is not None or not problem.are_columns:
        return climb(BlockScore(problem) if score is None else score, start, run)
    limit, patience = restarts_of(run, problem.variables)
    run = replace(run, restarts=limit, patience=patience)
    columns = search(_column_score(problem), start, run)
    return replace(
        _as_blocks(columns.order, columns.graph),
        score=columns.score,
        start_score=columns.start_score,
        restarts=columns.restarts,
        ended_early=columns.ended_early,
    )


def _column_score(problem: BlockProblem) -> ColumnScore:
    """Return the score of a problem in which every variable is one column."""
    penalty = problem.penalty + problem.arc_penalty
    return ColumnScore.of(problem.moments, penalty=penalty, constraints=problem.constraints)


def _as_blocks(order: NDArray[np.int64], graph: RegressionGraph) -> FoundBlocks:
    total = float(graph.scores.sum())
    widths = graph.adjacency().toarray().astype(np.int64)
    return FoundBlocks(order, widths, graph.scores, total, total)
