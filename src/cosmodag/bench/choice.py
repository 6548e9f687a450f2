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
    values = [result.get(figure) for result in results if result.get("status") == "done"]
    if len(values) < len(results) or any(v is None or not np.isfinite(v) for v in values):
        return -np.inf
    return float(np.mean(values))
