"""Values and matrices as files hold them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.knowledge import Knowledge

__all__ = ["as_arrays", "as_plain", "from_arrays", "from_plain"]


def as_plain(value: Any) -> Any:
    """Value as JSON can hold it: NumPy's numbers as Python's, what it cannot hold as None."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    if isinstance(value, Knowledge):
        return value.facts()
    if isinstance(value, dict):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value


def from_plain(value: Any) -> Any:
    """Value that `as_plain` wrote: a tuple was written as a list."""
    return tuple(value) if isinstance(value, list) else value


def as_arrays(name: str, weights: Any) -> dict[str, NDArray[Any]]:
    """Write a matrix, dense or sparse, as named arrays; none for None."""
    if weights is None:
        return {}
    if not sparse.issparse(weights):
        return {name: weights}
    entries = sparse.coo_array(weights)
    return {
        f"{name}.tails": entries.row,
        f"{name}.heads": entries.col,
        f"{name}.data": entries.data,
    }


def from_arrays(name: str, arrays: dict[str, NDArray[Any]], d: int) -> Any:
    """Rebuild a matrix from the arrays of :func:`as_arrays`; None if there are none."""
    if name in arrays:
        return arrays[name]
    if f"{name}.data" not in arrays:
        return None
    places = (arrays[f"{name}.tails"], arrays[f"{name}.heads"])
    return sparse.csr_array((arrays[f"{name}.data"], places), shape=(d, d))
