"""Numba's decorators with this package's options, type hints, and a cache that detects changes."""

import gc
import hashlib
import inspect
import os
import re
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, version_info
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys

__all__ = ["borrowing", "compiled", "inlined", "part", "programs_of"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and divisions shared, so that loops vectorise; non-finite values keep their
# meaning, so that divergence is detected. Division by zero gives infinity, as in NumPy: a check for
# it would be an exit from the loop, and such loops do not vectorise.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}

# No import statement: a change there would otherwise recompile everything.
_compiling = import_module("cosmodag.compiling")

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

# The latest version of Numba whose programs were tried without loading all that it can compile.
_TRIED = (0, 68)

_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]*)", re.MULTILINE)


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and keep the result on disk.

    The result is reused only while the function's file *and* the files of its helpers and constants
    are unchanged. Numba itself compares only the function's file, and would run an outdated program
    after a change in an inlined helper.
    """
    return _kept(function, {**_OPTIONS, **_compiler("CountingCompiler")})


def borrowing(function: Function) -> Function:
    """Compile a function that allocates no arrays, without reference counting.

    Reference counts are atomic and cost more than the work of small functions, especially if
    several threads share arrays; and such a function compiles in a third of the time. It must
    consist of plain loops, and places in arrays must not be negative (`cosmodag.lowering`). The
    result is cached as by `compiled`.
    """
    return _kept(function, {**_OPTIONS, "_nrt": False, **_compiler("QuickCompiler")})


def part(function: Function) -> Function:
    """Compile a function as `borrowing` does, for compiled functions to call, not for Python.

    It gets no machine code of its own and no way in from Python; both take as long as the rest.
    """
    return _kept(function, {**_OPTIONS, "_nrt": False, **_compiler("PartCompiler")})


def _compiler(name: str) -> dict[str, Any]:
    """Choose one of `cosmodag.compilers`, where Numba is known to work with it.

    They are made of Numba's internals, so they are not even imported with another version of it.
    """
    if version_info.short != _TRIED:
        return {}
    return {"pipeline_class": getattr(import_module("cosmodag.compilers"), name)}


def inlined(function: Function) -> Function:
    """Inline a function into the compiled functions that call it."""
    return cast(Function, njit(inline="always", **_OPTIONS)(function))


def _kept(function: Function, options: dict[str, Any]) -> Function:
    dispatcher = njit(**options)(function)
    dispatcher._cache = _Cache(function)
    return cast(Function, dispatcher)


class _Listener(event.Listener):  # type: ignore[misc]
    """Tells of the functions of this package that Numba compiles.

    Meanwhile no garbage is collected: a compilation makes hundreds of thousands of objects that all
    stay, and the collector, which would look at them again and again, took a tenth of the time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._is_collecting = False

    def on_start(self, told: Any) -> None:
        dispatcher = told.data["dispatcher"]
        if isinstance(getattr(dispatcher, "_cache", None), _Cache):
            if not self._depth:
                self._is_collecting = gc.isenabled()
                gc.disable()
            self._depth += 1
            _compiling.begin(_name(dispatcher), programs_of(dispatcher))

    def on_end(self, told: Any) -> None:
        dispatcher = told.data["dispatcher"]
        if isinstance(getattr(dispatcher, "_cache", None), _Cache):
            self._depth -= 1
            if not self._depth and self._is_collecting:
                gc.enable()
            _compiling.end(_name(dispatcher), programs_of(dispatcher))


def _name(dispatcher: Any) -> str:
    return f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"


@cache
def programs_of(dispatcher: Any) -> set[str]:
    """Names of the functions that are compiled for one: itself, and those that its code names."""
    found, waiting, seen = set(), [dispatcher], {id(dispatcher)}
    while waiting:
        one = waiting.pop()
        if isinstance(one._cache, _Cache):
            found.add(_name(one))
        function = one.py_func
        names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        for name in function.__code__.co_names + function.__code__.co_freevars:
            other = names.get(name)
            if isinstance(other, Dispatcher) and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
    return found


event.register("numba:compile", _Listener())


