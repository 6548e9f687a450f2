"""Checks of a linear model with independent noise: tests of its arcs, and comparison with curves.

A search that maximises non-Gaussianity finds directions in any table whose residuals are not
Gaussian, whatever the reason. Its model implies that the residual of a variable is independent of
the parents. `noise_dependence` tests this for all arcs, and decides whether too many fail.

Such a search mistakes a curved relation for skewed noise: if y = x + x²/2 + e with normal x and e,
the line from y to x leaves residuals that are less Gaussian, so that the arc gets the wrong
direction. With few rows it is hard to detect that its residuals depend on the parent, but easy to
detect that a curve in the true direction has a far higher likelihood: `arc_curves` compares these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.dependence import arc_tests
from cosmodag.data.kinds.embedding import Embedding
from cosmodag.data.knowledge.bounds import closure
from cosmodag.graph.texts import counted
from cosmodag.search.entropy.spacings import log_densities

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Correlation, in standard errors, that refutes an arc, and that refutes it with certainty.
_REFUTES, _CERTAIN = 3.5, 5.0
# Shares of refuted arcs, and of certainly refuted ones, above which the model is refuted. Measured
# shares of arcs beyond 3.5 errors: at most one arc or 2 % with Laplace, uniform, exponential,
# Gumbel and t noise (d = 10 to 50, n = 500 to 50,000); 15 to 98 % with counts, curves, tanh and
# noise that depends on a parent.
_MOST, _MOST_CERTAIN = 0.05, 0.1
# Maximum number of arcs that are compared with curves.
_SUSPECTS = 100
# Log-likelihood from which evidence is very strong (twice the logarithm of the odds above 10, Kass
# and Raftery 1995); the logarithm of the number of arcs is added, to correct for multiple tests.
_FIRM = 5.0
# Share of arcs above which a single curved arc refutes the model; for several it is `_MOST`.
_MOST_SINGLE = 0.1
# Number of random draws of the folds: gains in the first draw alone may be due to chance.
_DRAWS = 5
_FOLDS = 5
# Columns of the curves that are tried: the line and two, three or five polynomials.
_WIDTHS = (3, 4, 6)
# Maximum number of rows for the comparison with curves.
_MOST_ROWS = 5000
_RIDGE = 1e-8


@dataclass(frozen=True)
class Dependence:
    """Numbers of arcs of a graph that contradict a linear model with independent noise."""

    arcs: int
    refuted: int  # arcs whose residual depends on the parent
    certain: int  # refuted arcs beyond doubt
    curved: int  # refuted arcs whose residual correlates most with x² or x³
    uneven: int  # refuted arcs whose squared residual correlates most with x or x²
    worst: tuple[int, int] | None  # the arc that contradicts the model most
    # At most 100 arcs, in descending order of the dependence of the residual on the parent.
    suspects: list[tuple[int, int]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of refuted arcs."""
        return self.refuted / max(self.arcs, 1)

    @property
    def refutes(self) -> bool:
        """Whether the model is refuted; a single arc may be due to chance or a wrong graph."""
        several = self.refuted > max(1.0, _MOST * self.arcs)
        return several or self.certain > _MOST_CERTAIN * self.arcs

    @property
    def kind(self) -> str:
        """The more frequent contradiction: ``"curved"`` or ``"uneven_noise"``."""
        return "curved" if self.curved >= self.uneven else "uneven_noise"

    @property
    def description(self) -> str:
        """The contradictions in words."""
        kinds = {"curved relations": self.curved, "noise that depends on a parent": self.uneven}
        named = [f"{kind} in {count}" for kind, count in kinds.items() if count]
        return " and ".join(named) + f" of {counted(self.arcs, 'tested arc')}"


