"""Atomic writing of files.

A file is written under a temporary name in its final folder, flushed to the disk, and renamed. A
rename within one folder is atomic, so a crash, a full disk or Ctrl-C leaves either the old file or
the new one.
"""

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from cosmodag.errors import DataError
from cosmodag.io.files.unfinished import being_written

__all__ = ["write_bytes", "write_text"]


def write_text(path: str | os.PathLike[str], text: str | Iterable[str]) -> None:
    """Write ``text``, or its parts in order, to ``path`` as UTF-8, atomically.

    The folder must exist. Line ends are written unchanged on every system.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_text(folder / "note.txt", "causes first")
    >>> (folder / "note.txt").read_text()
    'causes first'
    """
    parts = [text] if isinstance(text, str) else text
    write_bytes(path, (part.encode("utf-8") for part in parts))


def write_bytes(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write ``data``, or its parts in order, to ``path`` atomically; the folder must exist."""
    parts = [data] if isinstance(data, bytes) else data
    # Replace the target of a symbolic link, not the link itself.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError(f"'{path}' is a folder: give the name of a file to write.")
    if not target.parent.is_dir():
        raise DataError(f"'{path}' cannot be written: make the folder '{target.parent}' first.")
    if target.exists() and not target.is_file():
        with open(target, "wb") as handle:
            handle.writelines(parts)  # a device or a pipe, which cannot be replaced
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        with being_written(temporary):
            _write_through(temporary, parts)
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o7777)
            os.replace(temporary, target)
    except PermissionError as error:
        raise DataError(f"'{path}' cannot be written: permission denied.") from error
    except OSError as error:  # the error of a full disk does not name the file
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    _sync_folder(target.parent)


def _write_through(path: Path, parts: Iterable[bytes]) -> None:
    """Write a new file and wait until it is on the disk."""
    # Not tempfile.mkstemp: it ignores the umask and creates files that only their owner can read.
    with open(path, "xb") as handle:
        handle.writelines(parts)
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
