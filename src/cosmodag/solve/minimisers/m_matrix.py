"""The inverse of an M-matrix, by elimination without pivoting."""

from typing import Any

import numpy as np

from cosmodag.compiled import compiled

__all__ = ["invert_m_matrix"]

# Rows per elimination block: small enough for registers, large enough for a matrix product.
_BLOCK = 16


@compiled
def _invert_in_place(matrix: Any) -> bool:
    """Gauss–Jordan elimination without pivoting; False at a pivot that is not positive."""
    d = matrix.shape[0]
    for k in range(d):
        pivot = matrix[k, k]
        # Also false where it is not a number.
        if not pivot > 0.0:
            return False
        matrix[k, k] = 1.0
        scale = 1.0 / pivot
        for v in range(d):
            matrix[k, v] *= scale
        for u in range(d):
            if u != k:
                factor = matrix[u, k]
                matrix[u, k] = 0.0
                for v in range(d):
                    matrix[u, v] -= factor * matrix[k, v]
    return True


@compiled
def invert_m_matrix(weights: Any, s: float, inverse: Any) -> bool:
    """Write (sI − W∘W)⁻¹; False, with invalid output, unless sI − W∘W is an M-matrix.

    A matrix without positive off-diagonal entries is an M-matrix exactly if elimination meets only
    positive pivots. It then needs no pivoting and never subtracts: the inverse is a sum of products
    of non-negative numbers. The elimination can therefore proceed by blocks of rows, each a product
    of thin matrices, which takes half the time of a general inverse.
    """
    d = weights.shape[0]
    for u in range(d):
        for v in range(d):
            inverse[u, v] = -weights[u, v] * weights[u, v]
        inverse[u, u] += s
    product = np.empty((d, d))
    for begin in range(0, d, _BLOCK):
        end = min(begin + _BLOCK, d)
        columns = inverse[:, begin:end].copy()
        pivot = columns[begin:end].copy()
        if not _invert_in_place(pivot):
            return False
        rows = np.dot(pivot, inverse[begin:end])
        # Loops: an array that is assigned to a slice takes two seconds to compile.
        for u in range(end - begin):
            for v in range(end - begin):
                rows[u, begin + v] = pivot[u, v]
        np.dot(columns, rows, product)
        for u in range(d):
            if u < begin or u >= end:
                for v in range(begin, end):
                    inverse[u, v] = 0.0
                for v in range(d):
                    inverse[u, v] -= product[u, v]
        for u in range(end - begin):
            for v in range(d):
                inverse[begin + u, v] = rows[u, v]
    return True
