"""Equations of numbers, counts and categories, for any functions of the parents."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.fit.dag.linear_equations import FittedEquations
from cosmodag.search.mixed.multinomial import probabilities

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EquationsByKind(FittedEquations):
    """Equations of tables with categories and counts, for any functions of the parents.

    The functions of the parents (:meth:`sums`) give one value for a number or a count, and the
    utilities of all levels but the first for a category. A number is its value plus noise. A count
    is the same on the scale of log(1 + x), and is rounded when it is drawn. The utilities of a
    category determine the probabilities of its levels; its noise is uniform between 0 and 1, and
    the category is the level at which the cumulative probability reaches its noise.
    """

    embedding: Embedding  # blocks of columns that represent the variables
    variances: Floats  # (d,): noise variances of numbers and counts, in units of first columns
    # (d,): a value in the units of the table is its prepared value × scale + mean.
    means: Floats
    scales: Floats

    has_constants = True
    effects_in_words: ClassVar[str]

    @abstractmethod
    def sums(self, data: NDArray[Any], adjacency: Any, v: int) -> Floats:
        """(n, targets): functions of the parents in a graph, for data in prepared units."""

    @abstractmethod
    def effect(self, u: int, v: int, values: NDArray[Any]) -> Floats:
        """(n, targets): terms that values of parent u, in units of the table, add for v.

        For a number, in units of v; for a count, of log(1 + v); for a category, in log-odds of each
        level but the first against the first.
        """

    def in_table(self, data: NDArray[Any], v: int) -> Floats:
        """(n,): values of variable v in the units of the table."""
        return np.asarray(data[:, v] * self.scales[v] + self.means[v], np.float64)

    def level_probabilities(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """(n, levels): probabilities of the levels of a category, given its parents."""
        sums = self.sums(data, adjacency, v)
        return probabilities(sums, np.eye(sums.shape[1]))

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable: expected numbers, most probable levels."""
        variables = range(len(self.embedding.widths))
        return np.column_stack([self.predict_column(data, adjacency, v) for v in variables])

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict variable v."""
        if self.embedding.is_levels(v):
            level = np.argmax(self.level_probabilities(data, adjacency, v), axis=1)
            return self._prepared(self.embedding.value_of(level, v), v)
        return self._number(self.sums(data, adjacency, v)[:, 0], v)

    def _number(self, line: Floats, v: int) -> Floats:
        """Convert values of the first column of a number or count to prepared units."""
        embedding = self.embedding
        values = line * embedding.scales[v] + embedding.centres[v]
        return self._prepared(embedding.restored(values, v), v)

    def _prepared(self, values: Floats, v: int) -> Floats:
        return np.asarray((values - self.means[v]) / self.scales[v])

    def noise_of(self, data: NDArray[Any], adjacency: Any, residuals: NDArray[Any]) -> NDArray[Any]:
        """(n, d): residuals, those of counts on the scale of log(1 + x), and noise of categories.

        That noise is the middle of the level's interval of cumulative probability.
        """
        noise, rows = np.array(residuals), np.arange(len(data))
        for v in range(len(self.embedding.widths)):
            if self.embedding.is_levels(v):
                shares = self.level_probabilities(data, adjacency, v)
                levels = self.embedding.levels_of(self.in_table(data, v), v)
                ends = np.cumsum(shares, axis=1)[rows, levels]
                noise[:, v] = ends - 0.5 * shares[rows, levels]
            elif not self.embedding.is_number(v):
                first = self.embedding.block(self.in_table(data, v), v, 1)[:, 0]
                noise[:, v] = first - self.sums(data, adjacency, v)[:, 0]
        return noise

    def _categories(self) -> list[int]:
        return [v for v in range(len(self.embedding.widths)) if self.embedding.is_levels(v)]

    def respond(
        self, data: NDArray[Any], adjacency: Any, v: int, noise: NDArray[Any]
    ) -> NDArray[Any]:
        """Compute variable v from its parents and its noise."""
        if self.embedding.is_number(v):
            return np.asarray(self.predict_column(data, adjacency, v) + noise)
        if not self.embedding.is_levels(v):
            drawn = self._number(self.sums(data, adjacency, v)[:, 0] + noise, v)
            whole = np.rint(drawn * self.scales[v] + self.means[v])
            return self._prepared(np.maximum(whole, 0.0), v)
        reached = np.cumsum(self.level_probabilities(data, adjacency, v), axis=1)
        level = np.sum(reached[:, :-1] < np.asarray(noise)[:, None], axis=1)
        return self._prepared(self.embedding.value_of(level, v), v)

    def redrawn(self, noise: Floats, random: np.random.Generator) -> Floats:
        """Replace the noise of categories by uniform draws between 0 and 1."""
        drawn = noise.copy()
        for v in self._categories():
            drawn[:, v] = random.random(len(noise))
        return drawn

    def own_log_likelihoods(self, data: NDArray[Any], adjacency: Any, v: int) -> Floats | None:
        """Log-probabilities of the levels of a category; log-density of log(1 + x) for a count.

        The density of a count includes the Jacobian of log(1 + x), so that it is a density of x.
        None for numbers, whose density is Gaussian.
        """
        x, embedding = self.in_table(data, v), self.embedding
        if embedding.is_levels(v):
            shares = self.level_probabilities(data, adjacency, v)
            own = shares[np.arange(len(shares)), embedding.levels_of(x, v)]
            return np.asarray(np.log(np.maximum(own, 1e-12)))
        if embedding.is_number(v):
            return None
        residuals = embedding.block(x, v, 1)[:, 0] - self.sums(data, adjacency, v)[:, 0]
        variance = self.variances[v]
        density = -0.5 * (np.log(2 * math.pi * variance) + residuals**2 / variance)
        jacobian = np.log(embedding.scales[v]) + np.log1p(np.maximum(x, 0.0))
        return np.asarray(density - jacobian)
