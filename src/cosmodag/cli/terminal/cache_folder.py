"""The folder that caches compiled programs between runs of the command line."""

import glob
import os
import re
import stat
import threading
import warnings
from pathlib import Path

from cosmodag.errors import FallbackWarning

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Return the cache folder for this user's compiled programs."""
    from platformdirs import user_cache_path

    return user_cache_path("cosmodag", appauthor=False)


def keep_compiled_programs() -> None:
    """Turn on JAX's compilation cache on disk; call this before JAX is imported.

    JAX reads these environment variables on import; values that the user has set are kept. Only
    the command line sets them, so that importing the library changes no configuration.

    Cached programs are executed, so other users must not be able to write to the folder: it is
    created with access for its owner only. A folder that others can write to, or that holds files
    of other users, is not used.
    """
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = cache_folder() / "jax"
    danger = _danger(folder)
    if danger is not None:
        warnings.warn(f"Compiled programs are not kept: {danger}.", FallbackWarning, stacklevel=2)
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


_REPORTED = threading.Event()
_DAMAGED = re.compile(r"Error reading persistent compilation cache entry for '([\w.-]+)'")


def remove_damaged(message: str) -> str | None:
    """Remove a cached program that JAX cannot read; return the message to show instead.

    JAX compiles such a program again but does not replace its file, so a file truncated by a crash
    or a full disk would be compiled at every run. After the removal, JAX writes the file again.
    Returns an empty string if the message was shown before, and None if the warning is about
    something else or the cache folder is not that of the command line.
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
    return f"Some compiled programs in '{folder}' were damaged; they are compiled again."


def _danger(folder: Path) -> str | None:
    """Create the folder; return why it cannot be used and the remedy, or None if it can."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        return (
            f"'{folder}' cannot be created ({error.strerror}), so every run compiles them again: "
            "set JAX_COMPILATION_CACHE_DIR to a folder that you can write to"
        )
    if not stat.S_ISDIR(found.st_mode):
        reason = f"'{folder}' is a link or a file"
    elif not hasattr(os, "getuid"):  # Windows protects the folders of users in other ways
        return None
    elif found.st_uid != os.getuid():
        reason = f"'{folder}' belongs to another user"
    elif found.st_mode & _OTHERS_MAY_WRITE:
        reason = f"others may write to '{folder}'"
    elif any(file.stat(follow_symlinks=False).st_uid != os.getuid() for file in os.scandir(folder)):
        reason = f"files in '{folder}' belong to another user"
    else:
        return None
    return (
        f"{reason}. Programs that others put there would run with your rights: delete the folder, "
        "and it is created again for you alone"
    )
