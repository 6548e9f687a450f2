"""Registry of temporary files to delete on exit, and replacement of several files at once."""

import contextlib
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

__all__ = ["being_written", "discard_unfinished", "replaced_together"]

_unfinished: set[Path] = set()


@contextlib.contextmanager
def being_written(path: Path) -> Iterator[None]:
    """Context in which a temporary file or folder is written; it is removed on exit."""
    _unfinished.add(path)
    try:
        yield
    finally:
        _remove(path)
        _unfinished.discard(path)


def discard_unfinished() -> None:
    """Remove all registered files, for a process that ends without its usual clean-up."""
    for path in tuple(_unfinished):
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink()


@contextlib.contextmanager
def replaced_together(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder whose files then replace those in another folder, all or none.

    After a full disk or a Ctrl-C, all files of the earlier result are unchanged: old and new files
    are never mixed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with replaced_together(folder) as stage:
    ...     written = (stage / "graph.txt").write_text("a -> b")
    >>> [path.name for path in folder.iterdir()]
    ['graph.txt']
    """
    stage = folder / f".cosmodag.{secrets.token_hex(6)}.part"
    with being_written(stage):
        stage.mkdir()
        try:
            yield stage
        except OSError as error:  # name the final file in the error, not the temporary one
            name = os.fsdecode(error.filename or "")
            if Path(name).parent != stage:
                raise
            raise OSError(error.errno, error.strerror, str(folder / Path(name).name)) from error
        files = sorted(stage.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        with _uninterrupted():
            for path in files:
                os.replace(path, folder / path.name)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Context of short work during which Ctrl-C and SIGTERM are deferred."""
    if threading.current_thread() is not threading.main_thread():  # signals go to the main thread
        yield
        return
    waiting: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        waiting.append(number)

    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(n))]
    before = [signal.signal(number, note) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        for first in waiting[:1]:
            signal.raise_signal(signal.Signals(first))
