"""Numba's decorators, with this package's options, with types, and with a cache that stays true."""

import ast
import hashlib
import inspect
import os
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["borrowing", "compiled", "inlined"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and divisions shared, so that loops vectorise; values that are not finite
# keep their meaning, so that divergence is noticed. Division by zero gives infinity, as in NumPy:
# a check for it would be a way out of the loop, and such loops do not vectorise either.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and keep the result on disk.

    What is kept is used again only while the function's own file *and* those that it takes helpers
    and constants from are as they were: Numba itself looks at the first alone, and a change in an
    inlined helper elsewhere would go unnoticed.
    """
    return _kept(function, _OPTIONS)


def borrowing(function: Function) -> Function:
    """Compile a function that makes no arrays: it borrows its arguments', and counts no references.

    Counting is atomic, and costs more than the work of small functions, above all where several
    threads count references to the same arrays. What is compiled is kept as by `compiled`.
    """
    return _kept(function, {**_OPTIONS, "_nrt": False})


def _kept(function: Function, options: dict[str, Any]) -> Function:
    try:
        dispatcher = njit(cache=True, **options)(function)
        index = dispatcher._cache._cache_file
        index._source_stamp = (index._source_stamp, _stamp(Path(inspect.getfile(function))))
        _check_folder(Path(dispatcher._cache.cache_path), Path(inspect.getfile(function)))
        _forgive_failures(dispatcher._cache)
    # Another Numba inside; no such files; no folder that can be written to, or none to be trusted.
    except (AttributeError, OSError, RuntimeError):
        # Rather compile again than run old code, or somebody else's.
        dispatcher = njit(**options)(function)
    return cast(Function, dispatcher)


def _check_folder(folder: Path, source: Path) -> None:
    """Refuse a folder in which others could leave programs that this process would then run.

    Beside the source there is nothing to refuse: who can write there can change the source itself.
    """
    if folder.parent == source.parent or not hasattr(os, "getuid"):
        return
    found = folder.stat()
    if found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        folder.chmod(0o700)
        return
    _warn_of(folder)
    raise PermissionError(f"others may write to '{folder}'")


@cache
def _warn_of(folder: Path) -> None:
    # Not by an import statement: an error's change would have everything compiled anew.
    errors = import_module("cosmodag.errors")
    warnings.warn(
        f"Compiled programs are not kept: others may write to '{folder}', and whoever can could "
        f"have you run theirs. Run chmod 700 '{folder}', or set NUMBA_CACHE_DIR to a folder of "
        "your own.",
        errors.FallbackWarning,
        stacklevel=5,
    )


def _forgive_failures(kept: Any) -> None:
    """Have what cannot be kept, as on a full disk, or read, as after a crash, compiled again."""
    load, save = kept.load_overload, kept.save_overload

    def load_or_not(*args: Any) -> Any:
        try:
            return load(*args)
        except Exception:  # whatever a damaged file makes of itself
            return None

    def save_or_not(*args: Any) -> None:
        try:
            save(*args)
        except OSError:
            return
        except Exception:  # what is there is damaged: start anew, or do without
            with suppress(Exception):
                kept.flush()
                save(*args)

    kept.load_overload, kept.save_overload = load_or_not, save_or_not


def inlined(function: Function) -> Function:
    """Compile a function into the compiled functions that call it."""
    return cast(Function, njit(inline="always", **_OPTIONS)(function))


@cache
def _stamp(file: Path) -> str:
    """Digest of the files from which a module's compiled functions are made."""
    digest = hashlib.sha256()
    for source in sorted(_sources(file)):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(file: Path) -> set[Path]:
    """Find what a module imports from its own package, directly or through other compiled code.

    Imports are followed through modules that compile functions themselves, and through
    ``__init__``, which only passes names on; from others come constants, and they end there.
    """
    found, waiting = {file}, [file]
    while waiting:
        for source in _imports_of(waiting.pop()):
            if source not in found:
                found.add(source)
                if source.name == "__init__.py" or _compiles(source):
                    waiting.append(source)
    return found


def _compiles(file: Path) -> bool:
    """Whether a module seems to hold functions for Numba."""
    text = file.read_bytes()
    return b"numba" in text or b"compiled import" in text


@cache
def _imports_of(file: Path) -> frozenset[Path]:
    """Files of the same package that a module's import statements name."""
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    names = _imported_names(ast.parse(file.read_bytes()))
    places = (root.joinpath(*name.split(".")) for name in names)
    candidates = (path for p in places for path in (p.with_suffix(".py"), p / "__init__.py"))
    return frozenset(path for path in candidates if path.is_file())


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """Dotted names of all modules that may be meant by import statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
