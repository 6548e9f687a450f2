"""Temporarily ignoring a category of warnings, also in several threads at once."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Context in which warnings of a category are not shown.

    `warnings.catch_warnings` restores the filters that it found. If two threads use it at once, one
    may restore the filter of the other, which then stays. Here each context adds one filter and
    removes only that one.

    Examples
    --------
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
