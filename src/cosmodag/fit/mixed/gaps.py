"""Missing levels: drawn as indicators from a normal distribution, then turned into levels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.io.kinds import ColumnKind

__all__ = ["LevelColumns"]


@dataclass(frozen=True)
class LevelColumns:
    """A table in which a category of k levels is k − 1 columns of zeros and ones.

    Ordered levels stay one column. A drawn value is not yet a level: of a category, the level of
    the largest indicator is taken, the first having one less the sum of the others; of ordered
    levels, the nearest.

    Attributes
    ----------
    kinds
        Kinds of the columns of the table.

    Examples
    --------
    >>> columns = LevelColumns((ColumnKind("continuous"), ColumnKind("categorical", tuple("abc"))))
    >>> columns.expanded(np.array([[0.5, 2.0], [1.5, np.nan]])).tolist()
    [[0.5, 0.0, 1.0], [1.5, nan, nan]]
    >>> columns.collapsed(np.array([[0.5, 0.0, 1.0], [1.5, 0.6, 0.1]])).tolist()
    [[0.5, 2.0], [1.5, 1.0]]
    """

    kinds: Sequence[ColumnKind]

    @property
    def are_ordered(self) -> bool:
        """Whether no column is a category of more than two levels."""
        return all(kind.is_number for kind in self.kinds)

    def expanded(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Replace the numbers of levels by indicators; missing ones stay missing."""
        columns = []
        for v, kind in enumerate(self.kinds):
            column = X[:, [v]]
            if not kind.is_number:
                indicators = column == np.arange(1, len(kind.levels))
                column = np.where(np.isnan(column), np.nan, indicators.astype(np.float64))
            columns.append(column)
        return np.hstack(columns)

    def collapsed(self, filled: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn indicators, and values between ordered levels, into numbers of levels."""
        columns, first = [], 0
        for kind in self.kinds:
            width = 1 if kind.is_number else len(kind.levels) - 1
            part = filled[:, first : first + width]
            first += width
            if not kind.is_number:
                reference = 1 - part.sum(axis=1, keepdims=True)
                part = np.argmax(np.hstack([reference, part]), axis=1)[:, None]
            elif kind.is_levels:
                part = np.clip(np.rint(part), 0, len(kind.levels) - 1)
            columns.append(np.asarray(part, np.float64))
        return np.hstack(columns)
