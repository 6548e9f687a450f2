"""Kinds of columns: numbers on a scale, categories, ordered levels and counts."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["continuous", "binary", "categorical", "ordinal", "count"]
KINDS: tuple[Kind, ...] = ("continuous", "binary", "categorical", "ordinal", "count")


@dataclass(frozen=True)
class ColumnKind:
    """What the numbers of one column mean.

    Attributes
    ----------
    kind
        Categories hold the numbers 0, 1, … of their levels, and so do binary and ordinal columns
        of text. Columns of numbers hold their own values, unless they are said to be categories.
    levels
        Labels of the levels, in the order of their numbers; empty where the column holds its own
        values.
    reason
        What the decision rests on, in a few words: "text, 3 levels". Empty for a column of numbers
        that was not examined (`cosmodag.data.kinds.with_kinds`).
    """

    kind: Kind
    levels: tuple[Any, ...] = ()
    reason: str = ""

    @property
    def is_levels(self) -> bool:
        """Whether the column holds numbers of levels rather than values."""
        return bool(self.levels)

    @property
    def is_number(self) -> bool:
        """Whether the column may stand in an equation as it is: its numbers are ordered."""
        return self.kind != "categorical" or len(self.levels) <= 2

    def facts(self) -> dict[str, Any]:
        """Give the kind as plain values, for JSON."""
        return {"kind": self.kind, "levels": list(self.levels), "reason": self.reason}


NOT_EXAMINED = ColumnKind("continuous")
"""A column of numbers before its values are examined."""


def kind_of_levels(levels: int, ordered: bool = False) -> Kind:
    """Choose the kind of a column of labels: two are binary, more are ordinal or categorical."""
    if levels == 2:
        return "binary"
    return "ordinal" if ordered and levels > 2 else "categorical"


def label_of(value: Any) -> Any:
    """Make a label that files can hold: text, a number or a Boolean; anything else as text.

    >>> import datetime
    >>> label_of("north"), label_of(2.0), label_of(datetime.date(2024, 1, 2))
    ('north', 2, '2024-01-02')
    """
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | bool | int | float) else str(value)
