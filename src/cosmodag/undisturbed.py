"""Imports of other packages that leave Python's own generator of random numbers as it was."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["undisturbed"]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Context for a late import: `rich`, and through it scikit-learn, draws a number when loaded.

    A caller who has seeded `random` would otherwise get other numbers after the first fit.

    Examples
    --------
    >>> before = random.getstate()
    >>> with undisturbed():
    ...     _ = random.random()
    >>> random.getstate() == before
    True
    """
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
