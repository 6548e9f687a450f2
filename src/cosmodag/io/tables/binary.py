"""Tables from Parquet, Feather, NumPy, Excel, JSON and AnnData files."""

import contextlib
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ParserCreate
from zipfile import ZipFile

import numpy as np

from cosmodag.errors import DataError, DataWarning
from cosmodag.io.columns.names import nearest, numbered_names
from cosmodag.io.files.reading import check_filled, check_unpacked, read_text
from cosmodag.io.tables.text import TextLayout

if TYPE_CHECKING:
    import pandas as pd


@contextlib.contextmanager
def _refusing_damage(source: str, what: str, needs: str) -> Iterator[None]:
    """Convert the exceptions that a library raises for a damaged file to one sentence."""
    try:
        yield
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"{source} needs {needs} to be read.") from error
    except Exception as error:  # each library raises its own classes for a damaged file
        raise DataError(f"{source} is not a readable {what}: save it again.") from error


def read_parquet(path: Path, source: str) -> "pd.DataFrame":
    """Read a Parquet file."""
    with _refusing_damage(source, "Parquet file", "pyarrow (pip install pyarrow)"):
        import pandas as pd
        from pyarrow.parquet import read_metadata

        layout = read_metadata(path)
        rows = sum(layout.row_group(group).num_rows for group in range(layout.num_row_groups))
        check_unpacked(8 * rows * layout.num_columns, path.stat().st_size, source)
        return pd.read_parquet(path, engine="pyarrow")


def read_feather(path: Path, source: str) -> "pd.DataFrame":
    """Read a Feather (Arrow IPC) file."""
    with _refusing_damage(source, "Feather file", "pyarrow (pip install pyarrow)"):
        import pandas as pd

        return pd.read_feather(path)


def read_excel(path: Path, source: str, layout: TextLayout, sheet: str | None) -> "pd.DataFrame":
    """Read a sheet of an Excel workbook, by default the first."""
    with _refusing_damage(source, "Excel workbook", "openpyxl (pip install 'cosmodag[excel]')"):
        import openpyxl
        import pandas as pd

        with ZipFile(path) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
        check_unpacked(unpacked, path.stat().st_size, source)
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            chosen = sheets[0] if sheet is None else sheet
            if chosen not in sheets:
                raise DataError(f"{source} has no sheet {chosen!r}: {nearest(chosen, sheets)}.")
            rows, last, entries = _extent(book.book[chosen])
            check_filled(rows, openpyxl.utils.column_index_from_string(last), entries, source)
            skipped = [place - 1 for place in layout.skip_rows]
            header = 0 if layout.header else None
            frame = pd.read_excel(book, sheet_name=chosen, header=header, skiprows=skipped)
    if len(sheets) > 1 and sheet is None:
        warnings.warn(
            f"{source} has {len(sheets)} sheets, and the first, {sheets[0]!r}, was read: name "
            "another one to use it (sheet=, --sheet).",
            DataWarning,
            stacklevel=5,
        )
    if not layout.header:
        frame.columns = numbered_names(frame.shape[1])
    # pandas names the empty cells of a header "Unnamed: 3".
    frame.columns = [
        "" if str(name).startswith("Unnamed: ") else str(name) for name in frame.columns
    ]
    return frame


def _extent(sheet: Any) -> tuple[int, str, int]:
    """Return the number of rows of a sheet, its last column as letters, and the number of cells."""
    rows = entries = 0
    last = "A"

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal rows, entries, last
        kind, place = name.rpartition(":")[2], attributes.get("r", "")
        if kind == "row":
            rows = max(rows + 1, int(place or 0))
        elif kind == "c":
            entries += 1
            column = place.upper().rstrip("0123456789")
            last = max(last, column, key=lambda letters: (len(letters), letters))

    parser = ParserCreate()
    parser.StartElementHandler = start
    with sheet._get_source() as content:
        parser.ParseFile(content)
    return rows, last, entries


def read_json(path: Path, source: str, by_line: bool = False) -> "pd.DataFrame":
    """Read a list of records, an object with one list per column, or one record per line."""
    content = "a record per line" if by_line else "a list of records"
    with _refusing_damage(source, f"JSON table ({content})", ""):
        import pandas as pd

        text = read_text(path, source)
        lines = text.splitlines() if by_line else []
        data = [json.loads(line) for line in lines if line.strip()] if by_line else json.loads(text)
        if not isinstance(data, list | dict):
            raise DataError(f"{source} holds no table: write a JSON list of records.")
        parts = list(data.values()) if isinstance(data, dict) else data
        keys = {key for part in parts if isinstance(part, dict) for key in part}
        lengths = [len(part) if isinstance(part, list | dict) else 1 for part in parts]
        check_filled(len(parts), max([len(keys), *lengths]), sum(lengths), source)
        frame = pd.DataFrame(data)
        frame.columns = [str(name) for name in frame.columns]
        return frame


def read_anndata(path: Path, source: str) -> "pd.DataFrame":
    """Read the matrix of an AnnData file, with its variables as columns."""
    with _refusing_damage(source, "AnnData file", "anndata (pip install 'cosmodag[anndata]')"):
        import anndata

        frame: pd.DataFrame = anndata.read_h5ad(path).to_df()
        return frame


def read_npy(path: Path, source: str) -> Any:
    """Read a two-dimensional array that `numpy.save` wrote, or an array that is refused later."""
    import pandas as pd

    try:
        # Memory-mapped, so that a header with a wrong size allocates no memory.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(array, np.ndarray) and array.dtype.itemsize == 0:
            raise ValueError("values of no bytes")  # the header may declare any number of them
    except Exception as error:  # NumPy raises many classes, since the header is a Python literal
        raise DataError(
            f"{source} is not a NumPy file of plain numbers: write it with numpy.save."
        ) from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{source} holds several arrays: save a single one with numpy.save.")
    if array.size == 0:
        return np.empty(array.shape)  # without names: there may be any number of columns
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        return np.array(array)  # `as_table` refuses it
    return pd.DataFrame(np.array(array), columns=numbered_names(array.shape[1]))
