r"""The score of one equation over regimes: shared where it holds, replaced where it changed.

A variable v with parents P has one equation in all regimes but those in which it is a target. The
score is

.. math::

    -\tfrac{N}{2} \log \hat\sigma^2 - c\,|P|
    + \sum_{r \in T_v} \Big( -\tfrac{n_r}{2} \log \hat\sigma_r^2
    - \tfrac{k_r}{2} \log n_r - \lambda \Big),

where :math:`T_v` are the regimes in which v is a target, N the number of rows of the others, and
:math:`k_r` the number of parameters of the regime's own equation. It is maximised over
:math:`T_v`, so that it depends on v and P alone: the score of a graph is a sum over variables, and
a graph is compared with another together with the targets that each needs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.refinement.regimes.moments import RegimeMoments

__all__ = ["CHANGES", "Local", "RegimeScore", "parents_of"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CHANGES = ("noise", "cut", "weights")
"""Own equations of a regime: the shared weights with another intercept and variance; no parents;
all parameters of its own."""

# Variance that a value set to a constant is given, as a share of the variable's own.
_LEAST_VARIANCE = 1e-9
_RIDGE = 1e-10
# Smallest improvement of a score that counts.
_LEAST = 1e-6


class Local(NamedTuple):
    """Score of a variable given its parents, and the regimes in which it is a target, (k,)."""

    score: float
    targets: Bools


@dataclass(eq=False)
class RegimeScore:
    r"""Local scores of a table with regimes, kept once they are computed.

    Parameters
    ----------
    moments : RegimeMoments
    stated : (k, d) array of bool
        Known targets, which always have equations of their own.
    open : (k, d) array of bool
        Pairs that may be targets.
    penalty : float
        Per arc.
    price : float
        λ, per target that was not stated. With log(d − 1) one target is expected in each regime.
    """

    moments: RegimeMoments
    stated: Bools
    open: Bools
    penalty: float
    price: float

    def __post_init__(self) -> None:
        self._kept: dict[tuple[int, frozenset[int]], Local] = {}

    def local(self, v: int, parents: frozenset[int]) -> Local:
        """Best score of a variable given its parents, over the regimes it may be a target in."""
        key = v, parents
        if key not in self._kept:
            self._kept[key] = self._best(v, parents)
        return self._kept[key]

    def _best(self, v: int, parents: frozenset[int]) -> Local:
        """Add and take back targets one by one while that raises the score."""
        equation = _Equation(self.moments, v, sorted(parents))
        prices = np.where(self.stated[:, v], 0.0, self.price)
        free = np.flatnonzero(self.open[:, v] & ~self.stated[:, v])
        targets = self.stated[:, v].copy()
        score = float(equation.totals(targets[None], prices)[0])
        while len(free):
            tried = np.repeat(targets[None], len(free), axis=0)
            tried[np.arange(len(free)), free] ^= True
            tried = tried[~tried.all(axis=1)]
            totals = equation.totals(tried, prices)
            best = int(totals.argmax()) if len(totals) else 0
            if not len(totals) or totals[best] <= score + _LEAST:
                break
            score, targets = float(totals[best]), tried[best]
        return Local(score - self.penalty * len(parents), targets)

    def of_graph(self, arcs: Bools) -> tuple[float, Bools]:
        """Score of a graph, and the targets (k, d) that it needs."""
        found = [self.local(v, parents_of(arcs, v)) for v in range(len(arcs))]
        return sum(one.score for one in found), np.stack([one.targets for one in found], axis=1)

    def changes(self, v: int, parents: frozenset[int], targets: Bools) -> NDArray[np.intp]:
        """Say which own equation v has in each regime (k,) in which it is a target.

        Numbers into `CHANGES`; for the other regimes, what it would be.
        """
        own = np.repeat(targets[None], len(targets), axis=0) | np.eye(len(targets), dtype=bool)
        return _Equation(self.moments, v, sorted(parents)).changes(own)


def parents_of(arcs: Bools, v: int) -> frozenset[int]:
    """Parents of a variable in a Boolean matrix."""
    return frozenset(np.flatnonzero(arcs[:, v]).tolist())


class _Equation:
    """Likelihoods of one variable given its parents, for sets of regimes."""

    def __init__(self, moments: RegimeMoments, v: int, parents: list[int]) -> None:
        members = [*parents, v]
        rows, means = moments.rows, moments.means[:, members]
        self.rows = rows
        self.products = moments.products[:, members][:, :, members]
        self.sums = rows[:, None] * means
        self.raw = self.products + self.sums[:, :, None] * means[:, None, :]
        p = len(parents)
        self.parameters = np.array([2.0, 2.0, p + 2.0])
        variances, _ = _regressed(self.products, rows)
        # Without enough rows, or without parents, all parameters are the same as no parents.
        self.variances = np.where(rows > p + 3, variances, np.inf)
        self.cut = np.maximum(self.products[:, p, p] / rows, _LEAST_VARIANCE)

    def totals(self, targets: Bools, prices: Floats) -> Floats:
        """Scores (q,) with the regimes of each row of `targets` (q, k) on their own."""
        kept, shared, weights = self._shared(targets)
        totals: Floats = -0.5 * kept * np.log(shared)
        places, regimes = np.nonzero(targets)
        own = self._own(regimes, weights[places]).max(axis=0)
        np.add.at(totals, places, own - prices[regimes])
        return totals

    def changes(self, targets: Bools) -> NDArray[np.intp]:
        """Which own equation is best in regime i, if the regimes in row i have their own."""
        regimes = np.arange(len(targets))
        _, _, weights = self._shared(targets & ~targets.all(axis=1, keepdims=True))
        return np.asarray(self._own(regimes, weights).argmax(axis=0), np.intp)

    def _shared(self, targets: Bools) -> tuple[Floats, Floats, Floats]:
        """Rows, residual variance and weights of the shared equation."""
        counted = (~targets).astype(np.float64)
        rows, sums = counted @ self.rows, counted @ self.sums
        products = np.tensordot(counted, self.raw, 1)
        products -= sums[:, :, None] * sums[:, None, :] / rows[:, None, None]
        return rows, *_regressed(products, rows)

    def _own(self, regimes: NDArray[np.intp], weights: Floats) -> Floats:
        """Penalised likelihoods (3, q) of the own equations of regimes."""
        rows = self.rows[regimes]
        along = np.concatenate([-weights, np.ones((len(weights), 1))], axis=1)
        squares = np.einsum("qi,qij,qj->q", along, self.products[regimes], along)
        noise = np.maximum(squares / rows, _LEAST_VARIANCE)
        variances = np.stack([noise, self.cut[regimes], self.variances[regimes]])
        own: Floats = -rows * np.log(variances) - np.log(rows) * self.parameters[:, None]
        return 0.5 * own


def _regressed(products: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Residual variances (q,) and weights (q, p) of the last column on the others."""
    p = products.shape[-1] - 1
    among, along = products[:, :p, :p], products[:, :p, p]
    ridge = _RIDGE * np.maximum(rows, 1.0)[:, None, None]
    weights = np.linalg.solve(among + ridge * np.eye(p), along[:, :, None])[:, :, 0]
    squares = products[:, p, p] - (weights * along).sum(axis=1)
    return np.maximum(squares / rows, _LEAST_VARIANCE), np.asarray(weights, np.float64)
