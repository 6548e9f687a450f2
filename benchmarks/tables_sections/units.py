"""Columns of numbers multiplied by powers of two: no arc may change."""

import warnings
from collections.abc import Sequence

import numpy as np

from tables_sections.generators import GENERATORS
from trust_sections.base import Cell, Found, Row, mean_row

_KINDS = {
    "mixed, lines": ("mixed", {"curved": False}),
    "mixed, curves": ("mixed", {"curved": True}),
    "processes": ("processes", {}),
    "lines": ("lines", {}),
}


def cells() -> list[Cell]:
    """List kinds of tables and learners."""
    return [
        Cell("units", f"{kind}, {learner}", {"kind": kind, "learner": learner})
        for kind in _KINDS
        for learner in ("BlockSearch", "Cosmo", "OrderSearch")
    ]


def measure(cell: Cell, seed: int) -> Found:
    """Count arcs that change with the units."""
    import cosmodag

    random = np.random.default_rng(seed)
    generator, options = _KINDS[cell.settings["kind"]]
    _, table = GENERATORS[generator](random, 10, 500, **options)
    other = table.copy()
    for name in table.select_dtypes("number"):
        other[name] = table[name] * 2.0 ** random.integers(-6, 7)
    learner = getattr(cosmodag, cell.settings["learner"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphs = [
            learner(random_state=0, verbose=False).fit(one).adjacency_ != 0
            for one in (table, other)
        ]
    return {"changed": float(np.sum(graphs[0] != graphs[1]))}


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Make rows of the number of arcs that changed."""
    lines = []
    for cell, found in zip(cells, results, strict=True):
        none = ("arcs that change", "0", lambda mean: mean == 0)
        lines += mean_row(cell, found, "changed", *none)
    return lines
