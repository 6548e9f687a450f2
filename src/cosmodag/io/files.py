"""Opening files for reading, with what can go wrong said in one sentence."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from cosmodag.errors import DataError

__all__ = ["check_file", "opened_text", "read_text"]


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse a path that is not a file with something in it."""
    path = Path(path)
    try:
        if path.is_dir():
            raise DataError(f"'{path}' is a folder: give the name of a file.")
        if not path.exists():
            raise DataError(f"'{path}' does not exist: check the path.")
        if path.is_file() and path.stat().st_size == 0:
            raise DataError(f"'{path}' is empty: it has no columns and no rows.")
        if not os.access(path, os.R_OK):
            raise DataError(f"'{path}' cannot be read: permission denied.")
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror}.") from error


@contextlib.contextmanager
def opened_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a UTF-8 file for reading, a byte order mark skipped and line ends untouched."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as handle:
            yield handle
    except UnicodeDecodeError as error:
        raise DataError(
            f"'{path}' is not UTF-8 text: save it as UTF-8 (byte {error.start} is not)."
        ) from error


def read_text(path: str | os.PathLike[str]) -> str:
    """Read the whole of a UTF-8 file, checked by `check_file`."""
    check_file(path)
    with opened_text(path) as handle:
        return handle.read()
