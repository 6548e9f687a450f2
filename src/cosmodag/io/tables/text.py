"""Tables from text files: CSV, TSV and TXT.

A text table is read by pandas' C parser, but its first line, separator, encoding and decimal mark
are examined here, because pandas silently accepts doubtful files: if a row is too long, the first
column becomes an index; a short row is filled with NaN; and repeated names are changed.
"""

import csv
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from cosmodag.errors import DataError, DataWarning
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import default_names, header_names
from cosmodag.io.files.reading import UTF_8, not_utf_8, opened_bytes, opened_text, other_format
from cosmodag.io.tables.decimals import read_decimal_commas
from cosmodag.io.tables.text_records import (
    WHITESPACE,
    fields,
    find_separator,
    first_records,
    records_of,
)
from cosmodag.runtime.warning_filters import ignoring

if TYPE_CHECKING:
    import pandas as pd

Decimal = Literal["auto", ".", ","]
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

WORDS = "words"
"""Key of the attribute of a data frame that holds words for missing values.

These are the entries of text columns that pandas reads as missing, although they are not empty: a
Series of words, NaN elsewhere, by the place of the column.
"""


@dataclass(frozen=True)
class TextLayout:
    """How a text file is laid out; see `read_table`."""

    header: bool = True
    decimal: Decimal = "auto"
    thousands: str | None = None
    skip_rows: frozenset[int] = frozenset()
    na: tuple[str, ...] = ()


def read_text_table(
    path: Path, source: str, separator: str | None, layout: TextLayout
) -> "pd.DataFrame":
    """Read all columns of a text table into a data frame, whose attribute `WORDS` is set.

    A separator of None is detected from the first two records. With decimal "auto", decimal commas
    are recognised, with a warning, unless the separator is a comma.
    """
    encoding = _encoding(path, source)
    try:
        with _opened(path, source, encoding, layout.skip_rows) as handle:
            records = first_records(handle)
        if not records:
            raise DataError(f"{source} is empty: it has no columns and no rows.")
        separator = separator or find_separator(records, spaces=True)
        first = fields(records[0], separator)
        names = header_names(first, source) if layout.header else default_names(first, source)
        file = _TextFile(path, source, encoding, separator, layout)
        frame = file.parsed()
        if len(frame) == 0:
            frame = frame.reindex(columns=range(len(first)))
        # pandas fills short rows with missing values: distinguish these from empty fields.
        if frame.shape[1] != len(first) or frame.iloc[:, -1].isna().any():
            file.refuse_ragged(len(first))
        if frame.shape[1] != len(first):
            raise file.unreadable(len(first))
    except csv.Error as error:
        raise DataError(f"{source} cannot be read as a table: {error}.") from error
    frame.columns = names
    if layout.decimal == "auto" and layout.thousands is None and separator != ",":
        read_decimal_commas(frame, source)
    if frame.columns[-1] == "" and frame.iloc[:, -1].isna().all():
        frame = frame.iloc[:, :-1]  # every line ends in a separator
    frame.attrs[WORDS] = _words(file, frame)
    return frame


@dataclass(frozen=True)
class _TextFile:
    """A text table whose encoding and separator are known; messages call it ``source``."""

    path: Path
    source: str
    encoding: str
    separator: str
    layout: TextLayout

    def parsed(self) -> "pd.DataFrame":
        """Parse all columns by pandas; words such as NA are missing values."""
        layout = self.layout
        is_comma = layout.decimal == "," or (layout.decimal == "auto" and layout.thousands == ".")
        decimal = "," if is_comma else "."
        if layout.thousands == decimal:
            raise DataError(
                f"{decimal!r} cannot separate thousands and decimals: give another --thousands or "
                "--decimal."
            )
        return self._read(decimal=decimal, thousands=layout.thousands, na_values=["", *layout.na])

    def texts(self, places: list[int]) -> "pd.DataFrame":
        """Return the columns at these places as text, in which only empty fields are missing."""
        return self._read(usecols=places, dtype=str, keep_default_na=False, na_values=[""])

    def _read(self, **options: Any) -> "pd.DataFrame":
        import pandas as pd

        # Correctly rounded floats: the option is needed before pandas 3.1, which warns about it.
        if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
            options["float_precision"] = "round_trip"
        with self._opened() as handle, ignoring(pd.errors.DtypeWarning):
            if self.layout.header:
                next(records_of(handle))
            try:
                frame: pd.DataFrame = pd.read_csv(
                    handle,
                    sep=self.separator,
                    header=None,
                    low_memory=False,
                    skipinitialspace=self.separator != WHITESPACE,
                    **options,
                )
                return frame
            except pd.errors.EmptyDataError:
                return pd.DataFrame()
            except (pd.errors.ParserError, OverflowError) as error:
                # pandas says this of an exception without a message, and only an interrupt has
                # none.
                if "Calling read(nbytes) on source failed" in str(error):
                    raise KeyboardInterrupt from error
                raise self.unreadable(self.refuse_ragged(None)) from error

    def _opened(self) -> AbstractContextManager[TextIO]:
        return _opened(self.path, self.source, self.encoding, self.layout.skip_rows)

    def refuse_ragged(self, width: int | None) -> int:
        """Refuse a line whose number of fields is not ``width`` (None: that of the first line).

        Returns the width.
        """
        with self._opened() as handle:
            lines: Iterable[str] = handle
            separator = self.separator
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
                        f"line {line} of {self.source} has {counted(len(record), 'field')} where "
                        f"{width} are expected: give every line as many fields as the first{title}."
                    )
                line = reader.line_num + 1
        return width or 0

    def unreadable(self, width: int) -> DataError:
        return DataError(
            f"{self.source} cannot be read as a table of {counted(width, 'column')}: check its "
            "quotes, separators and line ends."
        )


@contextmanager
def _opened(path: Path, source: str, encoding: str, skip_rows: frozenset[int]) -> Iterator[TextIO]:
    """Open a text file without some of its lines."""
    with opened_text(path, source, encoding) as handle:
        if skip_rows:
            lines = (line for place, line in enumerate(handle, 1) if place not in skip_rows)
            yield StringIO("".join(lines), newline="")
        else:
            yield handle


def _words(file: _TextFile, frame: "pd.DataFrame") -> "dict[int, pd.Series]":
    """Find the words that were read as missing values, such as None, in columns of text.

    Spellings that the user gave for missing values are not words.
    """
    import pandas as pd

    places = [
        place
        for place, dtype in enumerate(frame.dtypes)
        if (absent := frame.iloc[:, place].isna()).any()
        and (absent.all() or not pd.api.types.is_numeric_dtype(dtype))
    ]
    if not places:
        return {}
    texts = file.texts(places)
    texts = texts.mask(texts.isin(file.layout.na))
    found = {
        place: texts.iloc[:, number].where(frame.iloc[:, place].isna())
        for number, place in enumerate(places)
    }
    return {place: words for place, words in found.items() if words.notna().any()}


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
