"""Folders in which Numba keeps compiled programs: one for each function and its present code.

Numba checks only the file of the function itself, and would run an outdated program after a change
of a helper or a constant in another file. Here the name of the folder holds a digest of all code
and constants that the program is compiled from.
"""

import hashlib
import inspect
import os
import shutil
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba

from cosmodag.errors import FallbackWarning
from cosmodag.runtime.private_folder import cache_folder, danger_of

# Days after their last use at which programs of an earlier state of a function are deleted.
_DAYS_KEPT = 30.0

_LOCK = threading.Lock()


def folder_of(part: Any) -> Path | None:
    """Return the folder for the programs of a Numba function; None if none is writable and safe."""
    root = _root()
    if not _is_usable(root):
        return None
    folder = root / _name(part)
    try:
        folder.mkdir(exist_ok=True)
        os.utime(folder)
    except OSError:
        return None
    _delete_old(folder)
    return folder


def delete(part: Any) -> None:
    """Delete the programs of a Numba function."""
    shutil.rmtree(_root() / _name(part), ignore_errors=True)


@contextmanager
def numba_folder(folder: Path) -> Iterator[None]:
    """Context in which functions that are decorated with ``cache=True`` use this folder."""
    with _LOCK:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            yield
        finally:
            numba.config.CACHE_DIR = before


def _root() -> Path:
    """``NUMBA_CACHE_DIR`` if it is set, otherwise this user's folder for caches."""
    given = numba.config.CACHE_DIR
    return Path(given, "cosmodag") if given else cache_folder() / "numba"


@cache
def _is_usable(root: Path) -> bool:
    danger = danger_of(root, "NUMBA_CACHE_DIR")
    if danger is not None:
        warnings.warn(f"Compiled programs are not kept: {danger}.", FallbackWarning, stacklevel=6)
    return danger is None


def _delete_old(folder: Path) -> None:
    """Delete programs of earlier states of the same function that have not been used lately."""
    stem, _, _ = folder.name.rpartition("-")
    for other in folder.parent.glob(f"{stem}-*"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _DAYS_KEPT * 86400:
                shutil.rmtree(other, ignore_errors=True)


def _name(part: Any) -> str:
    digest = hashlib.sha256()
    # With checks of bounds, or optimised less, the same code is another program.
    for item in (numba.__version__, numba.config.BOUNDSCHECK, numba.config.OPT):
        digest.update(f"{item}\n".encode())
    for item in _contents(part, set()):
        digest.update(f"{item}\n".encode())
    function = part.py_func
    name = f"{function.__module__}.{function.__qualname__}".replace("<locals>", "")
    return f"{name}-{digest.hexdigest()[:16]}"


def _contents(value: Any, seen: set[int]) -> Iterator[str]:
    """Describe a function with all functions and constants that it uses, or a constant."""
    value = getattr(value, "part", value)
    if hasattr(value, "py_func"):
        options = value.targetoptions
        yield f"{options.get('inline')} {sorted(options['fastmath'])}"
        value = value.py_func
    if isinstance(value, FunctionType):
        if id(value) in seen:
            return
        seen.add(id(value))
        code, outer = value.__code__, inspect.getclosurevars(value)
        yield f"{code.co_code!r} {code.co_names} {code.co_consts} {value.__defaults__}"
        for name, item in sorted({**outer.nonlocals, **outer.globals}.items()):
            yield name
            yield from _contents(item, seen)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    else:
        yield repr(value)
