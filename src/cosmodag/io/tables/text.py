"""Tables from text files: CSV, TSV and TXT.

A text table is read by pandas' C parser, but its first line, separator, encoding and decimal mark
are examined here, because pandas silently accepts doubtful files: if a row is too long, the first
column becomes an index; a short row is filled with NaN; and repeated names are changed.
"""

import csv
import itertools
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cosmodag.errors import DataError, DataWarning
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import default_names, header_names, is_number
from cosmodag.io.columns.refused import has_decimal_commas, thousands_of
from cosmodag.io.files.reading import UTF_8, not_utf_8, opened_bytes, opened_text, other_format
from cosmodag.warning_filters import ignoring

if TYPE_CHECKING:
    import pandas as pd

WHITESPACE = r"\s+"
"""The separator of fields separated by runs of spaces, in pandas' notation."""

# A comma comes after the semicolon: in 'a;b' over '1,5;2,5' the commas are decimal marks.
_SEPARATORS = (";", "\t", ",", "|")

Decimal = Literal["auto", ".", ","]
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


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


def refuse_ragged(path: Path, source: str, separator: str, width: int | None, encoding: str) -> int:
    """Refuse a line whose number of fields is not ``width`` (None: that of the first line).

    Returns the width.
    """
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
                    f"line {line} of {source} has {counted(len(record), 'field')} where {width} "
                    f"are expected: give every line as many fields as the first{title}."
                )
            line = reader.line_num + 1
    return width or 0


WORDS = "words"
"""Key of the attribute of a data frame that holds words for missing values.

These are the entries of text columns that pandas reads as missing, although they are not empty: a
Series of words, NaN elsewhere, by the place of the column.
"""


def read_text_table(
    path: Path, source: str, separator: str | None, header: bool, decimal: Decimal
) -> "pd.DataFrame":
    """Read all columns of a text table into a data frame, whose attribute `WORDS` is set.

    A separator of None is detected from the first two records. With decimal "auto", decimal commas
    are recognised, with a warning, unless the separator is a comma.
    """
    encoding = _encoding(path, source)
    try:
        with opened_text(path, source, encoding) as handle:
            records = list(itertools.islice(records_of(handle), 2))
        if not records:
            raise DataError(f"{source} is empty: it has no columns and no rows.")
        separator = separator or find_separator(records, spaces=True)
        first = fields(records[0], separator)
        names = header_names(first, source) if header else default_names(first, source)
        frame = _parse(path, source, encoding, separator, header, decimal)
        if len(frame) == 0:
            frame = frame.reindex(columns=range(len(first)))
        # pandas fills short rows with missing values: distinguish these from empty fields.
        if frame.shape[1] != len(first) or frame.iloc[:, -1].isna().any():
            refuse_ragged(path, source, separator, len(first), encoding)
        if frame.shape[1] != len(first):
            raise _unreadable(source, len(first))
    except csv.Error as error:
        raise DataError(f"{source} cannot be read as a table: {error}.") from error
    frame.columns = names
    if decimal == "auto" and separator != ",":
        has_commas = _read_decimal_commas(frame, source)
        if separator == ";" and not has_commas:
            _refuse_grouped_points(path, source, encoding, header, frame)
    if frame.columns[-1] == "" and frame.iloc[:, -1].isna().all():
        frame = frame.iloc[:, :-1]  # every line ends in a separator
    frame.attrs[WORDS] = _words(path, source, encoding, separator, header, frame)
    return frame


def _words(
    path: Path, source: str, encoding: str, separator: str, header: bool, frame: "pd.DataFrame"
) -> "dict[int, pd.Series]":
    """Find the words that were read as missing values, such as None, in columns of text."""
    import pandas as pd

    places = [
        place
        for place, dtype in enumerate(frame.dtypes)
        if (absent := frame.iloc[:, place].isna()).any()
        and (absent.all() or not pd.api.types.is_numeric_dtype(dtype))
    ]
    if not places:
        return {}
    texts = _parse(path, source, encoding, separator, header, ".", as_text=places, all_words=True)
    found = {}
    for number, place in enumerate(places):
        words = texts.iloc[:, number].where(frame.iloc[:, place].isna())
        if words.notna().any():
            found[place] = words
    return found


