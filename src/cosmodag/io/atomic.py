"""Writing files so that a reader never sees half of one.

A file is written under a temporary name in the folder where it will stand, flushed to the disk,
and renamed; a rename within one folder is atomic, so that a crash, a full disk or Ctrl-C leaves
either the old file or the new one.
"""

import contextlib
import os
import secrets
from pathlib import Path

from cosmodag.errors import DataError

__all__ = ["write_bytes", "write_text"]


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, all of it or nothing.

    Line ends are written as they stand in ``text``, on every system.

    Parameters
    ----------
    path : path-like
        The file to make or replace; its folder must exist.
    text : str
        What the file is to hold.

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
    """Write ``data`` to ``path``, all of it or nothing.

    Parameters
    ----------
    path : path-like
        The file to make or replace; its folder must exist.
    data : bytes
        What the file is to hold.
    """
    # A link is followed, so that it stays a link to the file that is replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError(f"'{path}' is a folder: give the name of a file to write.")
    if not target.parent.is_dir():
        raise DataError(f"'{path}' cannot be written: make the folder '{target.parent}' first.")
    if target.exists() and not target.is_file():
        target.write_bytes(data)  # a device or a pipe: there is nothing to replace
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        _write_through(temporary, data)
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        os.replace(temporary, target)
    except PermissionError as error:
        raise DataError(f"'{path}' cannot be written: permission denied.") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync_folder(target.parent)


def _write_through(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on the disk."""
    # Not tempfile.mkstemp: that makes files only their owner can read, whatever the umask.
    with open(path, "xb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def _sync_folder(folder: Path) -> None:
    """Put the rename itself on the disk, where the system can (Windows cannot)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
