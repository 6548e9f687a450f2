"""How many threads linear algebra may use."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["threads_for"]

# Below this size a product is over before other threads have woken up.
_SMALL = 200


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def threads_for(d: int) -> AbstractContextManager[Any]:
    """Context in which products of d × d matrices run on one thread if they are small."""
    limiter: AbstractContextManager[Any] = _controller().limit(
        limits=1 if d < _SMALL else None, user_api="blas"
    )
    return limiter
