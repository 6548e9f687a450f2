"""The problem of the entropy search, from a table and knowledge of its graph."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError
from cosmodag.refinement.entropy.families import EntropyProblem
from cosmodag.refinement.starts import closed_order

__all__ = ["default_penalty", "prepare", "standardised"]

_CONSTANT = 1e-12  # spread relative to the largest value, below which a column counts as constant

# Parents that are useful only together would not enter one by one at the full penalty.
_ENTRY = 0.5


def default_penalty(rows: float, variables: int) -> float:
    """Penalty of an arc: the extended BIC ½ log n + log d, at least log n."""
    return max(float(np.log(rows)), 0.5 * float(np.log(rows)) + float(np.log(variables)))


def standardised(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns (d, n) of mean 0 and variance 1; a constant one is 0 throughout."""
    centred = columns - columns.mean(axis=1, keepdims=True)
    deviations = np.sqrt(np.mean(centred**2, axis=1))
    constant = deviations <= _CONSTANT * np.abs(columns).max(axis=1)
    centred[constant] = 0.0
    return np.ascontiguousarray(centred / np.where(constant, 1.0, deviations)[:, None])


def prepare(
    X: ArrayLike,
    penalty: float | None,
    support: ArrayLike | None,
    required: ArrayLike | None,
    before: ArrayLike | None,
    counted: ArrayLike | None,
) -> tuple[EntropyProblem, NDArray[np.float64]]:
    """Return the standardised problem, and the deviations that lead back to the data's units."""
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) == 0 or not np.isfinite(table).all():
        raise DataError(f"The data must be a finite table (n, d); its shape is {table.shape}.")
    n, d = table.shape
    columns = standardised(table.T)
    constant = np.asarray(~columns.any(axis=1))
    deviations = np.where(constant, 1.0, table.std(axis=0))
    groups, rows_of = np.ones((1, n)), np.zeros(d, np.int64)
    if counted is not None:
        weights = np.asarray(counted, dtype=np.float64)
        if weights.shape != (n, d) or (weights < 0).any() or (weights.sum(axis=0) == 0).any():
            raise DataError("`counted` needs a weight of at least 0 for every entry, not all 0.")
        groups, rows_of = np.unique(weights.T, axis=0, return_inverse=True)
        groups, rows_of = np.ascontiguousarray(groups), rows_of.reshape(-1).astype(np.int64)
    totals = groups.sum(axis=1)
    allowed = _square_mask(support, "support", d, True) & ~np.eye(d, dtype=bool)
    needed = _square_mask(required, "required", d, False)
    cost = default_penalty(n, d) if penalty is None else float(penalty)
    problem = EntropyProblem(
        columns=columns,
        rows_of=rows_of,
        counted=groups,
        totals=totals,
        covariances=np.stack([_covariance(columns, weights) for weights in groups]),
        support=(allowed & ~(constant[:, None] | constant)) | needed,
        required=needed,
        before=closed_order(_square_mask(before, "before", d, False), needed),
        penalty=cost,
        entry=_ENTRY * cost,
        most_parents=max(1, int(totals.min() // 3)),
    )
    return problem, deviations


def _covariance(columns: NDArray[np.float64], counted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of the columns (d, n) with weighted rows."""
    share = counted / counted.sum()
    centred = columns - (columns @ share)[:, None]
    return np.asarray((centred * share) @ centred.T)


def _square_mask(mask: ArrayLike | None, name: str, size: int, default: bool) -> NDArray[np.bool_]:
    if mask is None:
        return np.full((size, size), default)
    array = np.asarray(mask, dtype=bool)
    if array.shape != (size, size):
        raise DataError(f"`{name}` has shape {array.shape}, not ({size}, {size}).")
    return array
