"""Graphs among categories, compared by held-out likelihood."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.counted.level_tables import held_out_shares, states_of
from cosmodag.search.mixed.multinomial import fit_levels, probabilities
from cosmodag.search.mixed.table import BlockTable

_FOLDS = 5
# A graph that comes later must gain more than this number of standard errors.
_CERTAIN = 2.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LevelGraph:
    """A graph of categories, and how the parents of each variable act on it."""

    name: str
    adjacency: NDArray[np.bool_]  # (d, d): at [u, v] whether u → v
    joint: NDArray[np.bool_]  # (d,): whether the parents of a variable act jointly


class HeldOutLevels:
    """Held-out log-likelihoods of the rows of a table of categories, by graph.

    The folds do not depend on the columns, so that graphs of several searches are compared on the
    same rows.
    """

    def __init__(self, table: BlockTable) -> None:
        self.table = table
        embedding, n = table.embedding, len(table.X)
        columns = [embedding.levels_of(table.X[:, v], v) for v in range(table.X.shape[1])]
        self.levels = np.column_stack(columns)
        self.counts = embedding.widths + 1
        self.folds = np.random.default_rng(0).permutation(n) % _FOLDS
        self.known: dict[tuple[int, bytes, bool], Floats] = {}

    def of(self, graph: LevelGraph) -> Floats:
        """(n,): log-likelihood of each row, by equations fitted to the other folds."""
        return np.asarray(
            np.sum([self._of_variable(graph, v) for v in range(len(self.counts))], axis=0)
        )

    def _of_variable(self, graph: LevelGraph, v: int) -> Floats:
        # A single parent has the same distributions either way.
        parents = np.flatnonzero(graph.adjacency[:, v])
        is_joint = bool(graph.joint[v]) or len(parents) < 2
        key = (v, parents.tobytes(), is_joint)
        if key not in self.known:
            found, rows = np.zeros(len(self.folds)), self._rows(v)
            held_out = self._jointly if is_joint else self._added
            found[rows] = held_out(v, parents, rows)
            self.known[key] = found
        return self.known[key]

    def _rows(self, v: int) -> NDArray[np.intp]:
        return np.arange(len(self.folds))[self.table.rows_of(v)]

    def _jointly(self, v: int, parents: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
        states = states_of(self.levels[np.ix_(rows, parents)], self.counts[parents])
        levels, folds = self.levels[rows, v], self.folds[rows]
        return np.log(held_out_shares(levels, states, int(self.counts[v]), folds))

    def _added(self, v: int, parents: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
        widths = np.zeros_like(self.table.embedding.widths)
        widths[parents] = self.table.embedding.widths[parents]
        design, levels = self.table.design(widths, rows), self.levels[rows, v]
        found, folds = np.zeros(len(rows)), self.folds[rows]
        for fold in range(_FOLDS):
            held = folds == fold
            weights, _ = fit_levels(design[~held], levels[~held], int(self.counts[v]))
            shares = probabilities(design[held], weights)
            found[held] = np.log(np.maximum(shares[np.arange(len(shares)), levels[held]], 1e-12))
        return found


def best_of_graphs(
    table: BlockTable, graphs: Sequence[LevelGraph]
) -> tuple[int, str, tuple[float, float]]:
    """Choose the first graph within two standard errors of the likeliest on held-out rows.

    The graphs are in order of preference. Returns the place of the graph, the reason in a sentence,
    and the gain per row of the graph over the first, with its standard error.
    """
    held_out = HeldOutLevels(table)
    rows = [held_out.of(graph) for graph in graphs]
    likeliest = max(rows, key=lambda one: float(one.mean()))
    kept = next(
        place
        for place, (gain, error) in enumerate(_gain(likeliest, one) for one in rows)
        if gain <= _CERTAIN * error
    )
    others = [
        f"{graph.name} {'gain' if gain >= 0 else 'lose'} {abs(gain):.3f} ± {error:.3f}"
        for graph, (gain, error) in zip(
            graphs, (_gain(one, rows[kept]) for one in rows), strict=True
        )
        if graph is not graphs[kept]
    ]
    reason = f"On held-out rows {graphs[kept].name} were kept"
    if others:
        reason += f" (in log-likelihood per row over them, {', '.join(others)})"
    return kept, f"{reason}.", _gain(rows[kept], rows[0])


def _gain(first: Floats, second: Floats) -> tuple[float, float]:
    """Mean gain per row of the first over the second, and its standard error."""
    gains = first - second
    return float(gains.mean()), float(gains.std() / math.sqrt(max(len(gains), 1)))