class _Cache(NullCache):  # type: ignore[misc]
    """Cache of one function's programs on disk; not read before the function is first compiled.

    A program that cannot be read, for example after a crash, is compiled again; one that cannot be
    written, for example on a full disk, is not kept.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _found(self) -> Any:
        try:
            found = FunctionCache(self._function)
            source = Path(inspect.getfile(self._function))
            is_private = _check_folder(Path(found.cache_path), source)
            found._cache_file = _Programs(found, _stamp(source), is_private)
        # No such files; no folder that is writable and trusted.
        except (AttributeError, OSError, RuntimeError):
            return NullCache()
        return found

    @property
    def cache_path(self) -> Any:
        return self._found.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with suppress(Exception):  # a damaged file can raise anything
            if version_info.short > _TRIED:
                return self._found.load_overload(sig, target_context)
            # What the public method does, without loading all that Numba can compile (0.3 s): of
            # that, a program that is read needs only the allocation of memory.
            rtsys.initialize(target_context)
            return self._found._load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            self._found.save_overload(sig, data)

    def flush(self) -> None:
        self._found.flush()


class _Programs(IndexDataCacheFile):  # type: ignore[misc]
    """One file per program, which records the sources and the key that it was made for.

    Numba keeps an index beside its programs and writes the index first. If the program then cannot
    be written, the new index points to an old program, which every later process runs. Here there
    is no index: the digest of the sources is part of the file name, and the file itself records the
    sources and the key.

    Parameters
    ----------
    found : FunctionCache
    stamp : str
        Digest of the sources.
    is_private : bool
        Whether only files of this user are read.
    """

    def __init__(self, found: Any, stamp: str, is_private: bool) -> None:
        base = found._impl.filename_base
        super().__init__(found.cache_path, base, stamp)
        self._base, self._is_private = base, is_private

    def save(self, key: Any, data: Any) -> None:
        for file in Path(self._cache_path).glob(f"{self._base}.*"):
            if not file.name.startswith(f"{self._base}.{self._source_stamp}."):
                file.unlink(missing_ok=True)  # made from outdated sources
        name = self._name_of(key)
        self._save_data(name, (self._made_for(key), data))
        if self._is_private:
            Path(self._cache_path, name).chmod(0o600)

    def load(self, key: Any) -> Any:
        path = Path(self._cache_path, self._name_of(key))
        if not path.exists() or (self._is_private and not _is_own(path.lstat())):
            return None
        made_for, data = self._load_data(path.name)
        return data if made_for == self._made_for(key) else None

    def flush(self) -> None:
        for file in Path(self._cache_path).glob(f"{self._base}.*"):
            file.unlink(missing_ok=True)

    def _made_for(self, key: Any) -> Any:
        return self._version, self._base, self._source_stamp, key

    def _name_of(self, key: Any) -> str:
        number = hashlib.sha256(f"{self._version} {key}".encode()).hexdigest()[:16]
        return f"{self._base}.{self._source_stamp}.{number}.nbc"


def _is_own(found: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and only this user may write to it."""
    return found.st_uid == os.getuid() and not found.st_mode & _OTHERS_MAY_WRITE


def _check_folder(folder: Path, source: Path) -> bool:
    """Refuse a folder in which other users could place programs that this process would run.

    The folder of the source is always accepted: a user who can write there can change the source
    itself.

    Returns
    -------
    bool
        Whether only this user may write to the folder, so that files of others must not be read.
    """
    if folder.parent == source.parent or not hasattr(os, "getuid"):
        return False
    found = folder.stat()
    is_new = found.st_uid == os.getuid() and not any(folder.iterdir())
    if is_new or _is_own(found):
        folder.chmod(0o700)
        return True
    _warn_of(folder)
    raise PermissionError(f"others may write to '{folder}'")


@cache
def _warn_of(folder: Path) -> None:
    # No import statement: a change in errors.py would otherwise recompile everything.
    errors = import_module("cosmodag.errors")
    warnings.warn(
        f"Compiled programs are not kept: others may write to '{folder}', and programs that they "
        "put there would run with your rights. Delete the folder, and it is created again for "
        "you alone, or set NUMBA_CACHE_DIR to a folder of your own.",
        errors.FallbackWarning,
        stacklevel=5,
    )


@cache
def _stamp(file: Path) -> str:
    """Digest of the source files of a module's compiled functions."""
    digest = hashlib.sha256()
    for source in sorted(_sources(file)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _sources(file: Path) -> set[Path]:
    """Find the files that a module imports from its own package, directly or indirectly."""
    found, waiting = {file}, [file]
    while waiting:
        new = _imports_of(waiting.pop()) - found
        found |= new
        waiting += new
    return found


@cache
def _imports_of(file: Path) -> frozenset[Path]:
    """Files of the same package named in a module's import statements."""
    package = file.parent
    while (package.parent / "__init__.py").exists():
        package = package.parent
    places = (
        package.parent.joinpath(*name.split("."))
        for name in _imported_names(file.read_text("utf-8"))
        if name.split(".")[0] == package.name
    )
    candidates = (path for p in places for path in (p.with_suffix(".py"), p / "__init__.py"))
    return frozenset(path for path in candidates if path.is_file())


def _imported_names(text: str) -> Iterator[str]:
    """Dotted names of all modules that import statements may refer to."""
    for names in _IMPORT.findall(text):
        yield from re.findall(r"[\w.]+", names)
    for module, names in _FROM.findall(text):
        yield module
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))
