"""Equations between normal scores: each variable is a monotone function of what they relate."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.evidence.marginal import Marginal, has_density
from cosmodag.fit.dag.linear_equations import FittedEquations
from cosmodag.fit.dag.preparation import Preparation

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Normal scores of some columns, with the mean and the deviation that the columns had.

    All values are in prepared units; the other columns are unchanged.
    """

    marginals: dict[int, Marginal]  # of the columns that have scores, in prepared units
    sizes: Floats  # (d,): standard deviations

    @classmethod
    def of(cls, data: Floats) -> "Scores":
        """Estimate the scores of the columns of a prepared table that have a density."""
        marginals = {v: Marginal.of(x) for v, x in enumerate(data.T) if has_density(x)}
        return cls(marginals, np.maximum(data.std(axis=0), 1e-300))

    def scored(self, data: NDArray[Any]) -> Floats:
        """(n, d): the table with the scores of its columns."""
        found = np.array(data, np.float64)
        for v, marginal in self.marginals.items():
            found[:, v] = self.sizes[v] * marginal.scored(found[:, v])
        return found

    def restored(self, values: NDArray[Any], v: int) -> NDArray[Any]:
        """(n,): values of column v, the inverse of `scored` within the training table."""
        if v not in self.marginals:
            return values
        return self.marginals[v].restored(np.asarray(values, np.float64) / self.sizes[v])

    def log_slopes(self, x: Floats, v: int) -> Floats:
        """(n,): logarithm of the slope of the scores of column v."""
        marginal = self.marginals[v]
        z = marginal.scored(x)
        normal = -0.5 * z**2 - 0.5 * math.log(2 * math.pi)
        return marginal.log_density(x) - normal + math.log(self.sizes[v])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scores as named arrays, for saving."""
        parts = list(self.marginals.values())
        columns = [np.stack([one.values, one.scores, one.logs]) for one in parts]
        return {
            "score_columns": np.array(list(self.marginals), np.int64),
            "score_lengths": np.array([len(one.values) for one in parts], np.int64),
            "score_values": np.hstack(columns) if columns else np.zeros((3, 0)),
            "score_tails": np.array([one.tails for one in parts]).reshape(-1, 2),
            "score_sizes": self.sizes,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Scores":
        """Rebuild scores from their :meth:`arrays`."""
        ends = np.cumsum(arrays["score_lengths"])[:-1]
        blocks = np.split(arrays["score_values"], ends, axis=1)
        tails = arrays["score_tails"].tolist()
        columns = arrays["score_columns"].tolist()
        marginals = {
            int(v): Marginal(block[0], block[1], block[2], (low, high))
            for v, block, (low, high) in zip(columns, blocks, tails, strict=False)
        }
        return cls(marginals, arrays["score_sizes"])


@dataclass(frozen=True, eq=False)
class ScoreEquations(FittedEquations):
    """Equations of normal scores: s_v(x_v) = f_v(s(x)) + noise, with monotone functions s_u."""

    inner: FittedEquations  # f, between the scores
    scores: Scores
    variances: Floats  # (d,): of the noise, in prepared units
    scales: Floats  # (d,): size of one prepared unit in the table

    has_constants = True

    @classmethod
    def of(
        cls,
        inner: FittedEquations,
        scores: Scores,
        adjacency: Any,
        data: Floats,
        preparation: Preparation,
    ) -> "ScoreEquations":
        """Complete the equations of scored, prepared `data` with the variances of their noise."""
        residuals = data - inner.predict(data, adjacency)
        return cls(inner, scores, np.maximum(residuals.var(axis=0), 1e-12), preparation.scales)

    @property
    def form(self) -> str:  # type: ignore[override]
        """Form of the equations, as in "each variable is *…* of its causes"."""
        return f"a monotone function of {self.inner.form}, between normal scores,"

    @property
    def is_curved(self) -> bool:
        """Whether some arc between numbers is a curve, also between scores."""
        return self.inner.is_curved

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict the median of every variable from its parents."""
        found = np.array(self.inner.predict(self.scores.scored(data), adjacency), np.float64)
        for v in self.scores.marginals:
            found[:, v] = self.scores.restored(found[:, v], v)
        return found

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict the median of variable v."""
        line = self.inner.predict_column(self.scores.scored(data), adjacency, v)
        return self.scores.restored(line, v)

    def arc_parameters(self, edges: sparse.coo_array) -> NDArray[np.int64]:
        """(d,): number of parameters of the arcs into each variable."""
        return self.inner.arc_parameters(edges)

    def on_arcs(
        self, X: Floats, arcs: NDArray[np.bool_], counted: Floats | None
    ) -> "ScoreEquations":
        """Return the equations for fewer arcs; the scores stay."""
        return replace(self, inner=self.inner.on_arcs(X, arcs, counted))

    def noise_of(self, data: NDArray[Any], adjacency: Any, residuals: NDArray[Any]) -> NDArray[Any]:
        """(n, d): noise between the scores."""
        scored = self.scores.scored(data)
        return np.asarray(scored - self.inner.predict(scored, adjacency))

    def respond(
        self, data: NDArray[Any], adjacency: Any, v: int, noise: NDArray[Any]
    ) -> NDArray[Any]:
        """Compute variable v from its parents and its noise."""
        line = self.inner.predict_column(self.scores.scored(data), adjacency, v)
        return self.scores.restored(line + noise, v)

    def own_log_likelihoods(self, data: NDArray[Any], adjacency: Any, v: int) -> Floats | None:
        """Log-likelihoods (n,) of a variable with scores, in the table's own units."""
        if v not in self.scores.marginals:
            return None
        scored = self.scores.scored(data)
        noise = scored[:, v] - self.inner.predict_column(scored, adjacency, v)
        variance = float(self.variances[v])
        logs = -0.5 * (np.log(2 * math.pi * variance) + noise**2 / variance)
        slopes = self.scores.log_slopes(np.asarray(data[:, v], np.float64), v)
        return np.asarray(logs + slopes - math.log(self.scales[v]))

    def may_direct(self, tails: NDArray[Any], heads: NDArray[Any]) -> NDArray[np.bool_]:
        """(m,): whether curves between the scores may direct each arc."""
        return self.inner.may_direct(tails, heads)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as named arrays, for saving."""
        own = {"score_noise": np.stack([self.variances, self.scales])}
        return {**self.inner.arrays(), **self.scores.arrays(), **own}

    def facts(self) -> dict[str, Any]:
        """Return plain values that, with the arrays, determine the equations."""
        return self.inner.facts()

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], inner: FittedEquations
    ) -> "ScoreEquations":
        """Rebuild equations from their :meth:`arrays`, and the equations between the scores."""
        variances, scales = arrays["score_noise"]
        return cls(inner, Scores.from_arrays(arrays), variances, scales)
