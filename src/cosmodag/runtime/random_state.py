"""Keeping Python's global random generator unchanged while other packages are imported."""

import random
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def preserve_random_state() -> Iterator[None]:
    """Context that restores the state of `random` on leaving.

    `rich` and `sklearn` draw a random number when they are imported. An import during a fit would
    change the numbers of a caller who has seeded `random`.

    >>> before = random.getstate()
    >>> with preserve_random_state():
    ...     _ = random.random()
    >>> random.getstate() == before
    True
    """
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
