"""Records of CSV files: detection of the separator, and refusal of files without a table."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cosmodag.errors import DataError
from cosmodag.io.columns import is_number
from cosmodag.io.files import opened_text

__all__ = ["fields", "find_separator", "records_of", "refuse_blanks", "refuse_ragged"]

# A comma comes after the semicolon: in 'a;b' over '1,5;2,5' the commas are decimal marks.
_SEPARATORS = (";", "\t", ",", "|")


def records_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of each record that is not blank; quoted fields may contain line ends.

    A quote that is still open after the maximum length of a field is refused, so that an unmatched
    quote does not consume the whole file.
    """
    pending: list[str] = []
    is_open = False
    characters = 0
    for line in lines:
        pending.append(line)
        quotes = line.count('"')
        is_open ^= quotes % 2 == 1
        characters = 0 if quotes else characters + len(line)
        if is_open and characters > csv.field_size_limit():
            raise csv.Error("a quotation mark is opened and never closed")
        if not is_open:
            yield from _unless_blank(pending)
            pending = []
    yield from _unless_blank(pending)


def _unless_blank(lines: list[str]) -> Iterator[str]:
    record = "".join(lines)
    if record.strip():
        yield record


def find_separator(records: Sequence[str]) -> str:
    """Find the separator that splits the first records into the same number (> 1) of fields."""
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
    except csv.Error:  # with another separator, the line end would be within quotes
        return 0


def fields(record: str, separator: str) -> list[str]:
    """Split one record into its fields."""
    return next(csv.reader([record], delimiter=separator, skipinitialspace=True))


def refuse_blanks(records: list[str], separator: str, source: str) -> None:
    """Refuse numbers separated by spaces, which would be read as one column of text."""
    last = records[-1]
    cut = last.split()
    if len(fields(last, separator)) == 1 and len(cut) > 1 and all(map(is_number, cut)):
        raise DataError(f"{source} separates its fields by spaces: use commas or tabs.")


def refuse_ragged(path: Path, source: str, separator: str, width: int | None) -> int:
    """Refuse the first line whose number of fields is not ``width`` (that of the first line)."""
    with opened_text(path, source) as handle:
        reader = csv.reader(handle, delimiter=separator, skipinitialspace=True)
        line = 1
        for record in reader:
            if record and width is None:
                width = len(record)
            if record and len(record) != width:
                title = " (remove titles and comments above the names)" if width == 1 else ""
                raise DataError(
                    f"line {line} of {source} has {len(record)} field(s) where {width} are "
                    f"expected: give every line as many fields as the first{title}."
                )
            line = reader.line_num + 1
    return width or 0
