"""A finding about missing values, and a table without them for the other checks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding, about, chosen, first_of

__all__ = ["missing_values", "without_gaps"]


def missing_values(X: NDArray[Any], names: Sequence[str]) -> list[Finding]:
    """Count missing values per column."""
    absent = np.isnan(X)
    numbers = absent.sum(axis=0)
    columns = np.flatnonzero(numbers)
    worst = columns[np.argsort(-numbers[columns], kind="stable")].tolist()
    listed = [f"{names[column]!r} {numbers[column]:,}" for column in worst]
    complete = int((~absent.any(axis=1)).sum())
    sentence = (
        f"{int(numbers.sum()):,} values are missing ({first_of(listed, 8, 'more columns')}), "
        f"{complete:,} of {len(X):,} rows are complete: use only those (--missing drop) if gaps do "
        "not depend on the values, or impute the gaps from the learnt graph (--missing impute)."
    )
    return about("missing_values", chosen(names, numbers > 0), sentence, absent.mean())


def without_gaps(X: NDArray[Any]) -> NDArray[Any]:
    """Return the complete rows if there are enough, otherwise fill gaps with drawn values.

    Values are drawn from the same column. This keeps the distribution of each column and weakens
    relations between columns, so it creates no false findings about relations.
    """
    absent = np.isnan(X)
    complete = ~absent.any(axis=1)
    if complete.sum() >= max(20, 2 * X.shape[1], len(X) // 3):
        return np.asarray(X[complete])
    random = np.random.default_rng(0)
    filled = X.copy()
    for column in np.flatnonzero(absent.any(axis=0)).tolist():
        gap = absent[:, column]
        filled[gap, column] = random.choice(X[~gap, column], size=int(gap.sum()))
    return filled
