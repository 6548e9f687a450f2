"""Weights of arcs as learners keep them: dense, or sparse for very many variables."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.graph.dags import above

__all__ = ["as_arrays", "chosen_arcs", "column", "count_arcs", "from_arrays", "isolated"]


def chosen_arcs(weights: Any, threshold: float, required: NDArray[np.bool_] | None) -> Any:
    """Keep the arcs above a threshold, and those that are required whatever their weight.

    In a sparse matrix a required arc of weight zero is stored as such; a dense one cannot tell it
    from none.
    """
    strong = above(weights, threshold)
    if required is None:
        return strong
    if not sparse.issparse(weights):
        return np.where(required, weights, strong)
    tails, heads = np.nonzero(required)
    values = np.asarray(sparse.csr_array(weights)[tails, heads]).ravel()
    others = sparse.coo_array(strong)
    new = ~required[others.row, others.col]
    places = (np.append(others.row[new], tails), np.append(others.col[new], heads))
    return sparse.csr_array((np.append(others.data[new], values), places), shape=weights.shape)


def isolated(weights: Any, constant: NDArray[np.bool_]) -> Any:
    """Drop all arcs of constant columns; float64, dense or sparse as given."""
    keep = (~constant).astype(np.float64)
    if sparse.issparse(weights):
        diagonal = sparse.diags_array(keep)
        return sparse.csr_array(diagonal @ weights @ diagonal)
    return np.asarray(weights, np.float64) * keep[:, None] * keep


def as_arrays(name: str, weights: Any) -> dict[str, NDArray[Any]]:
    """Give a matrix, dense or sparse, as named arrays."""
    if not sparse.issparse(weights):
        return {name: weights}
    entries = sparse.coo_array(weights)
    return {
        f"{name}.tails": entries.row,
        f"{name}.heads": entries.col,
        f"{name}.data": entries.data,
    }


def from_arrays(name: str, arrays: dict[str, NDArray[Any]], d: int) -> Any:
    """Rebuild the matrix that :func:`as_arrays` took apart; None where there is none."""
    if name in arrays:
        return arrays[name]
    if f"{name}.data" not in arrays:
        return None
    places = (arrays[f"{name}.tails"], arrays[f"{name}.heads"])
    return sparse.csr_array((arrays[f"{name}.data"], places), shape=(d, d))


def count_arcs(weights: Any) -> int:
    """Count the arcs of a matrix, dense or sparse."""
    return int(weights.count_nonzero() if sparse.issparse(weights) else np.count_nonzero(weights))


def column(weights: Any, v: int) -> NDArray[Any]:
    """Take one column, as a dense vector, of a matrix that may be sparse."""
    taken = weights[:, [v]]
    return np.asarray(taken.toarray() if sparse.issparse(taken) else taken)[:, 0]
