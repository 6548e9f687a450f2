"""Cells far outside the rest of their column: they must not decide which graph is chosen."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding, first_of
from cosmodag.graph.texts import counted

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FAR = 6.0
"""Smallest distance of a gross cell from the median, in robust standard deviations."""
MOST_GROSS = 0.03
"""Largest share of rows that are left out; beyond it, far cells are the column's own tail."""

# Robust standard deviation of a normal column, per median absolute deviation.
_PER_MAD = 1.4826
# Where the tail of a column begins, and the two shares of rows that give its slope.
_TAIL = (0.80, 0.95)
# A cell must lie beyond what an exponential tail has once in this number of such columns.
_ONCE_IN = 10.0
_FEWEST_ROWS = 50
_LISTED = 5


def gross_cells(X: Floats, ignored: Bools | None = None) -> Bools:
    """(n, d): cells beyond 6 robust standard deviations, and beyond the tail of their column.

    The tail is extrapolated exponentially from the 80 and 95 % quantiles of the distances to the
    median, so that heavy tails have no gross cells. `ignored` (n, d) marks entries that were set or
    imputed. Columns whose inner half is one value have none.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X[7, 1] += 15
    >>> np.argwhere(gross_cells(X)).tolist()
    [[7, 1]]
    """
    n, d = X.shape
    found = np.zeros((n, d), np.bool_)
    if n < _FEWEST_ROWS:
        return found
    for v in range(d):
        used = np.ones(n, np.bool_) if ignored is None else ~ignored[:, v]
        x = X[used, v]
        if len(x) < _FEWEST_ROWS:
            continue
        middle = np.median(x)
        size = _PER_MAD * np.median(np.abs(x - middle))
        if size == 0:
            continue
        distances = np.abs(x - middle) / size
        first, second = np.quantile(distances, _TAIL)
        slope = (second - first) / np.log((1 - _TAIL[0]) / (1 - _TAIL[1]))
        tail = second + slope * np.log((1 - _TAIL[1]) * len(x) * _ONCE_IN)
        found[used, v] = distances > max(FAR, float(tail))
    return found


def about_gross_cells(X: Floats, cells: Bools, names: Sequence[str]) -> Finding:
    """Report the gross cells whose rows were left out, and what to do about them."""
    rows = int(cells.any(axis=1).sum())
    counts = cells.sum(axis=0)
    columns = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist()
    described = [_of_column(X[:, v], cells[:, v], names[v]) for v in columns]
    listed = first_of(described, _LISTED, "column", between="; ")
    sentence = (
        f"{counted(int(cells.sum()), 'cell')} lie far outside the rest of their column ({listed}): "
        f"{counted(rows, 'row')} with such cells took no part in the fit. Correct the cells that "
        "are errors, and name a value that stands for a missing one (--na VALUE), or leave "
        "its cells empty (missing='drop', --missing drop)."
    )
    return Finding("gross_cells", tuple(names[v] for v in columns), rows, "warning", sentence)


def _of_column(x: Floats, marked: Bools, name: str) -> str:
    """Describe the gross cells of a column: one repeated value, or the rows of the cells."""
    rows, values = np.flatnonzero(marked), x[marked]
    distinct, counts = np.unique(values, return_counts=True)
    most = int(counts.argmax())
    if counts[most] > 2 and counts[most] > len(values) / 2:
        return f"{name} is {distinct[most]:g} in {counts[most]} rows: missing?"
    shown = first_of([f"{row} ({x[row]:.4g})" for row in rows.tolist()], 3)
    return f"{name} in {'row' if len(rows) == 1 else 'rows'} {shown}"
