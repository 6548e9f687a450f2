"""Kinds of columns: continuous, binary, categorical, ordinal and count."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["continuous", "binary", "categorical", "ordinal", "count"]
KINDS: tuple[Kind, ...] = ("continuous", "binary", "categorical", "ordinal", "count")


@dataclass(frozen=True)
class ColumnKind:
    """The kind of one column: what its numbers mean.

    Attributes
    ----------
    kind
        Columns of text, and columns of numbers that are declared to be categories, hold the numbers
        0, 1, … of their levels; those of text are binary, categorical or ordinal. Other columns of
        numbers keep their values.
    levels
        Labels of the levels, in the order of their numbers; empty if the column keeps its values.
    reason
        The reason for the kind, in a few words: "text, 3 levels". Empty for a column of numbers
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
        """Whether the numbers are ordered, so that the column can enter an equation unchanged."""
        return self.kind != "categorical" or len(self.levels) <= 2

    def facts(self) -> dict[str, Any]:
        """Return the kind as a dictionary of plain values, for JSON."""
        return {"kind": self.kind, "levels": list(self.levels), "reason": self.reason}


NOT_EXAMINED = ColumnKind("continuous")
"""The kind of a column of numbers whose values were not examined."""


def kind_of_levels(levels: int, ordered: bool = False) -> Kind:
    """Return the kind of a column of labels: binary for two levels, else ordinal or categorical."""
    if levels == 2:
        return "binary"
    return "ordinal" if ordered and levels > 2 else "categorical"


def label_of(value: Any) -> Any:
    """Convert a label to text, a number or a Boolean, which files can hold.

    >>> import datetime
    >>> label_of("north"), label_of(2.0), label_of(datetime.date(2024, 1, 2))
    ('north', 2, '2024-01-02')
    """
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | bool | int | float) else str(value)
