"""Tables from files: CSV, TSV, Parquet and NumPy ``.npy``, by file extension."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.columns import choose_columns, nearest, numbered_names
from cosmodag.io.csv_tables import Choose, read_csv
from cosmodag.io.files import check_file, given_file
from cosmodag.io.frames import Missing, Table, as_table

__all__ = ["Missing", "Table", "as_table", "read_table", "read_with_labels"]

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
    path: Path, source: str, header: bool, choose: Choose, apart: str | None = None
) -> Any:
    """Read a file into a data frame or array, by file extension; one column may be text."""
    name = path.name.lower()
    readers: dict[str, Any] = {
        ".csv": lambda: read_csv(path, source, None, header, choose, apart),
        ".csv.gz": lambda: read_csv(path, source, None, header, choose, apart),
        ".tsv": lambda: read_csv(path, source, "\t", header, choose, apart),
        ".tsv.gz": lambda: read_csv(path, source, "\t", header, choose, apart),
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


def _read_parquet(path: Path, source: str, choose: Choose) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError as error:
        raise DataError(f"{source} needs pyarrow to be read: install it.") from error
    except Exception as error:  # pyarrow raises its own classes for a broken file
        raise DataError(f"{source} is not a readable Parquet file: write it again.") from error
    return frame.iloc[:, choose([str(name) for name in frame.columns])]


def _read_npy(path: Path, source: str, choose: Choose) -> Any:
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
