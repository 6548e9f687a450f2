"""Where compiled programs are kept between runs of the command line."""

import os
from pathlib import Path

__all__ = ["cache_folder", "keep_compiled_programs"]


def cache_folder() -> Path:
    """Find the folder in which this user's compiled programs are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("cosmodag", appauthor=False)


def keep_compiled_programs() -> None:
    """Let JAX keep what it compiles on disk; call it before JAX is imported.

    JAX reads these variables when it is imported, and a value that the user has set stays. The
    library itself sets nothing: a process that is not ours keeps its own configuration.
    """
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_folder() / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
