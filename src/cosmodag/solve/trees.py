"""Trees of arrays, such as parameters: nested dictionaries and tuples, handled without JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def map_arrays(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply a function to every array of a tree, and the corresponding arrays of other trees.

    Arrays are visited in the order of :func:`leaves`.

    >>> map_arrays(lambda a, b: a + b, {"x": 1, "y": (2, 3)}, {"x": 10, "y": (20, 30)})
    {'x': 11, 'y': (22, 33)}
    """
    if isinstance(tree, dict):
        return {
            name: map_arrays(function, part, *(other[name] for other in others))
            for name, part in sorted(tree.items())
        }
    if isinstance(tree, tuple):
        parts = [map_arrays(function, *each) for each in zip(tree, *others, strict=True)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return function(tree, *others)


def lane_of(tree: Any, lane: int) -> Any:
    """Select the arrays of one problem from stacked arrays."""
    return map_arrays(lambda stacked: stacked[lane], tree)


def where_lanes(mask: NDArray[np.bool_], new: Any, old: Any) -> Any:
    """Combine stacked arrays: `new` for the problems of the mask, `old` for the others."""

    def pick(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.where(mask.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)

    return map_arrays(pick, new, old)


def leaves(tree: Any) -> list[Any]:
    """List the arrays of a tree, those of dictionaries in the order of the sorted keys.

    >>> leaves({"y": (2, 3), "x": 1})
    [1, 2, 3]
    """
    found: list[Any] = []
    map_arrays(found.append, tree)
    return found
