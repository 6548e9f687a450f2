"""Gaussian likelihood of an ancestral graph, district by district.

The likelihood is a product over districts, the sets of vertices that ↔ edges connect; each factor
depends only on the district and its parents. A district of one vertex is a regression. Larger ones
are fitted by repeated regressions of each vertex on its parents and on pseudo-variables computed
from the present residuals of its spouses (residual iterative conditional fitting; Drton, Eichler
and Richardson 2009, *Computing maximum likelihood estimates in recursive linear models with
correlated errors*).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.ancestral.graph import AncestralGraph
from cosmodag.search.ancestral.partial_correlations import solution
from cosmodag.search.gaussian_scores import NEGLIGIBLE

# A fit ends when a round gains less than this, in units of −2/n times the log-likelihood.
_LEAST_GAIN, _MOST_ROUNDS = 1e-6, 100

_Key = tuple[tuple[int, frozenset[int], frozenset[int]], ...]


@dataclass(eq=False)
class AncestralScore:
    """Log-likelihood less a penalty per edge; for a DAG, the score of the order search."""

    correlations: NDArray[np.float64]  # (d, d)
    rows: float  # effective number of rows
    penalty: float  # per edge
    _known: dict[_Key, float] = field(default_factory=dict)

    def of(self, graph: AncestralGraph, vertices: Iterable[int]) -> float:
        """Sum of the scores of the districts of the given vertices."""
        districts = {graph.district(v) for v in vertices}
        return sum(self._of_district(graph, district) for district in districts)

    def _of_district(self, graph: AncestralGraph, district: frozenset[int]) -> float:
        key = tuple((v, graph.parents[v], graph.spouses[v]) for v in sorted(district))
        if key not in self._known:
            deviance = self._of_one(*key[0][:2]) if len(key) == 1 else self._of_several(key)
            edges = sum(len(up) + len(both) / 2 for _, up, both in key)
            self._known[key] = -0.5 * self.rows * deviance - self.penalty * edges
        return self._known[key]

    def _of_one(self, v: int, parents: frozenset[int]) -> float:
        """Log of the residual variance of a standardised variable given its parents."""
        variance = self.correlations[v, v]
        if parents:
            up = sorted(parents)
            products = self.correlations[up, v]
            variance -= products @ solution(self.correlations[np.ix_(up, up)], products)
        return math.log(max(float(variance), NEGLIGIBLE))

    def _of_several(self, key: _Key) -> float:
        """−2/n times the log-likelihood of a district; infinite if the fit is singular."""
        before = np.inf
        try:
            fit = _DistrictFit(self.correlations, key)
            for _ in range(_MOST_ROUNDS):
                now = fit.improve()
                if before - now < _LEAST_GAIN:
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
        """Fit each vertex once; return −2/n times the log-likelihood."""
        for number in range(len(self.own)):
            others = [other for other in range(len(self.own)) if other != number]
            inverse = np.linalg.inv(self.covariance[np.ix_(others, others)])
            chosen = [others.index(spouse) for spouse in self.spouses[number]]
            weights, variance = self._regress(number, inverse[chosen] @ self.noise[others])
            self.covariance[number] = self.covariance[:, number] = 0.0
            self.covariance[number, self.spouses[number]] = weights
            self.covariance[self.spouses[number], number] = weights
            explained = inverse[np.ix_(chosen, chosen)]
            self.covariance[number, number] = variance + weights @ explained @ weights
        sign, logarithm = np.linalg.slogdet(self.covariance)
        if sign <= 0:
            raise np.linalg.LinAlgError
        spread = self.noise @ self.products @ self.noise.T
        trace = np.trace(np.linalg.solve(self.covariance, spread))
        return float(logarithm + trace - len(self.own))

    def _regress(
        self, number: int, further: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Regress a vertex on its parents and on further regressors.

        Each row of `further` is a linear combination of the columns. Return the weights of the
        further regressors, and the residual variance.
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
        variance = float(self.products[own, own] - weights @ products[:, own])
        if not len(further):
            self.covariance[number, number] = variance
        return weights[len(parents) :], variance
