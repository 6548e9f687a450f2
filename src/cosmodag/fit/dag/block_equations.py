"""Equations of tables with categories, counts and curves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.fit.dag.by_kind import EquationsByKind
from cosmodag.fit.dag.preparation import Preparation
from cosmodag.search import FoundBlocks
from cosmodag.search.counted.level_tables import shares_of, states_of
from cosmodag.search.mixed.multinomial import fit_levels
from cosmodag.search.mixed.table import BlockTable

Floats = NDArray[np.float64]

# Smallest noise variance, relative to that of the first column: smaller ones are rounding error.
_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class BlockEquations(EquationsByKind):
    """Equations in which the effects of parents add up, or parents act jointly.

    An additive effect is a line, a curve, or a number per level. Only categories can act jointly,
    and only on a category, which then has probabilities for each combination of their levels. With
    additive effects, the equation of a category is a multinomial logistic regression.
    """

    widths: NDArray[np.int64]  # (d, d): number of columns of u in the equation of v, at [u, v]
    # For each variable, rows: the constant and these columns, parents in the order of the table;
    # columns: one for a number, one for each level but the first of a category.
    coefficients: tuple[Floats, ...]
    # (d,) bool: variables whose parents act jointly; their coefficients are log-odds of the levels
    # against the first, a row for each combination of the parents' levels.
    joint: NDArray[np.bool_]

    @property
    def effects_in_words(self) -> str:  # type: ignore[override]
        """How the effects of several parents combine, in a sentence."""
        if not self.joint.any():
            return "Effects of all parents of a variable add up."
        return (
            "Where all parents are categories, they may act jointly: an effect is the mean over "
            "the levels of the others."
        )

    @classmethod
    def of(
        cls, table: BlockTable, found: FoundBlocks, preparation: Preparation
    ) -> "BlockEquations":
        """Fit the equations of a graph to a table."""
        d = len(found.widths)
        empty = cls(
            embedding=table.embedding,
            widths=np.asarray(found.widths, np.int64),
            coefficients=(),
            variances=np.ones(d),
            means=preparation.means,
            scales=preparation.scales,
            joint=np.zeros(d, np.bool_) if found.joint is None else found.joint,
        )
        return empty._fitted(table.X, table.counted)

    def on_arcs(
        self, X: Floats, arcs: NDArray[np.bool_], counted: Floats | None
    ) -> "BlockEquations":
        """Fit the equations again, with the effects of these arcs alone."""
        kept = np.where(arcs, self.widths, 0)
        if np.array_equal(kept, self.widths):
            return self
        return replace(self, widths=kept)._fitted(X, counted)

    def _fitted(self, X: Floats, counted: Floats | None) -> "BlockEquations":
        """Fit coefficients and variances, each equation to the rows that count for it."""
        embedding, widths = self.embedding, self.widths
        coefficients, variances = [], np.ones(len(widths))
        for v in range(len(widths)):
            rows = slice(None) if counted is None else counted[:, v] > 0
            if self.joint[v]:
                coefficients.append(_joint_log_odds(embedding, X[rows], widths[:, v], v))
                continue
            design = _design(embedding, X[rows], np.asarray(widths[:, v]))
            if embedding.is_levels(v):
                levels = embedding.levels_of(X[rows, v], v)
                weights, _ = fit_levels(design, levels, int(embedding.widths[v]) + 1)
            else:
                y = embedding.block(X[rows, v], v, 1)
                weights = np.asarray(np.linalg.lstsq(design, y, rcond=1e-10)[0], np.float64)
                variances[v] = max(float(np.mean((y - design @ weights) ** 2)), _LEAST_VARIANCE)
            coefficients.append(weights)
        return replace(self, coefficients=tuple(coefficients), variances=variances)

    def sums(self, data: NDArray[Any], adjacency: Any, v: int) -> Floats:
        """Add the constant and the effects of the parents in a graph: (n, targets).

        A parent without an arc has no effect; a joint parent then counts as at its first level.
        """
        weights = self.coefficients[v]
        if self.joint[v]:
            parents = np.flatnonzero(self.widths[:, v]).tolist()
            columns = {u: self.in_table(data, u) for u in parents if adjacency[u, v] != 0}
            return np.asarray(weights[_joint_states(self.embedding, parents, columns, len(data))])
        total = np.tile(weights[0], (len(data), 1))
        for u, place in self._places(v):
            if adjacency[u, v] != 0:
                width = int(self.widths[u, v])
                block = self.embedding.block(self.in_table(data, u), u, width)
                total += block @ weights[place : place + width]
        return total

    def arc_parameters(self, edges: sparse.coo_array) -> NDArray[np.int64]:
        """(d,): number of parameters of the arcs into each variable, besides its constants."""
        used = np.where(edges.toarray() != 0, self.widths, 0)
        combinations = np.prod(used + 1, axis=0)
        rows = np.where(self.joint, combinations - 1, used.sum(axis=0))
        return np.asarray(rows * self.embedding.targets)

    def _places(self, v: int) -> list[tuple[int, int]]:
        """Pairs of a parent of v and its first row in the coefficients."""
        parents = np.flatnonzero(self.widths[:, v])
        ends = 1 + np.cumsum(self.widths[parents, v])
        return [
            (int(u), int(end - self.widths[u, v])) for u, end in zip(parents, ends, strict=True)
        ]

    def effect(self, u: int, v: int, values: NDArray[Any]) -> Floats:
        """(n, targets): terms that values of u add; for joint parents, the mean over the others."""
        if self.joint[v]:
            cells = self._cells(v)
            others = tuple(k for k in range(cells.ndim - 1) if k != self._axis(u, v))
            means = cells.mean(axis=others)
            return np.asarray(means[self.embedding.levels_of(values, u)])
        place, width = dict(self._places(v))[u], int(self.widths[u, v])
        block = self.embedding.block(np.asarray(values, np.float64), u, width)
        added = block @ self.coefficients[v][place : place + width]
        return np.asarray(added * self.embedding.scales[v])

    def _cells(self, v: int) -> Floats:
        """Log-odds of a variable with joint parents: an axis per parent, and one for its levels."""
        counts = self.embedding.widths[np.flatnonzero(self.widths[:, v])] + 1
        return self.coefficients[v].reshape(*counts.tolist(), -1)

    def _axis(self, u: int, v: int) -> int:
        return int(np.count_nonzero(self.widths[:u, v]))

    def sizes(self, table: BlockTable) -> Floats:
        """(d, d): signed sizes of arcs, in units of the table.

        The size is the standard deviation of the parent's effect on the child, divided by that of
        the parent's values: the slope if the arc is a line. Its sign is that of the correlation of
        the effect with the parent's values. If the child is a category, the effects are those on
        the utilities of its levels, in units of the utilities' noise.
        """
        d = len(self.widths)
        sizes = np.zeros((d, d))
        deviations = np.maximum(table.X.std(axis=0), 1e-300)
        for v in range(d):
            for u in np.flatnonzero(self.widths[:, v]).tolist():
                effect = self.effect(u, v, table.X[:, u]) / self.embedding.scales[v]
                varies = effect.var(axis=0)
                if self.joint[v]:  # over all levels of the other parents
                    varies = self._cells(v).var(axis=self._axis(u, v))
                spread = math.sqrt(float(varies.mean()))
                trend = float(np.mean((table.X[:, u] - table.X[:, u].mean()) * effect[:, -1]))
                unit = float(deviations[v])
                if self.embedding.is_levels(v):  # the standard deviation of logistic noise
                    unit = float(deviations[v] * math.sqrt(3) / math.pi)
                sizes[u, v] = math.copysign(max(spread, 1e-12), trend) * unit
                sizes[u, v] /= deviations[u]
        return sizes

    def may_direct(self, tails: NDArray[Any], heads: NDArray[Any]) -> NDArray[np.bool_]:
        """(m,): whether curves may decide the direction of each arc; only between numbers."""
        numbers = np.array([self.embedding.is_number(v) for v in range(len(self.widths))])
        return np.asarray(numbers[tails] & numbers[heads] & self.is_curved)

    @property
    def form(self) -> str:  # type: ignore[override]
        """Form of the equations, as in "each variable is *a sum of curves* of its causes"."""
        if self.joint.any():
            return "a distribution for each combination of the levels"
        effects = "curves" if self.is_curved else "linear effects"
        return f"a sum of {effects}" + " and of effects of levels" * bool(self._categories())

    @property
    def is_curved(self) -> bool:
        """Whether some arc is a curve."""
        return bool(np.any(self.widths > self.embedding.shortest[:, None]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as named arrays, for saving."""
        return {
            **self.embedding.arrays(),
            "block_widths": self.widths,
            "block_coefficients": np.concatenate([one.ravel() for one in self.coefficients]),
            "block_noise": np.stack([self.variances, self.means, self.scales]),
            "block_joint": self.joint,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "BlockEquations":
        """Rebuild equations from their :meth:`arrays`."""
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
        return cls(embedding, variances, means, scales, widths, coefficients, joint)


def _design(embedding: Embedding, X: Floats, widths: NDArray[np.integer]) -> Floats:
    """Design matrix of one variable: a constant, and the columns of its parents."""
    blocks = [embedding.block(X[:, u], u, int(widths[u])) for u in np.flatnonzero(widths).tolist()]
    return np.column_stack([np.ones(len(X)), *blocks])


def _joint_states(
    embedding: Embedding, parents: Sequence[int], columns: Mapping[int, Floats], rows: int
) -> NDArray[np.int64]:
    """(rows,): index of the combination of the parents' levels.

    ``columns`` has the values of parents, in units of the table; a parent that is missing there
    counts as at its first level.
    """
    at_first = np.zeros(rows, np.int64)
    levels = [embedding.levels_of(columns[u], u) if u in columns else at_first for u in parents]
    return states_of(np.column_stack(levels), embedding.widths[list(parents)] + 1)


def _joint_log_odds(embedding: Embedding, X: Floats, widths: NDArray[np.integer], v: int) -> Floats:
    """Estimate the log-odds of the levels of v against the first: (combinations, levels − 1)."""
    parents = np.flatnonzero(widths).tolist()
    states = _joint_states(embedding, parents, {u: X[:, u] for u in parents}, len(X))
    combinations = math.prod((embedding.widths[parents] + 1).tolist())
    shape = (combinations, int(embedding.widths[v]) + 1)
    logs = np.log(shares_of(states, embedding.levels_of(X[:, v], v), shape))
    return np.asarray(logs[:, 1:] - logs[:, :1])
