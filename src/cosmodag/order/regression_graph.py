"""Chosen parents as a sparse weighted DAG, with what its equations leave unexplained."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.order.moments import Moments


@dataclass(frozen=True, eq=False)
class RegressionGraph:
    """Parents, regression weights and residual variances of every variable.

    Attributes
    ----------
    starts : (d + 1,) array of int
        The parents of v are ``parents[starts[v]:starts[v + 1]]``, by rising index.
    parents : (arcs,) array of int
    weights : (arcs,) array
        Least-squares weights of the parents, in the data's own units.
    residuals : (d,) array
        Residual variance as a share of each variable's variance.
    scores : (d,) array
        Local scores, scale-free.
    """

    starts: NDArray[np.int64]
    parents: NDArray[np.int64]
    weights: NDArray[np.float64]
    residuals: NDArray[np.float64]
    scores: NDArray[np.float64]

    @staticmethod
    def of(
        moments: Moments,
        tails: NDArray[np.int64],
        heads: NDArray[np.int64],
        weights: NDArray[np.float64],
        residuals: NDArray[np.float64],
        scores: NDArray[np.float64],
    ) -> "RegressionGraph":
        """Make a graph of arcs in any order, with the weights of standardised columns."""
        arranged = np.lexsort((tails, heads))
        tails, heads = tails[arranged], heads[arranged]
        group = moments.group[heads]
        up, down = moments.scales[group, heads], moments.scales[group, tails]
        own = weights[arranged]
        scaled = np.where(own == 0, 0.0, own * up / np.where(down > 0, down, 1.0))
        starts = np.searchsorted(heads, np.arange(moments.variables + 1)).astype(np.int64)
        return RegressionGraph(starts, tails, scaled, residuals, scores)

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.parents)

    def matrix(self) -> Any:
        """Weights as a (d, d) ``csr_array``: W[u, v] is the arc u → v; an arc may weigh zero."""
        d = len(self.residuals)
        by_child = sparse.csc_array((self.weights, self.parents, self.starts), shape=(d, d))
        return by_child.tocsr()

    def adjacency(self) -> Any:
        """Arcs as a (d, d) ``csr_array`` of bool."""
        d = len(self.residuals)
        arcs = np.ones(self.arcs, np.bool_)
        return sparse.csc_array((arcs, self.parents, self.starts), shape=(d, d)).tocsr()
