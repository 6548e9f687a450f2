"""Tables from files, by file extension.

Text (CSV, TSV, TXT), Parquet, Feather, Excel and AnnData are read into a data
frame. Then columns are selected, an index without a name is left out, and all columns that hold
neither numbers nor levels are refused in one message.
"""

import os
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.errors import DataError, DataWarning, name_list
from cosmodag.io.columns.names import (
    check_names,
    choose_columns,
    is_number,
    nearest,
    numbered_names,
)
from cosmodag.io.columns.refused import bad_columns, columns_error, is_absent
from cosmodag.io.files.reading import check_file, given_file
from cosmodag.io.tables import binary
from cosmodag.io.tables.frames import Missing, Table, as_table
from cosmodag.io.tables.text import WORDS, Decimal, TextLayout, read_text_table

if TYPE_CHECKING:
    import pandas as pd

_SUPPORTED = ".csv, .tsv, .txt, .xlsx, .parquet, .feather or .h5ad"


def read_table(
    path: str | os.PathLike[str],
    header: bool = True,
    missing: Missing = "error",
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    decimal: Decimal = "auto",
    thousands: str | None = None,
    skip_rows: Sequence[int] | None = None,
    na: Sequence[str] | None = None,
    sheet: str | None = None,
    transpose: bool = False,
    declared: Collection[str] = (),
) -> Table:
    r"""Read a table of numbers and categories from a file.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.txt`` (each also ``.gz``), ``.xlsx``, ``.parquet``, ``.feather``
        or ``.h5ad`` file, or ``-`` for standard input.
        Text is UTF-8, UTF-16 or, with a warning, Windows-1252. Its separator is detected: comma,
        semicolon, tab, vertical bar or spaces.
    header : bool
        Whether the first line of a text file or sheet names the columns; otherwise they are called
        ``x0, x1, …``.
    missing : {"error", "drop", "keep"}
        Refuse missing values; drop the rows that have one, with a warning; or keep them for a
        learner with ``missing="impute"``.
    columns, drop : sequence of str, optional
        Columns to keep, and columns to leave out, by name or pattern (``gene_*``). Omitted columns
        may hold anything. A first column without a name that numbers or names the rows is left
        out with a warning.
    decimal : {"auto", ".", ","}
        Decimal mark of a text file; "auto" recognises decimal commas and warns about them.
    thousands : str, optional
        Mark between thousands in a text file, such as ``","`` in 1,250.
    skip_rows : sequence of int, optional
        Lines of a text file or sheet to leave out, such as titles above the names or units below
        them; the first line is 1.
    na : sequence of str, optional
        Further spellings of missing values, such as ``"?"`` or ``"-999"``.
    sheet : str, optional
        Sheet of a workbook; by default the first.
    transpose : bool
        Whether the file has one variable per row and one sample per column, as tables of genes
        often do; its first column then names the variables.
    declared : collection of str
        Columns that are declared to hold levels; see `as_table`.

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
        thousands=thousands,
        skip_rows=skip_rows,
        na=na,
        sheet=sheet,
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
    thousands: str | None = None,
    skip_rows: Sequence[int] | None = None,
    na: Sequence[str] | None = None,
    sheet: str | None = None,
    transpose: bool = False,
    declared: Collection[str] = (),
    may_lack: bool = False,
) -> tuple[Table, dict[str, list[Any]]]:
    r"""Read a table as `read_table` does and, separately, columns that are not variables.

    The table is returned without the columns ``apart``. Their entries are returned by column name;
    they may be of any type, and missing entries are None. Rows that are dropped for missing values
    are dropped from them too. A column that the file lacks is refused, unless it `may_lack` them.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trial.csv"
    >>> _ = path.write_text("dose,response,target\n1,2.5,dose\n2,4.5,\n")
    >>> table, apart = read_with_columns(path, ["target"])
    >>> table.names, apart
    (['dose', 'response'], {'target': ['dose', None]})
    """
    with given_file(path) as (file, source):
        layout = TextLayout(
            header, decimal, thousands, frozenset(skip_rows or ()), tuple(map(str, na or ()))
        )
        frame = _read_frame(file, source, layout, sheet)
        is_text = WORDS in frame.attrs
        words = frame.attrs.pop(WORDS, {})
        if transpose:
            if is_text:
                _warn_of_numbers_as_names(frame, source, header)
            frame, words = _transposed(frame, words), {}
        names = [str(name) for name in frame.columns]
        if may_lack:
            apart = [column for column in apart if column in names]
        for column in apart:
            if column not in names:
                raise DataError(f"{source} has no column {column!r}: {nearest(column, names)}.")
        places_apart = [names.index(column) for column in apart]
        for place in places_apart:
            if place in words and _are_labels(words[place], frame.iloc[:, place], names):
                frame.isetitem(place, frame.iloc[:, place].astype(object).fillna(words[place]))
        chosen = sorted({*choose_columns(names, columns, drop, source), *places_apart})
        if 0 in chosen and _is_index(frame, names, source):
            chosen.remove(0)
        read = set(chosen).difference(places_apart)
        nones = [names[v] for v, found in words.items() if v in read and (found == "None").any()]
        names = [names[place] for place in chosen]
        check_names(names, source)
        frame = frame.iloc[:, chosen].set_axis(names, axis=1)
        rest = frame.drop(columns=list(apart)) if apart else frame
        if nones:
            warnings.warn(
                f"the word 'None' in {name_list(nones)} of {source} was read as a missing value: "
                "if it is a level, write it in another way, such as 'none'.",
                DataWarning,
                stacklevel=3,
            )
        bad = bad_columns(rest, declared)
        if bad:
            if is_text and header and not transpose:
                _refuse_units(rest, [one.name for one in bad], source)
            good = rest.drop(columns=[one.name for one in bad])
            has_gaps = _absent(good).any(axis=0) & (missing == "error")
            raise columns_error(bad, source, list(good.columns[has_gaps]))
        rows = ~_absent(rest).any(axis=1) if missing == "drop" else slice(None)
        labels = frame.loc[rows, list(apart)].astype(object)
        entries = labels.where(labels.notna(), None).to_dict("list")
        return _checked(rest, source, missing, declared), entries


def _refuse_units(frame: "pd.DataFrame", bad: Sequence[str], source: str) -> None:
    """Refuse a first row of text above numbers, which holds units or long names."""
    import pandas as pd

    below = [pd.to_numeric(frame[name].iloc[1:], errors="coerce") for name in bad]
    are_numbers = [len(values) > 1 and bool(values.notna().all()) for values in below]
    if any(are_numbers):
        example = shorten(str(frame[bad[are_numbers.index(True)]].iloc[0])[:60], 40)
        raise DataError(
            f"the line below the names of {source} has text such as {example!r} above numbers, as "
            "a line of units has: leave it out by its number (skip_rows=[2], --skip-rows 2)."
        )


def _read_frame(path: Path, source: str, layout: TextLayout, sheet: str | None) -> Any:
    """Read a file, by its extension, as a data frame (or as an array that is not a table)."""
    text = partial(read_text_table, layout=layout)
    readers: dict[str, Callable[[Path, str], Any]] = {
        ".csv": partial(text, separator=None),
        ".tsv": partial(text, separator="\t"),
        ".txt": partial(text, separator=None),
    }
    name = path.name.lower()
    if not name.endswith(".gz"):
        readers |= {
            ".xlsx": partial(binary.read_excel, layout=layout, sheet=sheet),
            ".parquet": binary.read_parquet,
            ".feather": binary.read_feather,
            ".h5ad": binary.read_anndata,
        }
    end = next((end for end in readers if name.removesuffix(".gz").endswith(end)), None)
    check_file(path, source)
    if end is None:
        raise DataError(
            f"{source} has no supported extension: give a file that ends in {_SUPPORTED}, or save "
            "it as CSV (.csv.gz if compressed)."
        )
    frame = readers[end](path, source)
    if layout.na and WORDS not in getattr(frame, "attrs", {WORDS: None}):
        marks = {*layout.na, *(float(mark) for mark in layout.na if is_number(mark))}
        frame = frame.mask(frame.isin(marks)).infer_objects()
    return frame


def _warn_of_numbers_as_names(frame: "pd.DataFrame", source: str, header: bool) -> None:
    """Warn if a table to be transposed has numbers where the names of variables are expected.

    Without a header, a table often has no names either: then only whole numbers that do not repeat
    may be names.
    """
    import pandas as pd

    first = frame.iloc[:, 0]
    may_be_names = header or (pd.api.types.is_integer_dtype(first.dtype) and first.is_unique)
    if pd.api.types.is_numeric_dtype(first.dtype) and may_be_names:
        warnings.warn(
            f"the first column of {source} holds numbers, so it was read as a sample, and the "
            "variables were numbered: if it names them, write names such as 'g7157'.",
            DataWarning,
            stacklevel=4,
        )


def _transposed(frame: "pd.DataFrame", words: "dict[int, pd.Series]") -> "pd.DataFrame":
    """Transpose; a first column of text, or else an index of text, gives the column names.

    Words such as NA in the first column are names, although they were read as missing values.
    """
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0]):
        first = frame.iloc[:, 0].astype(object)
        first = first.fillna(words[0]) if 0 in words else first
        names = ["" if is_absent(name) else str(name) for name in first]
        return frame.iloc[:, 1:].T.set_axis(names, axis=1)
    if pd.api.types.is_numeric_dtype(frame.index.dtype):
        return frame.T.set_axis(numbered_names(len(frame)), axis=1)
    return frame.T.set_axis([str(name) for name in frame.index], axis=1)


def _is_index(frame: "pd.DataFrame", names: list[str], source: str) -> bool:
    """Whether the first column has no name and numbers or names the rows; warn if so."""
    import pandas as pd

    if not names or names[0] != "" or len(frame) < 2:
        return False
    first = frame.iloc[:, 0]
    if pd.api.types.is_numeric_dtype(first.dtype):
        is_index = bool((first.diff().iloc[1:] == 1).all())
    else:
        is_index = bool(first.notna().all() and first.is_unique)
    if is_index:
        warnings.warn(
            f"the first column of {source} has no name and counts or names the rows "
            f"({first.iloc[0]}, {first.iloc[1]}, …): it was left out.",
            DataWarning,
            stacklevel=4,
        )
    return is_index


def _are_labels(words: "pd.Series", column: "pd.Series", names: Sequence[str]) -> bool:
    """Whether words such as NA and None, read as missing values, are labels of the rows.

    They are if one names a column of the table, or if they differ from each other or from empty
    entries, since they then mean different things.
    """
    present = words.dropna()
    has_empty = bool((column.isna() & words.isna()).any())
    return bool(present.isin(list(names)).any()) or present.nunique() + has_empty > 1


def _absent(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Mark the entries that `as_table` takes as missing: also blank text, which pandas keeps."""
    import pandas as pd

    absent = frame.isna()
    for place, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            absent.isetitem(place, [is_absent(value) for value in frame.iloc[:, place]])
    return absent


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
