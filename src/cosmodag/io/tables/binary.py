"""Tables from Parquet, Feather, Excel and AnnData files."""

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ParserCreate
from zipfile import ZipFile

from cosmodag.errors import DataError, DataWarning
from cosmodag.io.columns.names import nearest, numbered_names
from cosmodag.io.files.reading import check_filled, check_unpacked
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


def read_anndata(path: Path, source: str) -> "pd.DataFrame":
    """Read the matrix of an AnnData file, with its variables as columns."""
    with _refusing_damage(source, "AnnData file", "anndata (pip install 'cosmodag[anndata]')"):
        import anndata

        frame: pd.DataFrame = anndata.read_h5ad(path).to_df()
        return frame
