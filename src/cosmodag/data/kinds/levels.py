"""Labels of columns, encoded by the level numbers of a kind."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, name_list
from cosmodag.io.columns.values import encode_as
from cosmodag.io.kind_names import NOT_EXAMINED, ColumnKind
from cosmodag.io.tables.frames import Table


def matched(table: Table, kinds: Sequence[ColumnKind]) -> NDArray[Any]:
    """Encode the labels of new data by the level numbers of a fit: (n, d).

    The same label may have different numbers in the new table and in the fit. If the levels of the
    fit are text, a column of numbers holds level numbers. `kinds` is empty if all columns of the
    fit were numbers.
    """
    X = table.X
    numbers = (NOT_EXAMINED,) * len(table.names)
    own, fitted = table.kinds or numbers, kinds or numbers
    for v, (name, before, kind) in enumerate(zip(table.names, own, fitted, strict=True)):
        if before.is_levels and not kind.is_levels:
            raise DataError(f"column {name!r} holds {before.reason}, but was fitted on numbers.")
        if not kind.is_levels or before.levels == kind.levels:
            continue
        X = np.array(X, np.float64) if X is table.X else X
        X[:, v] = renumbered(name, table.X[:, v], before, kind)
    return X


def renumbered(
    name: str, column: NDArray[Any], before: ColumnKind, kind: ColumnKind
) -> NDArray[np.float64]:
    """Encode a column of kind `before`, of levels or of numbers, by the level numbers of `kind`."""
    labels: Sequence[Any] = column.tolist()
    if before.is_levels:
        labels = [None if np.isnan(number) else before.levels[int(number)] for number in column]
    elif all(isinstance(level, str) for level in kind.levels):
        if not kind.is_number:  # predictions of linear equations lie between levels
            refuse_other_numbers(name, column, kind)
        return np.asarray(column, np.float64)
    return encode_as(name, labels, kind).numbers


def refuse_other_numbers(name: str, column: NDArray[Any], kind: ColumnKind) -> None:
    """Refuse a column with numbers that are not those of levels."""
    present = column[~np.isnan(column)]
    outside = (present != np.round(present)) | (present < 0) | (present >= len(kind.levels))
    if outside.any():
        raise DataError(
            f"column {name!r} has the number {present[outside][0]:g}, which is not a level: "
            f"give its labels ({name_list(kind.levels)}), or their numbers from 0 to "
            f"{len(kind.levels) - 1}."
        )
