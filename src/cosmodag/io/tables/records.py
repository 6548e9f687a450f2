"""Records of CSV files: detection of the separator, and refusal of files without a table."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cosmodag.errors import DataError
from cosmodag.io.columns.names import is_number
from cosmodag.io.files.reading import opened_text

__all__ = ["WHITESPACE", "fields", "find_separator", "records_of", "refuse_ragged"]

WHITESPACE = r"\s+"
"""Separator of fields that spaces separate, as pandas spells it."""

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


def find_separator(records: Sequence[str], spaces: bool = False) -> str:
    """Find the separator that splits the first records into the same number (> 1) of fields.

    With ``spaces``, runs of spaces are a candidate where no other character separates fields.
    """
    counts = {
        separator: [_count(record, separator) for record in records] for separator in _SEPARATORS
    }
    for separator in _SEPARATORS:
        if counts[separator][0] > 1 and len(set(counts[separator])) == 1:
            return separator
    if spaces and all(count[0] <= 1 for count in counts.values()) and _is_spaced(records):
        return WHITESPACE
    return max((",", ";", "\t", "|"), key=lambda separator: counts[separator][0])


def _is_spaced(records: Sequence[str]) -> bool:
    """Whether spaces split records into equal numbers of fields, and the last into numbers."""
    split = [fields(record, WHITESPACE) for record in records]
    return (
        len({len(each) for each in split}) == 1
        and len(split[0]) > 1
        and all(is_number(text) for text in split[-1])
    )


def _count(record: str, separator: str) -> int:
    try:
        return len(fields(record, separator))
    except csv.Error:  # with another separator, the line end would be within quotes
        return 0


def fields(record: str, separator: str) -> list[str]:
    """Split one record into its fields."""
    if separator == WHITESPACE:
        record, separator = " ".join(record.split()), " "
    return next(csv.reader([record], delimiter=separator, skipinitialspace=True), [])


def refuse_ragged(path: Path, source: str, separator: str, width: int | None, encoding: str) -> int:
    """Refuse the first line whose number of fields is not ``width`` (that of the first line)."""
    with opened_text(path, source, encoding) as handle:
        lines: Iterable[str] = handle
        if separator == WHITESPACE:
            lines, separator = (" ".join(line.split()) + "\n" for line in handle), " "
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
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
