"""Data frames from files by extension; columns may hold anything."""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError, DataWarning
from cosmodag.io.columns.names import numbered_names
from cosmodag.io.files import check_file
from cosmodag.io.tables import binary
from cosmodag.io.tables.text import Decimal, read_text_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_index", "read_frame", "transposed"]

_SUPPORTED = ".csv, .tsv, .txt, .xlsx, .parquet, .feather, .json, .jsonl, .h5ad or .npy"


def read_frame(path: Path, source: str, header: bool, decimal: Decimal) -> Any:
    """Read a file by its extension into a data frame, or an array that is not a table."""
    text = partial(read_text_table, header=header, decimal=decimal)
    readers: dict[str, Callable[[Path, str], Any]] = {
        ".csv": partial(text, separator=None),
        ".tsv": partial(text, separator="\t"),
        ".txt": partial(text, separator=None),
    }
    name = path.name.lower()
    if not name.endswith(".gz"):
        readers |= {
            ".xlsx": partial(binary.read_excel, header=header),
            ".parquet": binary.read_parquet,
            ".feather": binary.read_feather,
            ".json": binary.read_json,
            ".jsonl": binary.read_json_lines,
            ".h5ad": binary.read_anndata,
            ".npy": binary.read_npy,
        }
    end = next((end for end in readers if name.removesuffix(".gz").endswith(end)), None)
    if path.is_dir() or end is not None:
        check_file(path, source)
    if end is None:
        raise DataError(
            f"{source} has no supported extension: give a file that ends in {_SUPPORTED}, or save "
            "it as CSV (.csv.gz if compressed)."
        )
    return readers[end](path, source)


def transposed(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Turn rows into columns; a first column of text, or else a named index, gives the names."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0]):
        return frame.iloc[:, 1:].T.set_axis([str(name) for name in frame.iloc[:, 0]], axis=1)
    if pd.api.types.is_numeric_dtype(frame.index.dtype):
        return frame.T.set_axis(numbered_names(len(frame)), axis=1)
    return frame.T.set_axis([str(name) for name in frame.index], axis=1)


def is_index(frame: "pd.DataFrame", names: list[str], source: str) -> bool:
    """Whether the first column has no name and numbers or names the rows; if so, warn."""
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
