"""Atomic writing of files, and reading: text, and the arrays and facts of a fitted model.

A file is written under a temporary name in its final folder, flushed to the disk, and renamed. A
rename within one folder is atomic, so a crash, a full disk or Ctrl-C leaves either the old file or
the new one.
"""

import contextlib
import gzip
import json
import os
import secrets
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.io.unfinished import being_written

__all__ = [
    "UTF_8",
    "check_file",
    "given_file",
    "opened_text",
    "opener",
    "read_model",
    "read_text",
    "refuse_other_format",
    "write_bytes",
    "write_model",
    "write_text",
]

_MODEL_FORMAT = "cosmodag-model-1"
_STANDARD_INPUT = "-"
# First bytes of files that are not UTF-8 text, their type, and a remedy.
_NOT_TEXT = {
    b"\x1f\x8b": ("compressed by gzip", "rename it to end in .gz, or unpack it"),
    b"PK\x03\x04": (
        "a ZIP archive or an Excel workbook",
        "rename it to end in .xlsx, or save the table as CSV",
    ),
    b"\x89HDF": ("an HDF5 file", "rename it to end in .h5ad if it holds an AnnData object"),
    b"ARROW1": ("a Feather file", "rename it to end in .feather"),
    b"PAR1": ("a Parquet file", "rename it to end in .parquet"),
    b"\x93NUMPY": ("a NumPy file", "rename it to end in .npy"),
}
# First bytes of file types that may come through a pipe, and their extensions.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x93NUMPY": ".npy",
    b"\x1f\x8b": ".csv.gz",
    b"PK\x03\x04": ".xlsx",
    b"\x89HDF": ".h5ad",
}
UTF_8 = "utf-8-sig"  # skips a byte order mark


def check_file(path: str | os.PathLike[str], source: str | None = None) -> None:
    """Refuse a path that is not a non-empty file; messages call it ``source``."""
    path = Path(path)
    source = source or f"'{path}'"
    try:
        if path.is_dir():
            raise DataError(f"{source} is a folder: give the name of a file.")
        if not path.exists():
            raise DataError(f"{source} does not exist: check the path.")
        if path.is_file() and path.stat().st_size == 0:
            raise DataError(f"{source} is empty: it has no columns and no rows.")
        if not os.access(path, os.R_OK):
            raise DataError(f"{source} cannot be read: permission denied.")
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror}.") from error


@contextlib.contextmanager
def given_file(path: str | os.PathLike[str]) -> Iterator[tuple[Path, str]]:
    """Yield the file for a path, and its name in messages.

    ``-`` is standard input. It and pipes are copied to a temporary file, because readers seek back
    to the beginning; the extension follows from the first bytes, ``.csv`` for text.
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
        with open(spooled, "rb") as copy:
            first = copy.read(8)
        end = next((end for mark, end in _BEGINNINGS.items() if first.startswith(mark)), ".csv")
        source = "standard input" if is_standard_input else f"'{path}'"
        yield spooled.rename(spooled.with_name(spooled.name + end)), source


@contextlib.contextmanager
def opened_text(
    path: str | os.PathLike[str], source: str | None = None, encoding: str = UTF_8
) -> Iterator[TextIO]:
    """Open a text file for reading, UTF-8 by default; keep line ends.

    A file whose name ends in ``.gz`` is decompressed.
    """
    source = source or f"'{path}'"
    try:
        with opener(path)(path, "rt", encoding=encoding, newline="") as handle:
            yield cast(TextIO, handle)
    except UnicodeDecodeError as error:
        refuse_other_format(path, source)
        raise DataError(
            f"{source} is not UTF-8 text: save it as UTF-8, in Excel as 'CSV UTF-8' (byte "
            f"{error.start} is not)."
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{source} is not a complete gzip file: compress it again.") from error


def opener(path: str | os.PathLike[str]) -> Any:
    """Give the function that opens a file, decompressed if its name ends in ``.gz``."""
    return gzip.open if Path(path).suffix.lower() == ".gz" else open


def refuse_other_format(path: str | os.PathLike[str], source: str) -> None:
    """Refuse a file that is not text, and name the type that its first bytes indicate."""
    with open(path, "rb") as handle:
        first = handle.read(8)
    for mark, (what, remedy) in _NOT_TEXT.items():
        if first.startswith(mark) and Path(path).suffix.lower() != ".gz":
            raise DataError(f"{source} is {what}: {remedy}.")


def read_text(path: str | os.PathLike[str], source: str | None = None) -> str:
    """Read the whole of a UTF-8 file, checked by `check_file`."""
    check_file(path, source)
    with opened_text(path, source) as handle:
        return handle.read()


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, atomically.

    Line ends are written unchanged on every system.

    Parameters
    ----------
    path : path-like
        The file to create or replace; its folder must exist.
    text : str
        Content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_text(folder / "note.txt", "causes first")
    >>> (folder / "note.txt").read_text()
    'causes first'
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to ``path`` atomically; the folder must exist."""
    # Replace the target of a symbolic link, not the link itself.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError(f"'{path}' is a folder: give the name of a file to write.")
    if not target.parent.is_dir():
        raise DataError(f"'{path}' cannot be written: make the folder '{target.parent}' first.")
    if target.exists() and not target.is_file():
        target.write_bytes(data)  # a device or a pipe, which cannot be replaced
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        with being_written(temporary):
            _write_through(temporary, data)
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o7777)
            os.replace(temporary, target)
    except PermissionError as error:
        raise DataError(f"'{path}' cannot be written: permission denied.") from error
    except OSError as error:  # the error of a full disk does not name the file
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    _sync_folder(target.parent)


def _write_through(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on the disk."""
    # Not tempfile.mkstemp: it ignores the umask and creates files that only their owner can read.
    with open(path, "xb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def _sync_folder(folder: Path) -> None:
    """Flush the rename to the disk, if the system supports it (Windows does not)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_model(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays and facts (JSON types or NumPy scalars) atomically.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> write_model(path, {"weights": np.eye(2)}, {"learner": "Cosmo"})
    >>> arrays, facts = read_model(path)
    >>> arrays["weights"].tolist(), facts
    ([[1.0, 0.0], [0.0, 1.0]], {'learner': 'Cosmo'})
    """
    from safetensors.numpy import save

    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    metadata = {"format": _MODEL_FORMAT, "facts": json.dumps(dict(facts), default=_plain)}
    write_bytes(path, _in_order(save(contiguous, metadata)))


def _in_order(file: bytes) -> bytes:
    """Sort the metadata, which safetensors writes in an order that changes from call to call.

    A file starts with the length of its header (8 bytes) and the header: JSON, padded with spaces
    to a multiple of 8.
    """
    end = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + file[end:]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved: it is a {type(value).__name__}, not plain data.")


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what :func:`write_model` wrote: the arrays and the facts."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, ValueError, AttributeError):
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from None
    if metadata.get("format") != _MODEL_FORMAT:
        raise DataError(f"'{path}' was not written by cosmodag, or by an unsupported version.")
    try:
        return arrays, json.loads(metadata["facts"])
    except (KeyError, ValueError, RecursionError):
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from None
