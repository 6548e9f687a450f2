"""Reading of text files, standard input and pipes, with errors of one sentence."""

import contextlib
import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from cosmodag.errors import DataError

_STANDARD_INPUT = "-"
# Extension, type and remedy for files that are not UTF-8 text, by their first bytes.
_NOT_TEXT = {
    b"\x1f\x8b": (".csv.gz", "compressed by gzip", "rename it to end in .gz, or unpack it"),
    b"PK\x03\x04": (
        ".xlsx",
        "a ZIP archive or an Excel workbook",
        "rename it to end in .xlsx, or save the table as CSV",
    ),
    b"\x89HDF": (
        ".h5ad",
        "an HDF5 file",
        "rename it to end in .h5ad if it holds an AnnData object",
    ),
    b"ARROW1": (".feather", "a Feather file", "rename it to end in .feather"),
    b"PAR1": (".parquet", "a Parquet file", "rename it to end in .parquet"),
}
UTF_8 = "utf-8-sig"  # skips a byte order mark

# A compressed file is refused if it unpacks to more bytes than this, and to more than this multiple
# of its own size.
_MAX_BYTES = 100_000_000
_MAX_RATIO = 200

# A table is refused if it has more cells than this, and more per entry of the file than this.
_MAX_CELLS = 2_000_000
_MAX_CELLS_PER_ENTRY = 10


def check_file(path: str | os.PathLike[str], source: str | None = None) -> None:
    """Refuse a path that is not a readable, non-empty file; messages call it ``source``."""
    path = Path(path)
    source = source or f"'{path}'"
    try:
        if path.is_dir():
            raise DataError(f"{source} is a folder: give the name of a file.")
        if not path.exists():
            raise DataError(f"{source} does not exist: check the path.")
        if path.is_file() and path.stat().st_size == 0:
            raise DataError(f"{source} is empty: give a file with content.")
        if not os.access(path, os.R_OK):
            raise DataError(f"{source} cannot be read: permission denied.")
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror}.") from error


@contextlib.contextmanager
def given_file(path: str | os.PathLike[str]) -> Iterator[tuple[Path, str]]:
    """Yield the file for a path, and its name in messages.

    Standard input (``-``) and pipes are copied to a temporary file, because readers return to the
    beginning. Its extension is determined by the first bytes; that of text is ``.csv``.
    """
    is_standard_input = os.fspath(path) == _STANDARD_INPUT
    if not is_standard_input and not Path(path).is_fifo():
        yield Path(path), f"'{path}'"
        return
    with tempfile.TemporaryDirectory(prefix="cosmodag-") as folder:
        spooled = Path(folder) / "input"
        with open(spooled, "wb") as copy, contextlib.ExitStack() as stack:
            pipe = sys.stdin.buffer if is_standard_input else stack.enter_context(open(path, "rb"))
            shutil.copyfileobj(pipe, copy)
        known = other_format(spooled)
        source = "standard input" if is_standard_input else f"'{path}'"
        yield spooled.rename(spooled.with_name("input" + (known[0] if known else ".csv"))), source


@contextlib.contextmanager
def opened_text(
    path: str | os.PathLike[str], source: str | None = None, encoding: str = UTF_8
) -> Iterator[TextIO]:
    """Open a text file for reading, decompressed if its name ends in ``.gz``; keep line ends."""
    source = source or f"'{path}'"
    try:
        with opened_bytes(path, source) as handle:
            yield io.TextIOWrapper(handle, encoding, newline="")
    except UnicodeDecodeError as error:
        raise not_utf_8(path, source, error) from error


@contextlib.contextmanager
def opened_bytes(path: str | os.PathLike[str], source: str) -> Iterator[Any]:
    """Open a file for reading its bytes, decompressed if its name ends in ``.gz``."""
    is_packed = Path(path).suffix.lower() == ".gz"
    try:
        with _Unpacked(path, source) if is_packed else open(path, "rb") as handle:
            yield handle
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{source} is not a complete gzip file: compress it again.") from error


class _Unpacked(gzip.GzipFile):
    """A gzip file that is refused when it unpacks to far more than its size."""

    def __init__(self, path: str | os.PathLike[str], source: str) -> None:
        super().__init__(path, "rb")
        self.source, self.packed = source, os.path.getsize(path)

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size >= 0:
            return self._checked(super().read(size))
        return b"".join(iter(lambda: self.read(2**24), b""))

    def read1(self, size: int = -1) -> bytes:
        return self._checked(super().read1(size))

    def _checked(self, content: bytes) -> bytes:
        check_unpacked(self.tell(), self.packed, self.source)
        return content


def not_utf_8(path: str | os.PathLike[str], source: str, error: UnicodeDecodeError) -> DataError:
    """Make the error for a file that is not UTF-8; name its type if the first bytes reveal it."""
    known = other_format(path)
    if known is not None:
        return DataError(f"{source} is {known[1]}: {known[2]}.")
    return DataError(
        f"{source} is not UTF-8 text: save it as UTF-8, in Excel as 'CSV UTF-8' (byte "
        f"{error.start} is not valid UTF-8)."
    )


def other_format(path: str | os.PathLike[str]) -> tuple[str, str, str] | None:
    """Return extension, type and remedy of a known binary format, by the first bytes of a file."""
    if Path(path).suffix.lower() == ".gz":
        return None
    with open(path, "rb") as handle:
        first = handle.read(8)
    return next((known for mark, known in _NOT_TEXT.items() if first.startswith(mark)), None)


def read_text(path: str | os.PathLike[str], source: str | None = None) -> str:
    """Read the whole of a UTF-8 file, checked by `check_file`."""
    check_file(path, source)
    with opened_text(path, source) as handle:
        return handle.read()


def check_unpacked(unpacked: int, packed: int, source: str) -> None:
    """Refuse a compressed file that unpacks to far more bytes than any table in it needs."""
    if unpacked > max(_MAX_BYTES, _MAX_RATIO * packed):
        raise DataError(
            f"{source} unpacks to more than {_MAX_BYTES // 10**6} MB and more than {_MAX_RATIO} "
            "times its size: if it is meant to be so large, save it uncompressed, as CSV."
        )


def check_filled(rows: int, columns: int, entries: int, source: str) -> None:
    """Refuse a table that would consist almost entirely of missing values."""
    if rows * columns > max(_MAX_CELLS, _MAX_CELLS_PER_ENTRY * entries):
        raise DataError(
            f"{source} would be a table of {rows:,} rows and {columns:,} columns, but holds only "
            f"{entries:,} cells: write all values of each row, under the same columns."
        )