def noise_dependence(
    X: Floats, weights: sparse.csr_array, counted: Floats | None = None
) -> Dependence:
    """Test for each arc of a graph whether the residual of its head depends on its tail.

    `weights` are in the units of the table; stored entries are arcs, also if they are zero. Arcs
    from constant columns do not count. An equation is not tested on rows in which its variable was
    set, where `counted` (n, d) is 0.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, noise = random.laplace(size=(2, 1000))
    >>> arc = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> noise_dependence(np.column_stack([x, x + noise]), arc).refutes
    False
    >>> noise_dependence(np.column_stack([x, x + 0.3 * x**2 + noise]), arc).description
    'curved relations in 1 of 1 tested arc'
    """
    tails, heads = np.nonzero(_testable_arcs(X, weights))
    tests = arc_tests(X, X - X @ weights, tails, heads, counted)
    if not len(tests.tails):
        return Dependence(0, 0, 0, 0, 0, None)
    curved = np.maximum(np.abs(tests.square), np.abs(tests.cube))
    uneven = np.abs(tests.spread)
    most = np.maximum(curved, uneven)
    worst = int(most.argmax())
    wider = np.maximum(np.abs(tests.curved), np.abs(tests.uneven))
    first = np.argsort(-np.maximum(most, wider), kind="stable")[:_SUSPECTS]
    pairs = zip(tests.tails[first].tolist(), tests.heads[first].tolist(), strict=True)
    return Dependence(
        arcs=len(most),
        refuted=int(np.sum(most > _REFUTES)),
        certain=int(np.sum(most > _CERTAIN)),
        curved=int(np.sum((curved > _REFUTES) & (curved >= uneven))),
        uneven=int(np.sum((uneven > _REFUTES) & (uneven > curved))),
        worst=(int(tests.tails[worst]), int(tests.heads[worst])),
        suspects=list(pairs),
    )


def _testable_arcs(X: Floats, weights: sparse.csr_array) -> Bools:
    """Mark the stored entries (d, d) whose tail varies; the weight of a required arc may be 0."""
    arcs = np.zeros(weights.shape, np.bool_)
    arcs[weights.tocoo().coords] = True
    return np.asarray(arcs & (np.ptp(X, axis=0) > 0)[:, None])


class ArcCurves(NamedTuple):
    """Gains of curves over lines for some arcs of a graph."""

    arcs: int  # number of arcs of the graph
    compared: Sequence[tuple[int, int]]  # the arcs u → v that were compared
    # (compared,): gain in the log-likelihood of held-out rows from a curve of u in the equation of
    # v, or from the reversed arc with a curve of v in the equation of u; the larger of the two.
    gains: Floats

    @property
    def bent(self) -> int:
        """Number of arcs that a curve explains far better than a line."""
        return int(np.sum(self.gains > _limit(self.arcs)))

    @property
    def share(self) -> float:
        """Share of arcs that a curve explains far better than a line."""
        return self.bent / max(self.arcs, 1)

    @property
    def refutes(self) -> bool:
        """Whether the linear model is refuted; one curved arc of many may be due to chance."""
        return self.bent > max(1.0, _MOST * self.arcs) or self.share > _MOST_SINGLE

    @property
    def kind(self) -> str:
        """The contradiction, as in `Dependence`."""
        return "curved"

    @property
    def worst(self) -> tuple[int, int]:
        """The arc for which a curve gains most."""
        return self.compared[int(self.gains.argmax())]

    @property
    def description(self) -> str:
        """The contradictions in words."""
        return f"curved relations in {self.bent} of {counted(self.arcs, 'tested arc')}"


