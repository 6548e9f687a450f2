"""The first records of a CSV file, and the separator that cuts them into fields."""

import csv
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["fields", "find_separator", "records_of"]

# A comma comes after the semicolon: in 'a;b' over '1,5;2,5' the commas are decimal marks.
_SEPARATORS = (";", "\t", ",", "|")


def records_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of each record that is not blank; quoted fields may hold line ends."""
    pending = ""
    for line in lines:
        pending += line
        if pending.count('"') % 2 == 0:
            if pending.strip():
                yield pending
            pending = ""
    if pending.strip():
        yield pending


def find_separator(records: Sequence[str]) -> str:
    """Find the separator that cuts the first records into the same number (> 1) of fields."""
    counts = {
        separator: [_count(record, separator) for record in records] for separator in _SEPARATORS
    }
    for separator in _SEPARATORS:
        if counts[separator][0] > 1 and len(set(counts[separator])) == 1:
            return separator
    return max((",", ";", "\t", "|"), key=lambda separator: counts[separator][0])


def _count(record: str, separator: str) -> int:
    try:
        return len(fields(record, separator))
    except csv.Error:  # a line end that only another separator leaves within quotes
        return 0


def fields(record: str, separator: str) -> list[str]:
    """Cut one record into its fields."""
    return next(csv.reader([record], delimiter=separator, skipinitialspace=True))
