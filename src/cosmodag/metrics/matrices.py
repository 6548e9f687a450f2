"""Checks of matrices to be scored, and alignment of labelled ones to one order of variables."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError

__all__ = ["Labelled", "Matrix", "Nodes", "aligned", "arcs_of", "labelled"]

Matrix = Any  # an array, a data frame or any SciPy sparse matrix
Nodes = NDArray[np.int64]


class Labelled(NamedTuple):
    """A checked matrix, dense or CSR, and the names of its variables, if any."""

    matrix: Matrix
    names: list[Hashable] | None


def labelled(matrix: Matrix, label: str) -> Labelled:
    """Check a matrix, and take its names from the rows and columns of a data frame.

    Columns are reordered to match the rows; rows numbered 0, 1, … take the names of the columns; a
    frame with numbers on both axes has no names.
    """
    names: list[Hashable] | None = None
    if hasattr(matrix, "columns"):
        columns = list(getattr(matrix, "column_names", matrix.columns))  # Arrow has both
        rows = list(getattr(matrix, "index", columns))
        matrix = np.asarray(matrix)
        numbers: list[Hashable] = list(range(len(rows)))
        if columns != numbers:
            names = columns if rows == numbers else rows
            matrix = _square(matrix, label)[
                :, _places(columns, names, f"The columns of the {label}")
            ]
    return Labelled(_square(matrix, label), names)


def aligned(truth: Labelled, estimate: Labelled) -> Matrix:
    """Return the estimate with its variables in the order of the truth's, if both have names."""
    if truth.matrix.shape != estimate.matrix.shape:
        raise DataError(
            f"The truth has shape {truth.matrix.shape} and the weights {estimate.matrix.shape}: "
            "score an estimate of the same variables."
        )
    if truth.names is None or estimate.names is None or truth.names == estimate.names:
        return estimate.matrix
    places = _places(estimate.names, truth.names, "The rows of the weights")
    return estimate.matrix[places][:, places]


def _places(given: Sequence[Hashable], wanted: Sequence[Hashable], what: str) -> Nodes:
    """Return the position of each wanted name among the given ones."""
    place = {name: index for index, name in enumerate(given)}
    unknown = [name for name in wanted if name not in place]
    if unknown or len(place) < len(given):
        missing = f"{unknown[0]!r} is missing" if unknown else "a name is repeated"
        raise DataError(
            f"{what} have other labels than the rows they are compared with ({missing}): give "
            "both the same names, each once."
        )
    return np.array([place[name] for name in wanted], dtype=np.int64)


def _square(matrix: Matrix, label: str) -> Matrix:
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise DataError(f"The {label} must be a square matrix, but its shape is {matrix.shape}.")
    if matrix.dtype.kind not in "buif":
        raise DataError(f"The {label} must hold real numbers, not {matrix.dtype}.")
    entries = matrix.data if sparse.issparse(matrix) else matrix
    if matrix.dtype.kind == "f" and not np.all(np.isfinite(entries)):
        raise DataError(f"The {label} holds values that are not finite: fit again or repair them.")
    return sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix


def arcs_of(graph: Matrix) -> tuple[Nodes, Nodes]:
    """Tails and heads of the non-zero entries."""
    tails, heads = graph.nonzero()
    return tails.astype(np.int64), heads.astype(np.int64)
