"""Gaussian likelihood of an ancestral graph, district by district.

The likelihood is a product over districts, the sets of vertices that ↔ edges connect; each factor
depends on the district and its parents alone. A district of one vertex is a regression. Others are
fitted by regressions in turn, each on the parents of a vertex and on what the present fit gives of
the noise of its spouses (residual iterative conditional fitting; Drton, Eichler and Richardson
2009, *Computing maximum likelihood estimates in recursive linear models with correlated errors*).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.ancestral.graph import AncestralGraph
from cosmodag.order.scores import NEGLIGIBLE

# A fit ends where a round gains less than this share of one row's log-likelihood.
_SETTLED, _ROUNDS = 1e-6, 100

_Key = tuple[tuple[int, frozenset[int], frozenset[int]], ...]


@dataclass(eq=False)
class AncestralScore:
    """Log-likelihood less a penalty per edge: for a DAG, the score that the order search uses.

    Attributes
    ----------
    correlations : (d, d) array
    rows : float
    penalty : float
        Per edge.
    """

    correlations: NDArray[np.float64]
    rows: float
    penalty: float
    _known: dict[_Key, float] = field(default_factory=dict)

    def of(self, graph: AncestralGraph, vertices: Iterable[int]) -> float:
        """Sum of the scores of the districts of some vertices."""
        return sum(self._district(graph, one) for one in {graph.district(v) for v in vertices})

    def _district(self, graph: AncestralGraph, district: frozenset[int]) -> float:
        key = tuple((v, graph.parents[v], graph.spouses[v]) for v in sorted(district))
        if key not in self._known:
            spread = self._of_one(*key[0][:2]) if len(key) == 1 else self._of_several(key)
            edges = sum(len(up) + len(both) / 2 for _, up, both in key)
            self._known[key] = -0.5 * self.rows * spread - self.penalty * edges
        return self._known[key]

    def _of_one(self, v: int, parents: frozenset[int]) -> float:
        """Logarithm of the share of the variance that the parents leave."""
        left = self.correlations[v, v]
        if parents:
            up = sorted(parents)
            products = self.correlations[up, v]
            left -= products @ _solved(self.correlations[np.ix_(up, up)], products)
        return math.log(max(float(left), NEGLIGIBLE))

    def _of_several(self, key: _Key) -> float:
        """−2/n times the log-likelihood of a district; infinite where it has no maximum."""
        before = np.inf
        try:
            fit = _DistrictFit(self.correlations, key)
            for _ in range(_ROUNDS):
                now = fit.improve()
                if before - now < _SETTLED:
                    return now
                before = now
        except np.linalg.LinAlgError:
            return np.inf
        return before


class _DistrictFit:
    """Noise of the vertices of a district, as combinations of columns, and its covariance."""

    def __init__(self, correlations: NDArray[np.float64], key: _Key) -> None:
        vertices = [v for v, *_ in key]
        columns = sorted(set(vertices).union(*(up for _, up, _ in key)))
        place = {v: number for number, v in enumerate(columns)}
        within = {v: number for number, v in enumerate(vertices)}
        self.products = correlations[np.ix_(columns, columns)]
        self.own = [place[v] for v in vertices]
        self.parents = [[place[u] for u in sorted(up)] for _, up, _ in key]
        self.spouses = [sorted(within[u] for u in both) for *_, both in key]
        self.noise = np.zeros((len(vertices), len(columns)))
        self.noise[np.arange(len(vertices)), self.own] = 1.0
        self.covariance = np.zeros((len(vertices), len(vertices)))
        for number in range(len(vertices)):
            self._regress(number, np.zeros((0, len(columns))))

    def improve(self) -> float:
        """Fit each vertex in turn; return −2/n times the log-likelihood."""
        for number in range(len(self.own)):
            others = [other for other in range(len(self.own)) if other != number]
            inverse = np.linalg.inv(self.covariance[np.ix_(others, others)])
            chosen = [others.index(spouse) for spouse in self.spouses[number]]
            weights, left = self._regress(number, inverse[chosen] @ self.noise[others])
            self.covariance[number] = self.covariance[:, number] = 0.0
            self.covariance[number, self.spouses[number]] = weights
            self.covariance[self.spouses[number], number] = weights
            explained = inverse[np.ix_(chosen, chosen)]
            self.covariance[number, number] = left + weights @ explained @ weights
        sign, logarithm = np.linalg.slogdet(self.covariance)
        if sign <= 0:
            raise np.linalg.LinAlgError
        spread = self.noise @ self.products @ self.noise.T
        trace = np.trace(np.linalg.solve(self.covariance, spread))
        return float(logarithm + trace - len(self.own))

    def _regress(
        self, number: int, further: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Regress a vertex on its parents and further columns; return their weights, and the rest.

        `further` has combinations of the columns, one per row.
        """
        own, parents = self.own[number], self.parents[number]
        used = np.zeros((len(parents) + len(further), len(self.products)))
        used[np.arange(len(parents)), parents] = 1.0
        used[len(parents) :] = further
        products = used @ self.products
        weights = np.asarray(np.linalg.solve(products @ used.T, products[:, own]), np.float64)
        self.noise[number] = 0.0
        self.noise[number, own] = 1.0
        self.noise[number, parents] = -weights[: len(parents)]
        left = float(self.products[own, own] - weights @ products[:, own])
        if not len(further):
            self.covariance[number, number] = left
        return weights[len(parents) :], left


def _solved(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        return np.asarray(np.linalg.solve(matrix, right), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right)[0], np.float64)
