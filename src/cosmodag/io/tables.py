"""Tables from files: CSV, TSV, Parquet and NumPy ``.npy``, told apart by the end of the name.

A CSV is read by pandas' C parser, but its first line and its separator are looked at here, since
what pandas does in doubtful cases (a longer row makes the first column an index, a shorter one is
filled with NaN, repeated names are changed) would pass silently.
"""

import csv
import itertools
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.columns import check_names, not_numbers
from cosmodag.io.files import check_file, fields, find_separator, opened_text, records_of
from cosmodag.io.frames import Missing, Table, as_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Missing", "Table", "as_table", "read_table", "read_with_labels"]


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
    return _checked(_read(Path(path), header), f"'{path}'", missing)


def read_with_labels(
    path: str | os.PathLike[str], column: str, header: bool = True, missing: Missing = "error"
) -> tuple[Table, list[Any]]:
    r"""Read a table of numbers, and apart from it one column of labels, of any kind.

    Parameters
    ----------
    path, header, missing
        As for `read_table`; a row that is dropped loses its label too.
    column : str
        The name of the column of labels.

    Returns
    -------
    Table, list
        The table without the column, and the labels; a missing one is None.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trial.csv"
    >>> _ = path.write_text("dose,response,target\n1,2.5,dose\n2,4.5,\n")
    >>> table, labels = read_with_labels(path, "target")
    >>> table.names, labels
    (['dose', 'response'], ['dose', None])
    """
    source = f"'{path}'"
    frame = _read(Path(path), header, apart=column)
    if not hasattr(frame, "columns") or column not in list(frame.columns):
        raise _no_column(source, column)
    labels = frame[column]
    rest = frame.drop(columns=column)
    if missing == "drop":
        complete = rest.notna().all(axis=1)
        labels = labels[complete]
    table = _checked(rest, source, missing)
    return table, [
        None if absent else label for label, absent in zip(labels, labels.isna(), strict=True)
    ]


def _no_column(source: str, column: str) -> DataError:
    return DataError(f"{source} has no column {column!r}.")


def _checked(data: Any, source: str, missing: Missing) -> Table:
    table = as_table(
        data,
        missing=missing,
        source=source,
        remedy="fill them in, or drop the rows that hold them with missing='drop' (--missing drop)",
    )
    return Table(table.X.astype(np.float64, copy=False), table.names)


def _read(path: Path, header: bool, apart: str | None = None) -> Any:
    """Read a file into a data frame or array; one column may hold anything."""
    source = f"'{path}'"
    suffix = path.suffix.lower()
    readers: dict[str, Any] = {
        ".csv": lambda: _read_text(path, source, None, header, apart),
        ".tsv": lambda: _read_text(path, source, "\t", header, apart),
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
    return readers[suffix]()


def _read_text(
    path: Path, source: str, separator: str | None, header: bool, apart: str | None = None
) -> "pd.DataFrame":
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
    if apart is not None and apart not in names:
        raise _no_column(source, apart)
    _refuse_text(frame.drop(columns=[apart], errors="ignore") if apart else frame, source)
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
