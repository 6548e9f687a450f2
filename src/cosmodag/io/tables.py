"""Tables from files: CSV, TSV, Parquet and NumPy ``.npy``, by file extension.

A CSV is read by pandas' C parser, but its first line and its separator are checked here, because
pandas silently accepts doubtful files: a longer row makes the first column an index, a shorter one
is filled with NaN, and repeated names are changed.
"""

import csv
import itertools
import os
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.columns import (
    check_names,
    choose_columns,
    header_names,
    made_up_names,
    nearest,
    numbered_names,
    refuse_empty,
    refuse_text,
)
from cosmodag.io.files import check_file, given_file, opened_text
from cosmodag.io.frames import Missing, Table, as_table
from cosmodag.io.records import (
    fields,
    find_separator,
    records_of,
    refuse_blanks,
    refuse_ragged,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Missing", "Table", "as_table", "read_table", "read_with_labels"]

_Choose = Callable[[Sequence[str]], list[int]]

# Exceptions of NumPy for files that are not its own: it parses the header as Python literals, and
# opens files that start like an archive as one.
_NOT_NPY = (
    ValueError,
    OverflowError,
    EOFError,
    OSError,
    SyntaxError,
    TokenError,
    RecursionError,
    BadZipFile,
)


def read_table(
    path: str | os.PathLike[str],
    header: bool = True,
    missing: Missing = "error",
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> Table:
    r"""Read a table of numbers from a file.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.csv.gz``, ``.tsv.gz``, ``.parquet`` or ``.npy`` file, or ``-`` for
        standard input. A CSV is UTF-8; its separator is found among comma, semicolon, tab and
        vertical bar, and decimals are written with a point.
    header : bool
        Whether the first line of a CSV or TSV names the columns; without it they are called
        ``x0, x1, …``.
    missing : {"error", "drop", "keep"}
        Refuse missing values; drop the rows that have one, with a warning; or keep them for a
        learner with ``missing="impute"``.
    columns, drop : sequence of str, optional
        Columns to keep, and columns to leave out, by name: see `choose_columns`. Omitted columns
        may hold anything.

    Returns
    -------
    Table
        The matrix ``X`` (n, d) in float64 and the column ``names``.

    Raises
    ------
    DataError
        If the file cannot be used.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trial.csv"
    >>> _ = path.write_text("dose,response\n1,2.5\n2,4.5\n")
    >>> read_table(path).names
    ['dose', 'response']
    """
    with given_file(path) as (file, source):
        choose = partial(choose_columns, columns=columns, drop=drop, source=source)
        return _checked(_read_file(file, source, header, choose), source, missing)


def read_with_labels(
    path: str | os.PathLike[str],
    column: str,
    header: bool = True,
    missing: Missing = "error",
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> tuple[Table, list[Any]]:
    r"""Read a table of numbers and, separately, one column of labels of any type.

    Parameters
    ----------
    path, header, missing, columns, drop
        As for `read_table`; the label of a dropped row is dropped too.
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
    with given_file(path) as (file, source):

        def choose(names: Sequence[str]) -> list[int]:
            if column not in names:
                raise DataError(f"{source} has no column {column!r}: {nearest(column, names)}.")
            others = choose_columns(names, columns, drop, source)
            return sorted({*others, list(names).index(column)})

        frame = _read_file(file, source, header, choose, apart=column)
        labels, rest = frame[column], frame.drop(columns=column)
        if missing == "drop":
            labels = labels[rest.notna().all(axis=1)]
        table = _checked(rest, source, missing)
    return table, [
        None if absent else label for label, absent in zip(labels, labels.isna(), strict=True)
    ]


def _checked(data: Any, source: str, missing: Missing) -> Table:
    table = as_table(
        data,
        missing=missing,
        source=source,
        remedy="drop these rows with missing='drop' (--missing drop), or let a learner impute "
        "the values from its graph with missing='impute' (--missing impute)",
    )
    return Table(table.X.astype(np.float64, copy=False), table.names)


def _read_file(
    path: Path, source: str, header: bool, choose: _Choose, apart: str | None = None
) -> Any:
    """Read a file into a data frame or array, by file extension; one column may be text."""
    name = path.name.lower()
    readers: dict[str, Any] = {
        ".csv": lambda: _read_text(path, source, None, header, choose, apart),
        ".csv.gz": lambda: _read_text(path, source, None, header, choose, apart),
        ".tsv": lambda: _read_text(path, source, "\t", header, choose, apart),
        ".tsv.gz": lambda: _read_text(path, source, "\t", header, choose, apart),
        ".parquet": lambda: _read_parquet(path, source, choose),
        ".npy": lambda: _read_npy(path, source, choose),
    }
    reader = next((readers[end] for end in readers if name.endswith(end)), None)
    if path.is_dir() or reader is not None:
        check_file(path, source)
    if reader is None:
        raise DataError(
            f"{source} has no supported extension: give a file that ends in .csv, .tsv, .parquet "
            "or .npy, or save it as CSV (.csv.gz if compressed)."
        )
    return reader()


def _read_text(
    path: Path,
    source: str,
    separator: str | None,
    header: bool,
    choose: _Choose,
    apart: str | None = None,
) -> "pd.DataFrame":
    """Read a CSV or TSV into a data frame with column names."""
    try:
        with opened_text(path, source) as handle:
            records = list(itertools.islice(records_of(handle), 2))
        if not records:
            raise DataError(f"{source} is empty: it has no columns and no rows.")
        separator = separator or find_separator(records)
        first = fields(records[0], separator)
        names = header_names(first, source) if header else made_up_names(first, source)
        chosen = choose(names)
        refuse_blanks(records, separator, source)
        frame = _parse(path, source, separator, skip=header)
        if len(frame) == 0:
            frame = frame.reindex(columns=range(len(first)))
        # pandas fills a short row with missing values: distinguish it from real missing values.
        if frame.shape[1] != len(first) or frame.iloc[:, -1].isna().any():
            refuse_ragged(path, source, separator, len(first))
        if frame.shape[1] != len(first):
            raise _unreadable(source, len(first))
    except csv.Error as error:
        raise DataError(f"{source} cannot be read as a table: {error}.") from error
    frame.columns = names
    # A separator at the end of every line makes an empty column: no name, no value.
    chosen = [each for each in chosen if names[each] or frame.iloc[:, each].notna().any()]
    check_names([names[each] for each in chosen], source)
    frame = frame.iloc[:, chosen]
    numbers = frame if apart is None else frame.drop(columns=apart)
    refuse_text(numbers, source)
    refuse_empty(numbers, source)
    return frame


def _parse(path: Path, source: str, separator: str, skip: bool) -> "pd.DataFrame":
    """Read the records by pandas, after the header if there is one."""
    import pandas as pd

    with opened_text(path, source) as handle, warnings.catch_warnings():
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
            width = refuse_ragged(path, source, separator, None)
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


def _read_parquet(path: Path, source: str, choose: _Choose) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError as error:
        raise DataError(f"{source} needs pyarrow to be read: install it.") from error
    except Exception as error:  # pyarrow raises its own classes for a broken file
        raise DataError(f"{source} is not a readable Parquet file: write it again.") from error
    return frame.iloc[:, choose([str(name) for name in frame.columns])]


def _read_npy(path: Path, source: str, choose: _Choose) -> Any:
    import pandas as pd

    try:
        # Memory-mapped, so that a header with a wrong size allocates no memory.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except _NOT_NPY as error:
        raise DataError(
            f"{source} is not a NumPy file of plain numbers: write it with numpy.save."
        ) from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{source} holds several arrays: save a single one with numpy.save.")
    if array.ndim != 2 or array.shape[1] == 0:
        return np.array(array)  # `as_table` refuses arrays that are not tables
    names = numbered_names(array.shape[1])
    chosen = choose(names)
    if len(chosen) == len(names):
        return np.array(array)
    return pd.DataFrame(array[:, chosen], columns=[names[position] for position in chosen])
