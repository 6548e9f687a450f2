"""The one record that a simulated or a real data set comes in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DENSE_LIMIT", "Dataset"]

DENSE_LIMIT = 5_000
"""Up to this many variables a `Dataset` holds dense matrices, above it sparse ones."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table and the graph it is known, or believed, to come from.

    Attributes
    ----------
    name : str
        What `load` was called with, or the stem of the table's file.
    seed : int or None
        What the data were simulated from; None for data that were not.
    X : ndarray of float64, shape (n, d)
        The samples, one a row, not centred.
    names : tuple of str
        The d column names.
    weights : ndarray or scipy.sparse.csr_array of float64, shape (d, d), or None
        ``weights[u, v]`` is the linear effect of u on v; None where no such number exists.
    graph : ndarray or scipy.sparse.csr_array of bool, shape (d, d)
        ``graph[u, v]`` is the arc u → v.

    Notes
    -----
    `weights` and `graph` are NumPy arrays up to ``DENSE_LIMIT`` (5,000) variables and
    `scipy.sparse.csr_array` above.
    """

    name: str
    seed: int | None
    X: NDArray[np.float64]
    names: tuple[str, ...]
    weights: Any
    graph: Any


def dense_if_small(matrix: Any) -> Any:
    """Return a sparse matrix as an array when it has at most ``DENSE_LIMIT`` columns."""
    return matrix.toarray() if matrix.shape[1] <= DENSE_LIMIT else matrix
