"""Columns that are exact linear combinations of others: totals, shares, one quantity in two units.

Each of these columns is a function of the others, so the data cannot identify which of them are
causes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["MOST_COLUMNS", "combinations"]

# Above this, a d×d factorisation would dominate the cost of the quick findings.
MOST_COLUMNS = 1_000
# With this many more rows than columns, a spurious combination is practically impossible.
_SPARE_ROWS = 200
# Smallest residual of a column given those before it, as a share of its length, that
# correlations resolve.
_CLEARLY = 1e-3


def combinations(X: NDArray[Any], columns: list[int]) -> list[tuple[int, list[int]]]:
    """Find columns that are exact linear combinations of others, up to a constant.

    The diagonal of a QR factorisation of centred unit columns holds the residual of each column
    given the columns before it. It uses some d + 200 rows first: a column that is not a combination
    in a part of the rows is not one in all rows. Candidates are then checked in all rows.

    The columns to check vary, and no two of them are equal. The result lists each determined column
    with the columns before it that determine it; it is empty if there are no more rows than
    columns, or more than ``MOST_COLUMNS`` columns.

    Examples
    --------
    >>> a, b, c = np.random.default_rng(0).normal(size=(3, 100))
    >>> combinations(np.column_stack([a, b, c, a - 2 * b + 7]), [0, 1, 2, 3])
    [(3, [0, 1])]
    """
    if not 1 < len(columns) <= min(MOST_COLUMNS, len(X) - 1):
        return []
    step = max(1, len(X) // (len(columns) + _SPARE_ROWS))
    if step > 1 and not _dependent(X[::step, columns]):
        return []
    return [
        (columns[whole], [columns[part] for part in parts])
        for whole, parts in _dependent(X[:, columns])
    ]


def _dependent(X: NDArray[Any]) -> list[tuple[int, list[int]]]:
    """Factorise; return the columns that earlier ones determine, and those earlier ones."""
    digits = 1e-6 if X.dtype == np.float32 else 1e-10
    centred = X - X.mean(axis=0, dtype=np.float64)
    lengths = np.linalg.norm(centred, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    # After subtracting a large mean, the last digits are rounding errors too.
    rounding = float(np.finfo(X.dtype).eps) * np.sqrt(len(X)) * np.abs(X).max(axis=0) / lengths
    negligible = np.maximum(digits, rounding)
    if _is_clearly_free(centred / lengths):
        return []
    factor = linalg.qr(centred / lengths, mode="r", overwrite_a=True, check_finite=False)[0]
    is_free = np.abs(np.diagonal(factor)) > negligible
    found: list[tuple[int, list[int]]] = []
    for column in np.flatnonzero(~is_free).tolist():
        # The basis leaves out other determined columns: they would mask one another.
        basis = np.flatnonzero(is_free[:column])
        target = factor[:column, column]
        coefficients = np.linalg.lstsq(factor[:column, basis], target, rcond=None)[0]
        involved = np.abs(coefficients) > np.sqrt(digits)
        found.append((column, basis[involved].tolist()))
    return found


def _is_clearly_free(standard: NDArray[np.float64]) -> bool:
    """Whether correlations alone rule out that a column is a combination of those before it.

    Forming them loses half the digits, so they can only rule combinations out, at a fraction of
    the cost.
    """
    try:
        factor = np.linalg.cholesky(standard.T @ standard)
    except np.linalg.LinAlgError:
        return False
    return bool(np.diagonal(factor).min() > _CLEARLY)
