"""Chosen parents as a sparse weighted DAG, with the residual variances of its equations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.search.moments import Moments


@dataclass(frozen=True, eq=False)
class RegressionGraph:
    """Parents, regression weights and residual variances of all variables.

    Attributes
    ----------
    starts : (d + 1,) array of int
        The parents of v are ``parents[starts[v]:starts[v + 1]]``, in ascending order.
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
        """Create a graph from arcs, in any order, and their weights for standardised columns."""
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
        """Return the weights as a (d, d) ``csr_array``; every stored entry, even 0, is an arc."""
        d = len(self.residuals)
        by_child = sparse.csc_array((self.weights, self.parents, self.starts), shape=(d, d))
        return by_child.tocsr()

    def adjacency(self) -> Any:
        """Return the arcs as a (d, d) ``csr_array`` of bool."""
        d = len(self.residuals)
        arcs = np.ones(self.arcs, np.bool_)
        return sparse.csc_array((arcs, self.parents, self.starts), shape=(d, d)).tocsr()
