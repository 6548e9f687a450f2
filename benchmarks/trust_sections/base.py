"""Helpers of pages with sections: cells to measure, rows of the page and of its CSV file."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

Found = dict[str, float]
"""Figures of one table, by name."""


@dataclass(frozen=True)
class Cell:
    """One kind of table, of which many are drawn.

    Attributes
    ----------
    section
        Name of the section's module.
    table
        Name of the kind, unique within the section.
    settings
        Arguments with which `measure` draws a table; must be picklable.
    """

    section: str
    table: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One line of the page.

    Attributes
    ----------
    section, table, figure
        The measured quantity; together they identify the row.
    target
        In words, such as ``"≤ .02"``; empty where there is none.
    now
        The figure.
    met
        Whether the target was reached; None where there is none.
    tables
        Number of tables from which the figure is computed.
    note
        Further information about the figure.
    """

    section: str
    table: str
    figure: str
    target: str
    now: float | str
    met: bool | None
    tables: int
    note: str = ""


def values(found: Iterable[Found], name: str) -> np.ndarray:
    """Collect one figure of many tables; tables without it are left out."""
    numbers = np.array([one[name] for one in found if name in one], np.float64)
    return numbers[np.isfinite(numbers)]


def mean_row(
    cell: Cell,
    found: Sequence[Found],
    name: str,
    figure: str,
    target: str = "",
    is_met: Callable[[float], bool] | None = None,
    note: str = "",
) -> list[Row]:
    """Make a row of the mean of one figure; no row if no table has it.

    The standard error is given in the note.
    """
    numbers = values(found, name)
    if not len(numbers):
        return []
    mean = float(numbers.mean())
    if len(numbers) > 1:
        error = float(numbers.std(ddof=1) / np.sqrt(len(numbers)))
        note = f"± {error:.3g}" + (f"; {note}" if note else "")
    met = None if is_met is None else is_met(mean)
    return [Row(cell.section, cell.table, figure, target, mean, met, len(numbers), note)]


def as_text(row: Row) -> dict[str, str]:
    """Convert the fields of a row to text, as in the CSV file."""
    entries = asdict(row)
    if isinstance(row.now, float):
        entries["now"] = f"{row.now:.3g}"
    return {name: "" if value is None else str(value) for name, value in entries.items()}


def read_lines(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_lines(path: Path, lines: list[dict[str, str]]) -> None:
    """Write rows to a CSV file, each with its date and machine."""
    names = [*(field.name for field in fields(Row)), "measured"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
