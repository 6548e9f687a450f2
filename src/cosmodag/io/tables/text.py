"""Tables from text files: CSV, TSV and TXT.

A text table is read by pandas' C parser, but its first line, separator, encoding and decimal mark
are examined here, because pandas silently accepts doubtful files: a longer row makes the first
column an index, a shorter one is filled with NaN, and repeated names are changed.
"""

import csv
import itertools
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cosmodag.errors import DataError, DataWarning
from cosmodag.io.columns.names import header_names, made_up_names
from cosmodag.io.columns.refused import has_decimal_commas
from cosmodag.io.files.reading import UTF_8, not_utf_8, opened_bytes, opened_text, other_format
from cosmodag.io.tables.records import (
    WHITESPACE,
    fields,
    find_separator,
    records_of,
    refuse_ragged,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Decimal", "read_text_table"]

Decimal = Literal["auto", ".", ","]

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_text_table(
    path: Path, source: str, separator: str | None, header: bool, decimal: Decimal
) -> "pd.DataFrame":
    """Read all columns of a text table into a data frame.

    A separator of None is found from the first two records. The decimal mark "auto" recognises
    decimal commas where another character separates the fields, and warns that it did.
    """
    encoding = _encoding(path, source)
    try:
        with opened_text(path, source, encoding) as handle:
            records = list(itertools.islice(records_of(handle), 2))
        if not records:
            raise DataError(f"{source} is empty: it has no columns and no rows.")
        separator = separator or find_separator(records, spaces=True)
        first = fields(records[0], separator)
        names = header_names(first, source) if header else made_up_names(first, source)
        frame = _parse(path, source, encoding, separator, header, decimal)
        if len(frame) == 0:
            frame = frame.reindex(columns=range(len(first)))
        # pandas fills a short row with missing values: distinguish it from real missing values.
        if frame.shape[1] != len(first) or frame.iloc[:, -1].isna().any():
            refuse_ragged(path, source, separator, len(first), encoding)
        if frame.shape[1] != len(first):
            raise _unreadable(source, len(first))
    except csv.Error as error:
        raise DataError(f"{source} cannot be read as a table: {error}.") from error
    frame.columns = names
    if decimal == "auto" and separator != ",":
        _read_decimal_commas(frame, source)
    if frame.columns[-1] == "" and frame.iloc[:, -1].isna().all():
        return frame.iloc[:, :-1]  # a separator at the end of every line makes an empty column
    return frame


def _parse(
    path: Path, source: str, encoding: str, separator: str, skip: bool, decimal: Decimal
) -> "pd.DataFrame":
    """Read the records by pandas, after the header if there is one."""
    import pandas as pd

    with opened_text(path, source, encoding) as handle, warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
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
                **_exact_floats(pd.__version__),
            )
            return frame
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        except (pd.errors.ParserError, OverflowError) as error:
            width = refuse_ragged(path, source, separator, None, encoding)
            raise _unreadable(source, width) from error


def _unreadable(source: str, width: int) -> DataError:
    return DataError(
        f"{source} cannot be read as a table of {width} columns: check its quotes, separators and "
        "line ends."
    )


def _exact_floats(pandas_version: str) -> dict[str, Any]:
    """Options for correctly rounded floats; since 3.1 pandas needs none, and warns about them."""
    major, minor = (int(part) for part in pandas_version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _read_decimal_commas(frame: "pd.DataFrame", source: str) -> None:
    """Convert, in place, columns of text whose values are numbers with decimal commas."""
    import pandas as pd

    places = [
        place
        for place in range(frame.shape[1])
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[place])
        and has_decimal_commas(frame.iloc[:, place])
    ]
    if not places:
        return
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
    for place in places:
        texts = frame.iloc[:, place].astype("string").str.strip().str.replace(",", ".")
        frame.isetitem(place, pd.to_numeric(texts).to_numpy(dtype=float, na_value=np.nan))
    warnings.warn(
        f"{source} writes decimals with a comma, for example in column {name!r}, and was read "
        "accordingly (decimal=',', --decimal ,).",
        DataWarning,
        stacklevel=6,
    )


def _encoding(path: str | os.PathLike[str], source: str) -> str:
    """Find the encoding of a text file: UTF-8, UTF-16 with its mark, or Windows-1252.

    Spreadsheets of Western systems write Windows-1252, in which almost any bytes are text: it is
    accepted only without control characters, and with a warning.
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
