"""Atomic writing of files.

A file is written under a temporary name in its final folder, flushed to the disk, and renamed. A
rename within one folder is atomic, so a crash, a full disk or Ctrl-C leaves either the old file or
the new one. Temporary files are registered, so that they can be deleted on exit.
"""

import contextlib
import glob
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType

from cosmodag.errors import DataError

_unfinished: set[Path] = set()


@contextlib.contextmanager
def being_written(path: Path) -> Iterator[None]:
    """Context in which a temporary file or folder is written, and which removes it at the end."""
    _unfinished.add(path)
    try:
        yield
    finally:
        _remove(path)
        _unfinished.discard(path)


def discard_unfinished() -> None:
    """Remove all temporary files, for a process that exits without the usual clean-up."""
    for path in tuple(_unfinished):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink()


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a file or folder; yields whether it is held by this context.

    The system releases the lock of a process that is killed. Where folders cannot be locked
    (Windows, some network drives), nothing is held.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        held = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            held = False
        yield held
    finally:
        os.close(handle)


def _remove_abandoned(folder: Path, name: str) -> None:
    """Remove unfinished files of killed processes, which hold no lock on them.

    An empty file may be one that another process is about to lock.
    """
    for path in folder.glob(f".{glob.escape(name)}.*.part"):
        with _locked(path, wait=False) as is_abandoned:
            if is_abandoned and path.stat().st_size:
                _remove(path)


@contextlib.contextmanager
def replaced_together(
    folder: Path, outdated: Callable[[], Iterable[Path]] = tuple
) -> Iterator[Path]:
    """Yield a temporary folder; its files then replace those in ``folder``, all or none.

    The folder is locked while files are replaced, so that two writers take turns. `outdated` is
    called then, and lists files to remove.

    After a full disk or Ctrl-C, all files of the earlier result are unchanged: old and new files
    are never mixed.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with replaced_together(folder) as stage:
    ...     written = (stage / "graph.txt").write_text("a -> b")
    >>> [path.name for path in folder.iterdir()]
    ['graph.txt']
    """
    stage = folder / f".cosmodag.{secrets.token_hex(6)}.part"
    with being_written(stage), contextlib.ExitStack() as held:
        with _locked(folder):
            _remove_abandoned(folder, "cosmodag")
            stage.mkdir()
            held.enter_context(_locked(stage))
        try:
            yield stage
        except OSError as error:  # name the final file in the error, not the temporary one
            name = os.fsdecode(error.filename or "")
            if Path(name).parent != stage:
                raise
            raise OSError(error.errno, error.strerror, str(folder / Path(name).name)) from error
        with _uninterrupted(), _locked(folder):
            files = {folder / path.name: path for path in stage.iterdir()}
            for path in set(outdated()).difference(files):
                path.unlink(missing_ok=True)
            for path in sorted(files):
                os.replace(files[path], path)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Context that defers Ctrl-C and SIGTERM until its end."""
    if threading.current_thread() is not threading.main_thread():  # signals go to the main thread
        yield
        return
    deferred: list[int] = []

    def defer(number: int, frame: FrameType | None) -> None:
        deferred.append(number)

    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(n))]
    before = [signal.signal(number, defer) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        if deferred:
            signal.raise_signal(signal.Signals(deferred[0]))


def write_text(path: str | os.PathLike[str], text: str | Iterable[str]) -> None:
    """Write ``text``, or its parts in order, to ``path`` as UTF-8, atomically.

    The folder must exist. Line ends are written unchanged on every system.

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
        _remove_abandoned(target.parent, target.name[:100])
        with being_written(temporary):
            temporary.touch(exist_ok=False)
            with _locked(temporary):
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
    """Write a file and wait until it is on the disk."""
    # Not tempfile.mkstemp: it ignores the umask and creates files that only their owner can read.
    with open(path, "wb") as handle:
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
