"""Tables from files, by file extension.

Text (CSV, TSV, TXT), Parquet, Feather, NumPy, Excel, JSON records and AnnData are read into a data
frame; then columns are chosen, an index without a name is left out, and all columns that hold
neither numbers nor levels are refused together.
"""

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.columns.names import check_names, choose_columns, nearest
from cosmodag.io.columns.refused import bad_columns, columns_error
from cosmodag.io.files.reading import given_file
from cosmodag.io.tables.by_extension import is_index, read_frame, transposed
from cosmodag.io.tables.frames import Missing, Table, as_table
from cosmodag.io.tables.text import Decimal

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_table", "read_with_columns"]


def read_table(
    path: str | os.PathLike[str],
    header: bool = True,
    missing: Missing = "error",
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    decimal: Decimal = "auto",
    transpose: bool = False,
    declared: Collection[str] = (),
) -> Table:
    r"""Read a table of numbers and categories from a file.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.txt`` (each also ``.gz``), ``.xlsx``, ``.parquet``, ``.feather``,
        ``.json`` or ``.jsonl`` (records), ``.h5ad`` or ``.npy`` file, or ``-`` for standard input.
        Text is UTF-8, UTF-16 or, with a warning, Windows-1252; its separator is found among
        comma, semicolon, tab, vertical bar and spaces.
    header : bool
        Whether the first line of a text file or sheet names the columns; without it they are
        called ``x0, x1, …``.
    missing : {"error", "drop", "keep"}
        Refuse missing values; drop the rows that have one, with a warning; or keep them for a
        learner with ``missing="impute"``.
    columns, drop : sequence of str, optional
        Columns to keep, and columns to leave out, by name: see `choose_columns`. Omitted columns
        may hold anything. A first column without a name that numbers or names the rows is left
        out with a warning.
    decimal : {"auto", ".", ","}
        Decimal mark of a text file; "auto" recognises decimal commas and warns about them.
    transpose : bool
        Whether the file holds one variable per row and one sample per column, as tables of genes
        often do; its first column then names the variables.
    declared : collection of str
        Columns that are said to hold levels; see `as_table`.

    Returns
    -------
    Table
        The matrix ``X`` (n, d) in float64, the column ``names`` and, if there are columns of
        text, their ``kinds``.

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
    table, _ = read_with_columns(
        path,
        (),
        header,
        missing,
        columns=columns,
        drop=drop,
        decimal=decimal,
        transpose=transpose,
        declared=declared,
    )
    return table


def read_with_columns(
    path: str | os.PathLike[str],
    apart: Sequence[str],
    header: bool = True,
    missing: Missing = "error",
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    decimal: Decimal = "auto",
    transpose: bool = False,
    declared: Collection[str] = (),
) -> tuple[Table, dict[str, list[Any]]]:
    r"""Read a table as `read_table` does and, separately, columns that are no variables.

    Returns
    -------
    Table, dict
        The table without the columns ``apart``, and the entries of these, of any type; a missing
        one is None. The entries of a dropped row are dropped too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trial.csv"
    >>> _ = path.write_text("dose,response,target\n1,2.5,dose\n2,4.5,\n")
    >>> table, apart = read_with_columns(path, ["target"])
    >>> table.names, apart
    (['dose', 'response'], {'target': ['dose', None]})
    """
    with given_file(path) as (file, source):
        frame = read_frame(file, source, header, decimal)
        if isinstance(frame, np.ndarray):  # not a table: `as_table` says why
            return _checked(frame, source, missing, declared), {}
        if transpose:
            frame = transposed(frame)
        names = [str(name) for name in frame.columns]
        chosen = _chosen(names, apart, columns, drop, source)
        if 0 in chosen and is_index(frame, names, source):
            chosen.remove(0)
        names = [names[place] for place in chosen]
        check_names(names, source)
        frame = frame.iloc[:, chosen].set_axis(names, axis=1)
        rest = frame.drop(columns=list(apart)) if apart else frame
        bad = bad_columns(rest, declared)
        if bad:
            others = rest.drop(columns=[one.name for one in bad])
            has_gaps = others.isna().any(axis=0) & (missing == "error")
            raise columns_error(bad, source, list(others.columns[has_gaps]))
        kept = rest.notna().all(axis=1) if missing == "drop" else slice(None)
        labels = {column: _entries(frame.loc[kept, column]) for column in apart}
        return _checked(rest, source, missing, declared), labels


def _chosen(
    names: Sequence[str],
    apart: Sequence[str],
    columns: Sequence[str] | None,
    drop: Sequence[str] | None,
    source: str,
) -> list[int]:
    """Find the positions of the columns to read: those chosen and those kept apart."""
    for column in apart:
        if column not in names:
            raise DataError(f"{source} has no column {column!r}: {nearest(column, names)}.")
    others = choose_columns(names, columns, drop, source)
    return sorted({*others, *(names.index(column) for column in apart)})


def _entries(column: "pd.Series[Any]") -> list[Any]:
    return [None if absent else entry for entry, absent in zip(column, column.isna(), strict=True)]


def _checked(data: Any, source: str, missing: Missing, declared: Collection[str]) -> Table:
    table = as_table(
        data,
        missing=missing,
        source=source,
        declared=declared,
        remedy="drop these rows with missing='drop' (--missing drop), or let a learner impute "
        "the values from its graph with missing='impute' (--missing impute)",
    )
    return replace(table, X=table.X.astype(np.float64, copy=False))
