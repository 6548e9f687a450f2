"""Kinds of columns: numbers on a scale, categories, ordered levels and counts."""

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["KINDS", "ColumnKind", "Kind"]

Kind = Literal["continuous", "binary", "categorical", "ordinal", "count"]
KINDS: tuple[Kind, ...] = ("continuous", "binary", "categorical", "ordinal", "count")


@dataclass(frozen=True)
class ColumnKind:
    """What the numbers of one column mean.

    Attributes
    ----------
    kind
        Continuous columns and counts hold their own values; all others hold the numbers 0, 1, … of
        their levels.
    levels
        Labels of the levels, in the order of their numbers; none for continuous columns, counts.
    reason
        Why the column is taken for this kind, as a sentence's end: "its 3 values are text".
    """

    kind: Kind
    levels: tuple[Any, ...] = ()
    reason: str = ""

    @property
    def is_levels(self) -> bool:
        """Whether the column holds numbers of levels rather than values."""
        return bool(self.levels)
