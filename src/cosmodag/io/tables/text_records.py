"""Records of text tables: separators, quotes and fields."""

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence

from cosmodag.io.columns.names import is_number

WHITESPACE = r"\s+"
"""The separator of fields separated by runs of spaces, in pandas' notation."""

# A comma comes after the semicolon: in 'a;b' over '1,5;2,5' the commas are decimal marks.
_SEPARATORS = (";", "\t", ",", "|")


def records_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of each record that is not blank; quoted fields may contain line ends.

    A quotation mark that is still open after the maximum length of a field is refused, so that an
    unmatched one does not consume the whole file.
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


def first_records(lines: Iterable[str]) -> list[str]:
    """Return the first two records, which show the separator."""
    return list(itertools.islice(records_of(lines), 2))


def _unless_blank(lines: list[str]) -> Iterator[str]:
    record = "".join(lines)
    if record.strip():
        yield record


def find_separator(records: Sequence[str], spaces: bool = False) -> str:
    """Find the separator that splits the first records into equal numbers (> 1) of fields.

    With ``spaces``, runs of spaces are tried if no other character separates fields.
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
    """Whether spaces split the records into equally many fields, and the last into numbers."""
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
