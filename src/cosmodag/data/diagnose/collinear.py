"""Columns that are exact linear combinations of others: totals, shares, one quantity in two units.

Any of the columns involved can be written through the others, so that the data cannot tell which
of them are causes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["MOST_COLUMNS", "combinations"]

# Above this, a factorisation of d×d would be felt beside the rest of the quick findings.
MOST_COLUMNS = 1_000
# More rows than columns by this many leave no chance of a combination that is not there.
_SPARE_ROWS = 200
# What a column has beside those before it, as a share of its length, that correlations can show.
_CLEARLY = 1e-3


def combinations(X: NDArray[Any], columns: list[int]) -> list[tuple[int, list[int]]]:
    """Find columns that others determine, to the last digits, up to a constant.

    A QR factorisation of centred columns of unit length leaves on its diagonal what a column has
    beside the columns before it. Some d + 200 rows are looked at, since what is no combination in
    a part of the rows is none in all of them; what is one there is then looked for in all rows.

    Parameters
    ----------
    X : (n, d) array
        Finite floats.
    columns : list of int
        The columns to look at: varying, and no two of them equal.

    Returns
    -------
    list of (column, others)
        Each column that those of `others` determine, all before it. Empty also when there are no
        more rows than columns, or more than ``MOST_COLUMNS`` columns.

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
    """Factorise, and read off which columns the ones before them determine, and by which."""
    digits = 1e-6 if X.dtype == np.float32 else 1e-10
    centred = X - X.mean(axis=0, dtype=np.float64)
    lengths = np.linalg.norm(centred, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    # Against a large mean, the last digits of what is left after centring are rounding too.
    rounding = float(np.finfo(X.dtype).eps) * np.sqrt(len(X)) * np.abs(X).max(axis=0) / lengths
    negligible = np.maximum(digits, rounding)
    if _is_clearly_free(centred / lengths):
        return []
    factor = linalg.qr(centred / lengths, mode="r", overwrite_a=True, check_finite=False)[0]
    is_free = np.abs(np.diagonal(factor)) > negligible
    found: list[tuple[int, list[int]]] = []
    for column in np.flatnonzero(~is_free).tolist():
        # Other determined columns are left out of the basis, or they would hide one another.
        basis = np.flatnonzero(is_free[:column])
        target = factor[:column, column]
        coefficients = np.linalg.lstsq(factor[:column, basis], target, rcond=None)[0]
        involved = np.abs(coefficients) > np.sqrt(digits)
        found.append((column, basis[involved].tolist()))
    return found


def _is_clearly_free(standard: NDArray[np.float64]) -> bool:
    """Whether correlations alone show that no column is near a combination of those before it.

    Half the digits are lost in forming them, so that they can only acquit; they cost a fraction.
    """
    try:
        factor = np.linalg.cholesky(standard.T @ standard)
    except np.linalg.LinAlgError:
        return False
    return bool(np.diagonal(factor).min() > _CLEARLY)
