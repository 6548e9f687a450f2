"""Tables of cells: the rows that a learner sees, as many held out, and the true graph."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.bench.cell import Cell
from cosmodag.simulate import load, parse_name
from cosmodag.solve.machine.threads import cores

__all__ = ["Drawn", "draw_table", "draw_tables"]

# Fewer tables than this are simulated faster than other processes start.
_MANY = 64


class Drawn(NamedTuple):
    """A simulated table, and the true graph.

    ``seen`` and ``held_out`` are (n, d) float32, centred by the means of the rows seen, on request
    divided by their standard deviations. No fit sees the held-out rows.
    """

    seen: NDArray[np.float32]
    held_out: NDArray[np.float32]
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


def draw_tables(cells: Sequence[Cell]) -> list[Drawn]:
    """Simulate the tables of cells, in several processes if there are many; equal ones once."""
    from joblib import Parallel, delayed

    names = [(cell.data, cell.graph, cell.standardised) for cell in cells]
    which = dict(zip(names, cells, strict=True))
    processes = Parallel(cores() if len(which) >= _MANY else 1, batch_size="auto")
    made = processes(delayed(draw_table)(cell) for cell in which.values())
    drawn = dict(zip(which, made, strict=True))
    return [drawn[name] for name in names]
