"""The folder that caches compiled programs between runs of the command line."""

import glob
import os
import re
import threading
import warnings

from cosmodag.errors import FallbackWarning
from cosmodag.runtime.private_folder import cache_folder, danger_of


def keep_compiled_programs() -> None:
    """Turn on JAX's compilation cache on disk; call this before JAX is imported.

    JAX reads these environment variables on import; values that the user has set are kept. Only
    the command line sets them, so that importing the library changes no configuration.

    A folder that others can write to, or that holds files of other users, is not used.
    """
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = cache_folder() / "jax"
    danger = danger_of(folder, "JAX_COMPILATION_CACHE_DIR")
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