def arc_curves(
    X: Floats,
    weights: sparse.csr_array,
    compared: Sequence[tuple[int, int]],
    counted: Floats | None = None,
) -> ArcCurves:
    """Compare the lines of some arcs of a graph with curves in both directions, on held-out rows.

    All other arcs remain lines. The densities of residuals are estimated from spacings, so that
    noise may have any shape. An arc is not reversed if another path leads from its tail to its
    head. The arcs are those that `noise_dependence` tests.

    On pairs with noises and curves other than those of the documentation, 1 % of 450 linear pairs
    were classified as curved, and all but 10 % of 300 curved pairs that had the wrong direction. Of
    more than 5,000 rows, evenly spaced ones are used. Rows in which an end of an arc was set
    (`counted` is 0) are ignored for that arc.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, noise = random.normal(size=(2, 500))
    >>> y, arc = x + 0.5 * x**2 + noise, sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> backwards = arc_curves(np.column_stack([y, x]), arc, [(0, 1)])
    >>> line = arc_curves(np.column_stack([x, x + noise]), arc, [(0, 1)])
    >>> backwards.refutes, line.refutes
    (True, False)
    """
    step = -(-len(X) // _MOST_ROWS)
    table = np.asarray(X[::step], np.float64)
    table = (table - table.mean(axis=0)) / np.maximum(table.std(axis=0), np.finfo(float).tiny)
    arcs = _testable_arcs(X, weights)
    random, count = np.random.default_rng(0), int(arcs.sum())
    first, *further = (
        _FoldedTable(table, arcs, random.permutation(len(table)) % _FOLDS) for _ in range(_DRAWS)
    )
    gains = np.zeros(len(compared))
    for place, (u, v) in enumerate(compared):
        rows = None if counted is None else np.all(counted[::step][:, [u, v]] > 0, axis=1)
        gains[place] = first.gain(u, v, rows)
        if gains[place] > _limit(count):
            again = [other.gain(u, v, rows) for other in further]
            gains[place] = np.mean([gains[place], *again])
    return ArcCurves(count, compared, gains)


def _limit(arcs: int) -> float:
    """Gain in log-likelihood from which an arc counts as curved."""
    return _FIRM + math.log(max(arcs, 1))


class _FoldedTable:
    """A standardised table, a graph, and the folds of the rows."""

    def __init__(self, table: Floats, arcs: Bools, folds: NDArray[np.int_]) -> None:
        self.table, self.arcs, self.folds = table, arcs, folds
        self.reached = closure(arcs)
        self.parents = [np.flatnonzero(column).tolist() for column in arcs.T]
        self.embedding = Embedding.of(table, columns=_WIDTHS[-1])
        self.blocks: dict[int, Floats] = {}

    def gain(self, u: int, v: int, rows: Bools | None) -> float:
        """Gain in log-likelihood over the line of an arc from a curve in the better direction."""
        used = np.ones(len(self.table), np.bool_) if rows is None else rows
        others = [w for w in self.parents[v] if w != u]
        line, *bent = self._likelihoods(v, others, u, used)
        gains = [max(bent) - line]
        if not self._has_detour(u, v):
            without = self._likelihood(v, others, used)
            alone = self._likelihood(u, self.parents[u], used)
            _, *turned = self._likelihoods(u, self.parents[u], v, used)
            gains.append(max(turned) + without - line - alone)
        return max(gains)

    def _likelihood(self, v: int, parents: list[int], used: Bools) -> float:
        """Log-likelihood of a variable given lines of its parents."""
        return self._fitted(v, self.table[:, parents], [len(parents)], used)[0]

    def _likelihoods(self, v: int, parents: list[int], u: int, used: Bools) -> list[float]:
        """Log-likelihoods of v given lines of its parents, and a line or several curves of u."""
        if u not in self.blocks:
            self.blocks[u] = self.embedding.block(self.table[:, u], u)
        columns = np.column_stack([self.table[:, parents], self.blocks[u]])
        widths = [min(width, self.blocks[u].shape[1]) for width in (1, *_WIDTHS)]
        return self._fitted(v, columns, [len(parents) + width for width in widths], used)

    def _fitted(self, v: int, columns: Floats, sizes: Sequence[int], used: Bools) -> list[float]:
        """Log-likelihoods of held-out rows given the first columns, for several numbers of them."""
        design = np.column_stack([np.ones(len(columns)), columns])[used]
        y, folds = self.table[used, v], self.folds[used]
        left = np.empty((len(sizes), len(y)))
        for fold in range(_FOLDS):
            held = folds == fold
            seen, unseen = design[~held], design[held]
            products, along = seen.T @ seen, seen.T @ y[~held]
            products[np.diag_indices(len(products))] += _RIDGE * len(seen)
            for place, size in enumerate(sizes):
                weights = np.linalg.solve(products[: size + 1, : size + 1], along[: size + 1])
                left[place, held] = y[held] - unseen[:, : size + 1] @ weights
        return [float(log_densities(one).sum()) for one in left]

    def _has_detour(self, u: int, v: int) -> bool:
        """Whether a path of several arcs leads from u to v."""
        return bool(np.any(self.reached[u] & self.arcs[:, v]))
