"""Where compiled programs are kept between runs of the command line."""

import glob
import os
import re
import stat
import threading
import warnings
from pathlib import Path

from cosmodag.errors import FallbackWarning

__all__ = ["cache_folder", "keep_compiled_programs", "mended"]

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Find the folder in which this user's compiled programs are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("cosmodag", appauthor=False)


def keep_compiled_programs() -> None:
    """Let JAX keep what it compiles on disk; call it before JAX is imported.

    JAX reads these variables when it is imported, and a value that the user has set stays. The
    library itself sets nothing: a process that is not ours keeps its own configuration.

    Programs that are read back are run, so that nobody else may write to the folder: it is made for
    its owner alone. One that others can write to, or in which files of others lie, is not used.
    """
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = cache_folder() / "jax"
    danger = _danger(folder)
    if danger is not None:
        warnings.warn(
            f"Compiled programs are not kept: {danger}. Programs of others that lie there would "
            "run as yours: delete it, and it is made again for you alone.",
            FallbackWarning,
            stacklevel=2,
        )
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


_REPORTED = threading.Event()
_DAMAGED = re.compile(r"Error reading persistent compilation cache entry for '([\w.-]+)'")


def mended(message: str) -> str | None:
    """Remove a program that JAX says it cannot read, and give the sentence to show instead.

    JAX compiles such a program again, but does not replace the file: left there, one that was cut
    off by a crash or a full disk would be compiled at every run. What is removed is written again
    by this one. The sentence is empty where it was given before, and None where the message is
    another, or the folder is not the command line's own.
    """
    found = _DAMAGED.match(message)
    folder = cache_folder() / "jax"
    if found is None or os.environ.get("JAX_COMPILATION_CACHE_DIR") != str(folder):
        return None
    for entry in folder.glob(f"{glob.escape(found[1])}-*-cache"):
        entry.unlink(missing_ok=True)
    if _REPORTED.is_set():
        return ""
    _REPORTED.set()
    return f"Compiled programs in '{folder}' were damaged: they are compiled again."


def _danger(folder: Path) -> str | None:
    """Make the folder, and say why programs in it cannot be trusted, if they cannot."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        return f"'{folder}' cannot be made ({error.strerror})"
    if not stat.S_ISDIR(found.st_mode):
        return f"'{folder}' is a link or a file"
    if not hasattr(os, "getuid"):  # Windows keeps users' folders apart by other means
        return None
    if found.st_uid != os.getuid():
        return f"'{folder}' belongs to another user"
    if found.st_mode & _OTHERS_MAY_WRITE:
        return f"others may write to '{folder}'"
    if any(file.stat(follow_symlinks=False).st_uid != os.getuid() for file in os.scandir(folder)):
        return f"files in '{folder}' belong to another user"
    return None
