"""CSV and TSV files as data frames.

They are read by pandas' C parser, but the first line and the separator are checked here, because
pandas silently accepts doubtful files: a longer row makes the first column an index, a shorter one
is filled with NaN, and repeated names are changed.
"""

import csv
import itertools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError
from cosmodag.io.columns import (
    check_names,
    header_names,
    made_up_names,
    refuse_empty,
    refuse_text,
)
from cosmodag.io.files import opened_text
from cosmodag.io.records import (
    fields,
    find_separator,
    records_of,
    refuse_blanks,
    refuse_ragged,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Choose", "read_csv"]

Choose = Callable[[Sequence[str]], list[int]]
"""Chooses columns: their names → the places of those that are kept."""


def read_csv(
    path: Path,
    source: str,
    separator: str | None,
    header: bool,
    choose: Choose,
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
