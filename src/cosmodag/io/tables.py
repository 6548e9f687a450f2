"""Tables from files: CSV, TSV, Parquet and NumPy ``.npy``, told apart by the end of the name.

A CSV is read by pandas' C parser, but its first line and its separator are looked at here, since
what pandas does in doubtful cases (a longer row makes the first column an index, a shorter one is
filled with NaN, repeated names are changed) would pass silently.
"""

import csv
import itertools
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.files import check_file, opened_text
from cosmodag.io.frames import Missing, Table, as_table, check_names, not_numbers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "as_table", "fields", "find_separator", "read_table", "records_of"]

# A comma comes after the semicolon: in 'a;b' over '1,5;2,5' the commas are decimal marks.
_SEPARATORS = (";", "\t", ",", "|")


def read_table(
    path: str | os.PathLike[str], header: bool = True, missing: Missing = "error"
) -> Table:
    r"""Read a table of numbers from a file.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.parquet`` or ``.npy`` file. A CSV is UTF-8; its separator is
        found among comma, semicolon, tab and vertical bar, and decimals are written with a point.
    header : bool
        Whether the first line of a CSV or TSV names the columns; without it they are called
        ``x0, x1, …``.
    missing : {"error", "drop"}
        Refuse missing values, or drop the rows that hold one and warn how many.

    Returns
    -------
    Table
        The matrix ``X`` (n, d) in float64 and the column ``names``.

    Raises
    ------
    DataError
        In one sentence, when the file cannot be used.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trial.csv"
    >>> _ = path.write_text("dose,response\n1,2.5\n2,4.5\n")
    >>> read_table(path).names
    ['dose', 'response']
    """
    path = Path(path)
    source = f"'{path}'"
    suffix = path.suffix.lower()
    readers: dict[str, Any] = {
        ".csv": lambda: _read_text(path, source, None, header),
        ".tsv": lambda: _read_text(path, source, "\t", header),
        ".parquet": lambda: _read_parquet(path, source),
        ".npy": lambda: _read_npy(path, source),
    }
    if path.is_dir() or suffix in readers:
        check_file(path)
    if suffix not in readers:
        raise DataError(
            f"{source} is not a table this can read: give a file that ends in .csv, .tsv, "
            ".parquet or .npy."
        )
    table = as_table(
        readers[suffix](),
        missing=missing,
        source=source,
        remedy="fill them in, or drop the rows that hold them with missing='drop' (--missing drop)",
    )
    return Table(table.X.astype(np.float64, copy=False), table.names)


def _read_text(path: Path, source: str, separator: str | None, header: bool) -> "pd.DataFrame":
    """Read a CSV or TSV into a data frame that carries its names."""
    try:
        with opened_text(path) as handle:
            records = list(itertools.islice(records_of(handle), 2))
        if not records:
            raise DataError(f"{source} is empty: it has no columns and no rows.")
        separator = separator or find_separator(records)
        first = fields(records[0], separator)
        names = _header_names(first, source) if header else _made_up_names(first, source)
        frame = _parse(path, source, separator, skip=header)
        if len(frame) == 0:
            frame = frame.reindex(columns=range(len(first)))
        # A row that is too short ends in missing values: tell it from one that really has them.
        if frame.shape[1] != len(first) or frame.iloc[:, -1].isna().any():
            _refuse_ragged(path, source, separator, len(first))
        if frame.shape[1] != len(first):
            raise _unreadable(source, len(first))
    except csv.Error as error:
        raise DataError(f"{source} cannot be read as a table: {error}.") from error
    frame.columns = names
    _refuse_text(frame, source)
    return frame


def _header_names(first: list[str], source: str) -> list[str]:
    """Column names from the first record; a record of numbers is taken for a missing header."""
    names = [name.strip() for name in first]
    check_names(names, source)
    if all(_is_number(name) for name in names) and not _counts_up(names):
        raise DataError(
            f"the first line of {source} holds numbers where column names are expected "
            f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''}): read it with "
            "header=False (--no-header), or add a line of names."
        )
    return names


def _counts_up(names: list[str]) -> bool:
    """Whether names are 0, 1, 2, …, which is how a nameless data frame is written."""
    return len(names) > 2 and names == [str(index) for index in range(len(names))]


def _made_up_names(first: list[str], source: str) -> list[str]:
    """Names for columns that have none; a record of words is taken for a header."""
    texts = [field for field in first if field.strip() and not _is_number(field)]
    if len(texts) == len(first):
        raise DataError(
            f"the first line of {source} holds words, such as {texts[0]!r}, although it is said to "
            "have no header: read it with header=True (leave out --no-header)."
        )
    return [f"x{index}" for index in range(len(first))]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip().lower() in ("true", "false")
    return True


def _parse(path: Path, source: str, separator: str, skip: bool) -> "pd.DataFrame":
    """Read the records, those after the header if there is one, by pandas."""
    import pandas as pd

    with opened_text(path) as handle, warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        if skip:
            next(records_of(handle))
        try:
            frame: pd.DataFrame = pd.read_csv(
                handle,
                sep=separator,
                header=None,
                low_memory=False,
                skipinitialspace=True,
                **_exact_floats(pd.__version__),
            )
            return frame
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        except (pd.errors.ParserError, OverflowError) as error:
            width = _refuse_ragged(path, source, separator, None)
            raise _unreadable(source, width) from error


def _unreadable(source: str, width: int) -> DataError:
    return DataError(
        f"{source} cannot be read as a table of {width} columns: check its quotes, separators and "
        "line ends."
    )


def _exact_floats(pandas_version: str) -> dict[str, Any]:
    """Ask pandas for correctly rounded floats; since 3.1 it gives no others, and warns if asked."""
    major, minor = (int(part) for part in pandas_version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _refuse_ragged(path: Path, source: str, separator: str, width: int | None) -> int:
    """Name the first line with another number of fields than ``width`` (the first line's)."""
    with opened_text(path) as handle:
        reader = csv.reader(handle, delimiter=separator, skipinitialspace=True)
        line = 1
        for record in reader:
            if record and width is None:
                width = len(record)
            if record and len(record) != width:
                raise DataError(
                    f"line {line} of {source} has {len(record)} field(s) where {width} are "
                    "expected: give every line as many fields as the first."
                )
            line = reader.line_num + 1
    return width or 0


def _refuse_text(frame: "pd.DataFrame", source: str) -> None:
    """Name the first column of a CSV that did not parse as numbers, with the value at fault."""
    import pandas as pd

    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        present = column.dropna()
        kept = present[[str(value) not in ("True", "False") for value in present]]
        wrong = kept[pd.to_numeric(kept, errors="coerce").isna()]
        if len(wrong):
            raise not_numbers(str(name), wrong.iloc[0], source)


def _read_parquet(path: Path, source: str) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(path, engine="pyarrow")
    except ImportError as error:
        raise DataError(f"{source} needs pyarrow to be read: install it.") from error
    except Exception as error:  # pyarrow raises classes of its own for a broken file
        raise DataError(
            f"{source} is not a Parquet file that can be read: write it again."
        ) from error


def _read_npy(path: Path, source: str) -> Any:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(
            f"{source} is not a NumPy file of plain numbers: write it with numpy.save."
        ) from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{source} holds several arrays: save a single one with numpy.save.")
    return array


def records_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of each record that is not blank; quoted fields may hold line ends.

    A quote that is still open after as many characters as a field may have is refused, so that a
    lone one does not swallow the file.
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
