"""Standard input and pipes as files."""

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["given_file"]

_STANDARD_INPUT = "-"
# How files that are no text begin, and the ends of their names.
_BEGINNINGS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"\x1f\x8b": ".csv.gz"}


@contextlib.contextmanager
def given_file(path: str | os.PathLike[str]) -> Iterator[tuple[Path, str]]:
    """Yield the file a path stands for, and how messages call it.

    ``-`` is standard input. It, and a pipe, are copied to a temporary file, because readers go
    back to the beginning; the end of its name is what the first bytes say, ``.csv`` for text.
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
