"""Equations of tables with categories, counts and curves."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.embedding import Embedding
from cosmodag.fit.equations import AdditiveNoise
from cosmodag.fit.mixed.joint import joint_log_odds, joint_states
from cosmodag.fit.preparation import Preparation
from cosmodag.order import FoundBlocks
from cosmodag.refinement.mixed.multinomial import fit_levels, probabilities
from cosmodag.refinement.mixed.table import BlockTable

__all__ = ["BlockEquations"]

# Share of a variance that is rounding error.
_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class BlockEquations(AdditiveNoise):
    """Equations of parents whose effects add up, or that act jointly.

    An effect that is added is a line, a curve, or a number per level. Categories alone can act
    jointly, on a category, which then has probabilities for each combination of their levels.

    A number is a sum of effects and noise. A count is so on the scale of log(1 + x), and rounded
    where it is drawn. The levels of a category have probabilities by multinomial logistic
    regression; its noise is a number between 0 and 1, and its value the level in which cumulative
    probabilities reach that number.

    Attributes
    ----------
    embedding
        How variables become columns.
    widths
        (d, d) int: at [u, v] how many columns of u the equation of v uses.
    coefficients
        Of each variable: a constant and one row for each of these columns, parents in the order of
        the table; a column for a number, one for each level but the first of a category.
    variances
        (d,): of the noise of numbers and counts, in units of their first column.
    means, scales
        (d,): the map from prepared units to those of the table.
    joint
        (d,): variables whose parents act jointly; their coefficients are log-odds of the levels
        against the first, a row for each combination of the parents' levels.
    """

    embedding: Embedding
    widths: NDArray[np.int64]
    coefficients: tuple[NDArray[np.float64], ...]
    variances: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    joint: NDArray[np.bool_]

    has_constants = True

    @classmethod
    def of(
        cls, table: BlockTable, found: FoundBlocks, preparation: Preparation
    ) -> "BlockEquations":
        """Fit the equations of a graph to a table."""
        embedding, widths, d = table.embedding, found.widths, len(found.widths)
        joint = np.zeros(d, np.bool_) if found.joint is None else found.joint
        coefficients, variances = [], np.ones(d)
        for v in range(d):
            rows = table.rows_of(v)
            if joint[v]:
                coefficients.append(joint_log_odds(embedding, table.X[rows], widths[:, v], v))
                continue
            design = _design(embedding, table.X[rows], np.asarray(widths[:, v]))
            if embedding.is_levels(v):
                levels = embedding.levels_of(table.X[rows, v], v)
                weights, _ = fit_levels(design, levels, int(embedding.widths[v]) + 1)
            else:
                y = embedding.block(table.X[rows, v], v, 1)
                weights = np.asarray(np.linalg.lstsq(design, y, rcond=1e-10)[0], np.float64)
                variances[v] = max(float(np.mean((y - design @ weights) ** 2)), _LEAST_VARIANCE)
            coefficients.append(weights)
        return cls(
            embedding,
            np.asarray(widths, np.int64),
            tuple(coefficients),
            variances,
            preparation.means,
            preparation.scales,
            joint,
        )

    def _in_table(self, data: NDArray[Any], v: int) -> NDArray[np.float64]:
        return np.asarray(data[:, v] * self.scales[v] + self.means[v], np.float64)

    def _sum(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[np.float64]:
        """Effects of the parents in a graph, and the constant: (n, targets).

        A parent without an arc has no effect; a category then counts as at its first level.
        """
        weights = self.coefficients[v]
        if self.joint[v]:
            parents = np.flatnonzero(self.widths[:, v]).tolist()
            columns = {u: self._in_table(data, u) for u in parents if adjacency[u, v] != 0}
            return np.asarray(weights[joint_states(self.embedding, parents, columns, len(data))])
        total = np.tile(weights[0], (len(data), 1))
        for u, place in self._places(v):
            if adjacency[u, v] != 0:
                width = int(self.widths[u, v])
                block = self.embedding.block(self._in_table(data, u), u, width)
                total += block @ weights[place : place + width]
        return total

    def _places(self, v: int) -> list[tuple[int, int]]:
        """Parents of v, and the first of their rows among the coefficients."""
        parents = np.flatnonzero(self.widths[:, v])
        ends = 1 + np.cumsum(self.widths[parents, v])
        return [
            (int(u), int(end - self.widths[u, v])) for u, end in zip(parents, ends, strict=True)
        ]

    def level_probabilities(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """(n, levels): probabilities of the levels of a category, given its parents."""
        sums = self._sum(data, adjacency, v)
        return probabilities(sums, np.eye(sums.shape[1]))

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable: expected numbers, most probable levels."""
        columns = [self.predict_column(data, adjacency, v) for v in range(len(self.widths))]
        return np.column_stack(columns)

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict one variable."""
        if self.embedding.is_levels(v):
            level = np.argmax(self.level_probabilities(data, adjacency, v), axis=1)
            return self._prepared(self.embedding.value_of(level, v), v)
        return self._number(self._sum(data, adjacency, v)[:, 0], v)

    def _number(self, line: NDArray[np.float64], v: int) -> NDArray[np.float64]:
        """Return the prepared value of a number or count, given that of its first column."""
        embedding = self.embedding
        values = line * embedding.scales[v] + embedding.centres[v]
        return self._prepared(embedding.restored(values, v), v)

    def _prepared(self, values: NDArray[np.float64], v: int) -> NDArray[np.float64]:
        return np.asarray((values - self.means[v]) / self.scales[v])

    def noise_of(self, data: NDArray[Any], adjacency: Any, residuals: NDArray[Any]) -> NDArray[Any]:
        """(n, d): residuals, of counts on their scale; for categories, numbers between 0 and 1.

        The number is in the middle of the part that the level has there.
        """
        noise, rows = np.array(residuals), np.arange(len(data))
        for v in self._counts():
            line = self.embedding.block(self._in_table(data, v), v, 1)[:, 0]
            noise[:, v] = line - self._sum(data, adjacency, v)[:, 0]
        for v in self._categories():
            shares = self.level_probabilities(data, adjacency, v)
            levels = self.embedding.levels_of(self._in_table(data, v), v)
            ends = np.cumsum(shares, axis=1)[rows, levels]
            noise[:, v] = ends - 0.5 * shares[rows, levels]
        return noise

    def _counts(self) -> list[int]:
        d = len(self.widths)
        forms = self.embedding
        return [v for v in range(d) if not forms.is_levels(v) and not forms.is_number(v)]

    def _categories(self) -> list[int]:
        return [v for v in range(len(self.widths)) if self.embedding.is_levels(v)]

    def respond(
        self, data: NDArray[Any], adjacency: Any, v: int, noise: NDArray[Any]
    ) -> NDArray[Any]:
        """Values of one variable, given its parents and its noise."""
        if self.embedding.is_number(v):
            return np.asarray(self.predict_column(data, adjacency, v) + noise)
        if not self.embedding.is_levels(v):
            drawn = self._number(self._sum(data, adjacency, v)[:, 0] + noise, v)
            whole = np.rint(drawn * self.scales[v] + self.means[v])
            return self._prepared(np.maximum(whole, 0.0), v)
        reached = np.cumsum(self.level_probabilities(data, adjacency, v), axis=1)
        level = np.sum(reached[:, :-1] < np.asarray(noise)[:, None], axis=1)
        return self._prepared(self.embedding.value_of(level, v), v)

    def redrawn(
        self, noise: NDArray[np.float64], random: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw the noise of categories anew: uniformly between 0 and 1."""
        drawn = noise.copy()
        for v in self._categories():
            drawn[:, v] = random.random(len(noise))
        return drawn

    def own_log_likelihoods(
        self, data: NDArray[Any], adjacency: Any, v: int
    ) -> NDArray[np.float64] | None:
        """Log-probabilities of the levels of a category; log-density of log(1 + x) for a count.

        The density of a count has its Jacobian, so that it is one of x. None for numbers, whose
        density is Gaussian.
        """
        x, embedding = self._in_table(data, v), self.embedding
        if embedding.is_levels(v):
            shares = self.level_probabilities(data, adjacency, v)
            own = shares[np.arange(len(shares)), embedding.levels_of(x, v)]
            return np.asarray(np.log(np.maximum(own, 1e-12)))
        if embedding.is_number(v):
            return None
        left = embedding.block(x, v, 1)[:, 0] - self._sum(data, adjacency, v)[:, 0]
        variance = self.variances[v]
        density = -0.5 * (np.log(2 * math.pi * variance) + left**2 / variance)
        jacobian = np.log(embedding.scales[v]) + np.log1p(np.maximum(x, 0.0))
        return np.asarray(density - jacobian)

    def effect(self, u: int, v: int, values: NDArray[Any]) -> NDArray[np.float64]:
        """(n, targets): what values of a parent, in units of the table, add to the equation of v.

        For numbers and counts in units of v, of log(1 + x) for counts; for a category, to the
        log-odds of each level but the first against the first. Where parents act jointly, the mean
        over all combinations of the levels of the others.
        """
        if self.joint[v]:
            means = self._cells(v).mean(axis=self._others(u, v))
            return np.asarray(means[self.embedding.levels_of(values, u)])
        place, width = dict(self._places(v))[u], int(self.widths[u, v])
        block = self.embedding.block(np.asarray(values, np.float64), u, width)
        added = block @ self.coefficients[v][place : place + width]
        return np.asarray(added * self.embedding.scales[v])

    def _cells(self, v: int) -> NDArray[np.float64]:
        """Log-odds of a variable with joint parents: an axis for each, and one for its levels."""
        counts = self.embedding.widths[np.flatnonzero(self.widths[:, v])] + 1
        return self.coefficients[v].reshape(*counts.tolist(), -1)

    def _axis(self, u: int, v: int) -> int:
        return int(np.count_nonzero(self.widths[:u, v]))

    def _others(self, u: int, v: int) -> tuple[int, ...]:
        return tuple(k for k in range(np.count_nonzero(self.widths[:, v])) if k != self._axis(u, v))

    def sizes(self, table: BlockTable) -> NDArray[np.float64]:
        """(d, d): signed sizes of arcs, in units of the table.

        The standard deviation of what a parent contributes to a child, over that of the parent's
        values: the slope where the arc is a line. The sign is that of the correlation of the
        contribution with the parent's values. For a category as a child, contributions to the
        utilities of levels, in units of the noise of utilities, take the place.
        """
        d = len(self.widths)
        sizes = np.zeros((d, d))
        deviations = np.maximum(table.X.std(axis=0), 1e-300)
        for v in range(d):
            for u in np.flatnonzero(self.widths[:, v]).tolist():
                effect = self.effect(u, v, table.X[:, u]) / self.embedding.scales[v]
                varies = effect.var(axis=0)
                if self.joint[v]:  # whatever the levels of the others
                    varies = self._cells(v).var(axis=self._axis(u, v))
                spread = math.sqrt(float(varies.mean()))
                trend = float(np.mean((table.X[:, u] - table.X[:, u].mean()) * effect[:, -1]))
                sizes[u, v] = math.copysign(max(spread, 1e-12), trend) * self._unit(v, deviations)
                sizes[u, v] /= deviations[u]
        return sizes

    def _unit(self, v: int, deviations: NDArray[np.float64]) -> float:
        """Size of one unit of the equation's left side, in units of the table."""
        if self.embedding.is_levels(v):
            # The standard deviation of logistic noise.
            return float(deviations[v] * math.sqrt(3) / math.pi)
        return float(deviations[v])

    def tells(self, tails: NDArray[Any], heads: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell of each arc whether curves may decide its direction: between numbers."""
        numbers = np.array([self.embedding.is_number(v) for v in range(len(self.widths))])
        return np.asarray(numbers[tails] & numbers[heads] & self.is_curved)

    @property
    def form(self) -> str:  # type: ignore[override]
        """What a variable is of its causes, in words."""
        if self.joint.any():
            return "a distribution for each combination of the levels"
        effects = "curves" if self.is_curved else "linear effects"
        has_levels = any(self.embedding.is_levels(v) for v in range(len(self.embedding.widths)))
        return (
            f"a sum of {effects} and of effects of levels" if has_levels else f"a sum of {effects}"
        )

    @property
    def is_curved(self) -> bool:
        """Whether some arc is a curve."""
        return bool(np.any(self.widths > self.embedding.shortest[:, None]))

    def settled(self, unexplained: NDArray[np.float64]) -> "BlockEquations":
        """Return the same equations: they have constants."""
        return self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters as named arrays, for saving."""
        return {
            **self.embedding.arrays(),
            "block_widths": self.widths,
            "block_coefficients": np.concatenate([one.ravel() for one in self.coefficients]),
            "block_noise": np.stack([self.variances, self.means, self.scales]),
            "block_joint": self.joint,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "BlockEquations":
        """Rebuild the equations that :meth:`arrays` describes."""
        embedding, widths = Embedding.from_arrays(arrays), arrays["block_widths"]
        joint = arrays.get("block_joint", np.zeros(len(widths), np.bool_))
        cells = np.prod(np.where(widths > 0, widths + 1, 1), axis=0)
        rows = np.where(joint, cells, 1 + widths.sum(axis=0))
        shapes = np.stack([rows, embedding.targets], axis=1)
        ends = np.cumsum(shapes.prod(axis=1))
        parts = np.split(arrays["block_coefficients"], ends[:-1])
        coefficients = tuple(
            part.reshape(tuple(shape)) for part, shape in zip(parts, shapes, strict=True)
        )
        variances, means, scales = arrays["block_noise"]
        return cls(embedding, widths, coefficients, variances, means, scales, joint)


def _design(
    embedding: Embedding, X: NDArray[np.float64], widths: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Columns of the parents of one variable, after a constant."""
    blocks = [embedding.block(X[:, u], u, int(widths[u])) for u in np.flatnonzero(widths).tolist()]
    return np.column_stack([np.ones(len(X)), *blocks])
