"""Ignoring and recording warnings for a while, also in several threads at once.

`warnings.catch_warnings` restores the filters that it found. If two threads use it at once, one may
restore the filters of the other, which then stay. The contexts of this module add one filter each
and remove only that one.
"""

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from cosmodag.errors import CosmodagWarning

_lock = threading.Lock()
# Contexts that record: the thread and its record, the innermost of a thread last.
_recorders: list[tuple[int, list[warnings.WarningMessage]]] = []
# `warnings.showwarning` before the first of them.
_show: Any = None
# Pattern of every module: makes a filter differ from one that a program has set for all modules.
_ANY = ".*"


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Context in which warnings of a category are not shown.

    >>> before = list(warnings.filters)
    >>> with ignoring(UserWarning):
    ...     warnings.warn("not shown", UserWarning)
    >>> before == list(warnings.filters)
    True
    """
    if getattr(sys.flags, "context_aware_warnings", False):
        with warnings.catch_warnings():  # local to the thread since Python 3.14
            warnings.simplefilter("ignore", category)
            yield
        return
    filters, entry = warnings.filters, ("ignore", None, category, None, 0)
    filters.insert(0, entry)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        filters.remove(entry)  # type: ignore[attr-defined]


@contextmanager
def recording() -> Iterator[list[warnings.WarningMessage]]:
    """Context in which this package's warnings of this thread are recorded, and not shown.

    Warnings that another thread ignores meanwhile (`ignoring`) are missing from the record.

    >>> from cosmodag.errors import DataWarning
    >>> with recording() as found:
    ...     warnings.warn("not shown", DataWarning)
    >>> [str(one.message) for one in found]
    ['not shown']
    """
    global _show
    if getattr(sys.flags, "context_aware_warnings", False):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", CosmodagWarning)
            yield found
        return
    record: list[warnings.WarningMessage] = []
    own = (threading.get_ident(), record)
    with _lock:
        if not _recorders:
            _show, warnings.showwarning = warnings.showwarning, _record_or_show
        _recorders.append(own)
        warnings.filterwarnings("always", category=CosmodagWarning, module=_ANY)
        filters, entry = warnings.filters, warnings.filters[0]
    try:
        yield record
    finally:
        with _lock:
            _recorders[:] = [one for one in _recorders if one[1] is not record]
            if not _recorders:
                warnings.showwarning = _show
                with contextlib.suppress(ValueError):
                    filters.remove(entry)  # type: ignore[attr-defined]


def _record_or_show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Record a warning of this package in a thread that records; show any other."""
    thread = threading.get_ident()
    records = [record for recorder, record in _recorders if recorder == thread]
    if records and issubclass(category, CosmodagWarning):
        found = warnings.WarningMessage(message, category, filename, lineno, file, line)
        records[-1].append(found)
    else:
        _show(message, category, filename, lineno, file, line)
