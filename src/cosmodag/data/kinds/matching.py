"""New data with the levels of a fit, matched by their labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, name_list
from cosmodag.io.columns.levels import encode_as
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind
from cosmodag.io.tables.frames import Table

__all__ = ["matched", "renumbered"]


def matched(table: Table, kinds: Sequence[ColumnKind]) -> NDArray[Any]:
    """Encode new data with the levels of a fit, matched by label: (n, d).

    Labels may have other numbers in the new table than in the fit. Numbers in a column whose levels
    are text are numbers of levels. The fit has no `kinds` if all columns were numbers.
    """
    X = table.X
    numbers = (NOT_EXAMINED,) * len(table.names)
    own, fitted = table.kinds or numbers, kinds or numbers
    for v, (name, mine, kind) in enumerate(zip(table.names, own, fitted, strict=True)):
        if mine.is_levels and not kind.is_levels:
            raise DataError(f"column {name!r} holds {mine.reason}, but was fitted on numbers.")
        if not kind.is_levels or mine.levels == kind.levels:
            continue
        X = np.array(X, np.float64) if X is table.X else X
        X[:, v] = renumbered(name, table.X[:, v], mine, kind)
    return X


def renumbered(
    name: str, column: NDArray[Any], mine: ColumnKind, kind: ColumnKind
) -> NDArray[np.float64]:
    """Numbers of the levels of a kind, for a column of other levels or of numbers."""
    labels: Sequence[Any] = column.tolist()
    if mine.is_levels:
        labels = [None if np.isnan(one) else mine.levels[int(one)] for one in column]
    elif all(isinstance(level, str) for level in kind.levels):
        if kind.is_number:  # predictions of lines lie between levels
            return np.asarray(column, np.float64)
        present = column[~np.isnan(column)]
        outside = (present != np.round(present)) | (present < 0) | (present >= len(kind.levels))
        if outside.any():
            raise DataError(
                f"column {name!r} has the number {present[outside][0]:g}, which is no level: give "
                f"its labels ({name_list(kind.levels)}), or their numbers from 0 to "
                f"{len(kind.levels) - 1}."
            )
        return np.asarray(column, np.float64)
    return encode_as(name, labels, kind).numbers
