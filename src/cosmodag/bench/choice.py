"""Choosing a configuration from the results of a search."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cosmodag.bench.cell import Cell

__all__ = ["choose"]

Results = Mapping[str, Mapping[str, Any]]

# What is averaged over graphs, and then as large as it can be.
_FIGURES = {"oracle": "auc", "score": "score"}


def choose(candidates: Sequence[Sequence[Cell]], results: Results, rule: str) -> int | None:
    """Choose among configurations, each given by its cells; the first of the best wins.

    One that failed on any of its graphs is not eligible.

    Parameters
    ----------
    candidates
        For each configuration its cells, one for each graph.
    results
        By key of the cell.
    rule : {"oracle", "score"}
        By the mean AUC, or the mean likelihood of held-out rows.

    Returns
    -------
    int or None
        Which; None where none is eligible.
    """
    figure = _FIGURES[rule]
    means = [_mean([results.get(cell.key, {}) for cell in cells], figure) for cells in candidates]
    best = int(np.argmax(means)) if means else 0
    return best if means and means[best] > -np.inf else None


def _mean(results: Sequence[Mapping[str, Any]], figure: str) -> float:
    if any(result.get("status") != "done" for result in results):
        return -np.inf
    mean = float(np.mean([float(result[figure]) for result in results]))
    return mean if np.isfinite(mean) else -np.inf
