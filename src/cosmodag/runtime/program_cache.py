"""Disk cache of compiled programs, which are used only while their source files are unchanged.

Numba's own cache checks only the file of the function itself, and would run an outdated program
after a change of an imported function or constant.
"""

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
from typing import Any

from numba import version_info
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.runtime import rtsys

TESTED_VERSION = (0, 68)
"""Latest version of Numba with which the use of its internals was tested."""

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]*)", re.MULTILINE)


class ProgramCache(NullCache):  # type: ignore[misc]
    """Disk cache of one function's programs, opened when one of them is first needed.

    A program that cannot be read, for example after a crash, is compiled again; one that cannot be
    written, for example on a full disk, is not saved.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _cache(self) -> Any:
        try:
            cache = FunctionCache(self._function)
            source = Path(inspect.getfile(self._function))
            is_private = _secure_folder(Path(cache.cache_path), source)
            cache._cache_file = _Programs(cache, _stamp(source), is_private)
        # The function has no source file, or no folder is both writable and safe.
        except (AttributeError, OSError, RuntimeError):
            return NullCache()
        return cache

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the program for a signature; None if there is no usable one."""
        with suppress(Exception):  # a damaged file can raise anything
            if version_info.short > TESTED_VERSION:
                return self._cache.load_overload(sig, target_context)
            # The public method also loads all of Numba's function implementations (0.3 s); a
            # program from disk needs only those that allocate memory.
            rtsys.initialize(target_context)
            return self._cache._load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a program, if it can be written."""
        with suppress(Exception):
            self._cache.save_overload(sig, data)


class _Programs(IndexDataCacheFile):  # type: ignore[misc]
    """The programs of one function, one file each.

    Numba keeps an index beside its programs and writes the index first. If the program then cannot
    be written, the new index points to an old program, which every later process runs. Here there
    is no index: the digest of the sources is part of the file name, and each file records the
    function, sources and signature of its program. In a private folder, only files of this user are
    read.
    """

    def __init__(self, cache: Any, stamp: str, is_private: bool) -> None:
        base = cache._impl.filename_base
        super().__init__(cache.cache_path, base, stamp)
        self._base, self._is_private = base, is_private

    def save(self, key: Any, data: Any) -> None:
        for file in Path(self._cache_path).glob(f"{self._base}.*"):
            if not file.name.startswith(f"{self._base}.{self._source_stamp}."):
                file.unlink(missing_ok=True)  # compiled from outdated sources
        name = self._name_of(key)
        self._save_data(name, (self._identity(key), data))
        if self._is_private:
            Path(self._cache_path, name).chmod(0o600)

    def load(self, key: Any) -> Any:
        path = Path(self._cache_path, self._name_of(key))
        if not path.exists() or (self._is_private and not _is_own(path.lstat())):
            return None
        identity, data = self._load_data(path.name)
        return data if identity == self._identity(key) else None

    def _identity(self, key: Any) -> Any:
        return self._version, self._base, self._source_stamp, key

    def _name_of(self, key: Any) -> str:
        digest = hashlib.sha256(f"{self._version} {key}".encode()).hexdigest()[:16]
        return f"{self._base}.{self._source_stamp}.{digest}.nbc"


def _is_own(found: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and only this user may write to it."""
    return found.st_uid == os.getuid() and not found.st_mode & _OTHERS_MAY_WRITE


def _secure_folder(folder: Path, source: Path) -> bool:
    """Make the folder of the cache private to this user; return whether it is.

    It is refused if other users may have written to it: this process would run programs that they
    placed there. The folder beside the source is accepted as it is, since whoever can write there
    can change the source itself.
    """
    if folder.parent == source.parent or not hasattr(os, "getuid"):
        return False
    found = folder.stat()
    is_new = found.st_uid == os.getuid() and not any(folder.iterdir())
    if is_new or _is_own(found):
        folder.chmod(0o700)
        return True
    _warn_about(folder)
    raise PermissionError(f"others may write to '{folder}'")


@cache
def _warn_about(folder: Path) -> None:
    # Not an import statement: with one, a change of errors.py would recompile everything.
    errors = import_module("cosmodag.errors")
    warnings.warn(
        f"Compiled programs are not kept: other users may write to '{folder}', and programs that "
        "they put there would run with your rights. Delete the folder, so that it is created "
        "again for you alone, or set NUMBA_CACHE_DIR to a folder of your own.",
        errors.FallbackWarning,
        stacklevel=5,
    )


@cache
def _stamp(file: Path) -> str:
    """Digest of a module and of all files of its package that it imports."""
    digest = hashlib.sha256()
    for source in sorted(_sources(file)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _sources(file: Path) -> set[Path]:
    """Find a module's file, and those of its package that it imports, directly or indirectly."""
    found, waiting = {file}, [file]
    while waiting:
        new = _imports_of(waiting.pop()) - found
        found |= new
        waiting += new
    return found


@cache
def _imports_of(file: Path) -> frozenset[Path]:
    """Files of a module's package that its own import statements name."""
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