def _parse(
    path: Path,
    source: str,
    encoding: str,
    separator: str,
    skip: bool,
    decimal: Decimal,
    as_text: Sequence[int] | None = None,
    all_words: bool = False,
) -> "pd.DataFrame":
    """Read the records by pandas, after the header if it is to be skipped.

    With `as_text`, only the columns at these places are read, as text. With `all_words`, only empty
    fields are missing values, not words such as NA.
    """
    import pandas as pd

    # Correctly rounded floats: the option is needed before pandas 3.1, which warns about it.
    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    exact: dict[str, Any] = {} if version >= (3, 1) else {"float_precision": "round_trip"}
    with opened_text(path, source, encoding) as handle, ignoring(pd.errors.DtypeWarning):
        if skip:
            next(records_of(handle))
        try:
            frame: pd.DataFrame = pd.read_csv(
                handle,
                sep=separator,
                header=None,
                low_memory=False,
                skipinitialspace=separator != WHITESPACE,
                decimal="," if decimal == "," else ".",
                usecols=None if as_text is None else list(as_text),
                dtype=None if as_text is None else str,
                keep_default_na=not all_words,
                na_values=[""],
                **exact,
            )
            return frame
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        except (pd.errors.ParserError, OverflowError) as error:
            # pandas says this of an exception without a message, and only an interrupt has none.
            if "Calling read(nbytes) on source failed" in str(error):
                raise KeyboardInterrupt from error
            width = refuse_ragged(path, source, separator, None, encoding)
            raise _unreadable(source, width) from error


def _unreadable(source: str, width: int) -> DataError:
    return DataError(
        f"{source} cannot be read as a table of {counted(width, 'column')}: check its quotes, "
        "separators and line ends."
    )


def _read_decimal_commas(frame: "pd.DataFrame", source: str) -> bool:
    """Convert columns of numbers with decimal commas, in place, and warn about them.

    Returns whether there are any. Commas that may as well separate thousands are refused.
    """
    import pandas as pd

    places = [
        place
        for place in range(frame.shape[1])
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[place])
        and has_decimal_commas(frame.iloc[:, place])
    ]
    if not places:
        return False
    points = [
        str(frame.columns[place])
        for place in range(frame.shape[1])
        if frame.dtypes.iloc[place].kind == "f" and (frame.iloc[:, place].dropna() % 1 != 0).any()
    ]
    name = str(frame.columns[places[0]])
    if points:
        raise DataError(
            f"{source} has decimal commas in column {name!r} and decimal points in column "
            f"{points[0]!r}: write all decimals with a point."
        )
    grouped = [thousands_of(_texts(frame.iloc[:, place]), ",") for place in places]
    if all(grouped):
        raise _ambiguous(source, name, ",", grouped[0])
    for place in places:
        texts = frame.iloc[:, place].astype("string").str.strip().str.replace(",", ".")
        frame.isetitem(place, pd.to_numeric(texts).to_numpy(dtype=float, na_value=np.nan))
    warnings.warn(
        f"{source} writes decimals with a comma, for example in column {name!r}, and was read "
        "accordingly (decimal=',', --decimal ,).",
        DataWarning,
        stacklevel=6,
    )
    return True


def _refuse_grouped_points(
    path: Path, source: str, encoding: str, header: bool, frame: "pd.DataFrame"
) -> None:
    """Refuse points that may as well separate thousands, which a semicolon between fields suggests.

    Only columns whose numbers allow this are read again, as text.
    """
    for place in range(frame.shape[1]):
        if frame.dtypes.iloc[place].kind != "f":
            continue
        values = np.abs(frame.iloc[:, place].dropna().to_numpy())
        if not len(values):
            continue
        is_whole = values == np.round(values)
        if (values < 1000).all() and (values[~is_whole] >= 1).all() and 0 < is_whole.mean() < 1:
            column = _parse(path, source, encoding, ";", header, ".", as_text=[place]).iloc[:, 0]
            found = thousands_of(_texts(column), ".")
            if found is not None:
                raise _ambiguous(source, str(frame.columns[place]), ".", found)


def _texts(column: "pd.Series") -> list[str]:
    return [str(value).strip() for value in column.dropna()]


def _ambiguous(source: str, name: str, mark: str, found: tuple[str, str] | None) -> DataError:
    short, long = found or ("", "")
    return DataError(
        f"column {name!r} of {source} has the values {short!r} and {long!r}: write numbers without "
        f"thousands separators, or, if {mark!r} is the decimal mark, say so (decimal={mark!r}, "
        f"--decimal {mark})."
    )


def _encoding(path: str | os.PathLike[str], source: str) -> str:
    """Detect the encoding of a text file: UTF-8, UTF-16 with a byte order mark, or Windows-1252.

    Spreadsheet programs of Western systems write Windows-1252. Since almost any bytes are valid in
    it, it is accepted only without control characters, and with a warning.
    """
    with opened_bytes(path, source) as handle:
        content = handle.read()
    if content.startswith(_UTF_16):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        if other_format(path) or not _is_windows_text(content):
            raise not_utf_8(path, source, error) from error
        warnings.warn(
            f"{source} is not UTF-8 text and was read as Windows-1252: check accented letters in "
            "its names, or save it as UTF-8.",
            DataWarning,
            stacklevel=6,
        )
        return "cp1252"
    return UTF_8


def _is_windows_text(content: bytes) -> bool:
    if any(byte < 32 and byte not in b"\t\r\n" for byte in set(content)):
        return False
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True
