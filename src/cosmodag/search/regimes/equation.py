r"""The score of one equation over regimes: shared, except in the regimes in which it changed.

A variable v with parents P has the same equation in all regimes except those in which it is a
target. The score is

.. math::

    -\tfrac{N}{2} \log \hat\sigma^2 - c\,|P|
    + \sum_{r \in T_v} \Big( \ell_r - \tfrac{k_r}{2} \log n_r - \lambda \Big),

where :math:`T_v` are the regimes in which v is a target, N is the number of rows of the other
regimes, :math:`\ell_r` the log-likelihood of the regime's own equation, and :math:`k_r` the number
of its parameters that differ from the shared ones. The score is maximised over :math:`T_v` and over
the kinds of change (`cosmodag.data.regime_table.CHANGES`), so that it depends on v and P alone. The
score of a graph is a sum over variables, and graphs are compared together with the targets that
each of them needs.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from cosmodag.search.moments import Moments
from cosmodag.search.regimes import kernel
from cosmodag.search.regimes.kernel import TargetRegimes, Work

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Variance, as a share of that in the whole table, below which a column is constant.
_ROUNDING = 1e-13

# Smallest variance of normal scores, in case all residuals are equal.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RegimeMoments:
    """Number of rows, means and products of each regime, for columns of standard deviation one."""

    rows: Floats  # (k,)
    means: Floats  # (k, d): relative to the mean of the whole table
    products: Floats  # (k, d, d): Σ x xᵀ over the rows of a regime, relative to its own means

    @staticmethod
    def of(X: Floats, labels: NDArray[np.intp], regimes: int) -> "RegimeMoments":
        """Compute the moments of a table whose row i belongs to the regime ``labels[i]``.

        Examples
        --------
        >>> X = np.array([[0.0], [2.0], [5.0], [9.0]])
        >>> moments = RegimeMoments.of(X, np.array([0, 0, 1, 1]), 2)
        >>> moments.rows.tolist(), bool(moments.products[1, 0, 0] > moments.products[0, 0, 0])
        ([2.0, 2.0], True)
        """
        centred = X - X.mean(axis=0)
        scales = centred.std(axis=0)
        centred /= np.where(scales > 0, scales, 1.0)
        d = X.shape[1]
        means, products = np.zeros((regimes, d)), np.zeros((regimes, d, d))
        for regime in range(regimes):
            own = centred[labels == regime]
            means[regime] = own.mean(axis=0)
            own = own - means[regime]
            products[regime] = own.T @ own
        rows = np.bincount(labels, minlength=regimes).astype(np.float64)
        return RegimeMoments(rows, means, products)

    def without(self, targets: Bools) -> Moments:
        """Pool, for each variable, the regimes in which it is not a target; there must be one.

        Examples
        --------
        >>> X = np.array([[0.0, 1.0], [2.0, 2.0], [5.0, 0.0], [9.0, 4.0]])
        >>> moments = RegimeMoments.of(X, np.array([0, 0, 1, 1]), 2)
        >>> moments.without(np.array([[False, False], [False, True]])).rows.tolist()
        [2.0, 4.0]
        """
        kept, group = np.unique(~targets, axis=1, return_inverse=True)
        counted = np.ascontiguousarray(kept.T, np.float64)
        rows = counted @ self.rows
        means = counted @ (self.rows[:, None] * self.means) / rows[:, None]
        products = np.tensordot(counted, self.products, 1)
        for place, some in enumerate(kept.T):
            apart = (self.means[some] - means[place]) * np.sqrt(self.rows[some])[:, None]
            products[place] += apart.T @ apart
        variances = np.einsum("gii->gi", products) / rows[:, None]
        scales = np.sqrt(np.where(variances > _ROUNDING, variances, 0.0))
        inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)
        correlations = products * inverse[:, :, None] * inverse[:, None, :] / rows[:, None, None]
        np.einsum("gii->gi", correlations)[...] = scales > 0
        return Moments(correlations, group.ravel().astype(np.int64), rows, means, scales)


@dataclass(frozen=True, eq=False)
class RankEvidence:
    """Evidence for a change of an equation, from normal scores of its residuals.

    If an equation is the same in all regimes, the ranks of its residuals do not depend on the
    regime, whatever the noise. Residuals are therefore replaced by the normal quantiles of their
    ranks, and their mean, variance and dependence on the parents are compared between the regime
    and the others. A comparison of the residuals themselves mistakes chance differences in the
    variance of heavy-tailed noise for changes: with exponential noise (d = 12, 100 rows per regime)
    about half of the targets it found were false.
    """

    X: Floats  # (n, d)
    labels: NDArray[np.intp]  # (n,): the regime of each row

    def gains(self, v: int, parents: NDArray[np.intp], targets: Bools) -> Floats:
        """Compute the evidence (k,) that v changed in each regime, given the other targets.

        The evidence is a difference of log-likelihoods, penalised by ½ log n_r per parameter, and
        positive for a change. It is 0 if no other regime is left for comparison.
        """
        return np.array([self.gain(v, parents, targets, r) for r in range(len(targets))])

    def gain(self, v: int, parents: NDArray[np.intp], targets: Bools, regime: int) -> float:
        """Compute the evidence that v changed in one regime."""
        own = self.labels == regime
        others = ~targets[self.labels] & ~own
        if not others.any():
            return 0.0
        columns = np.column_stack([self.X[:, parents], np.ones(len(own))])
        weights = np.linalg.lstsq(columns[others], self.X[others, v], rcond=None)[0]
        residuals = self.X[:, v] - columns @ weights
        both = own | others
        ranked = np.empty(len(own))
        ranked[both] = ndtri((rankdata(residuals[both]) - 0.5) / np.count_nonzero(both))
        variance = max(float(ranked[others].var()), _LEAST_VARIANCE)
        apart = -0.5 * np.count_nonzero(others) * math.log(variance)
        together = _best_likelihood(int(np.count_nonzero(both)), float(ranked[both].var()))
        changed = _changed_likelihood(ranked[own], self.X[np.ix_(own, parents)], variance)
        return apart - together + changed


def _changed_likelihood(ranked: Floats, parents: Floats, variance: float) -> float:
    """Penalised log-likelihood of a regime with the best equation of its own (see `kernel`).

    `ranked` (m,) and `parents` (m, p) are the rows of the regime; `variance` is that of the other
    regimes.
    """
    rows, p = parents.shape
    price = 0.5 * math.log(rows)
    ranked, parents = ranked - ranked.mean(), parents - parents.mean(axis=0)
    left = float(ranked @ ranked) / rows
    values = [_best_likelihood(rows, left) - 2 * price]
    if p and rows > p + 3:
        rest = ranked - parents @ np.linalg.lstsq(parents, ranked, rcond=None)[0]
        slopes = float(rest @ rest) / rows
        values += [
            _best_likelihood(rows, slopes) - (p + 2) * price,
            _likelihood(rows, slopes, variance) - (p + 1) * price,
        ]
    return max(values)


def _best_likelihood(rows: int, variance: float) -> float:
    """Maximum normal log-likelihood, up to terms that do not depend on the variance."""
    return -0.5 * rows * math.log(max(variance, _LEAST_VARIANCE))


def _likelihood(rows: int, own: float, variance: float) -> float:
    """Compute the normal log-likelihood of rows with mean square `own` under a variance."""
    return -0.5 * rows * (math.log(variance) + own / variance - 1.0)


class Local(NamedTuple):
    """Score of a variable given its parents, and whether it is a target in each regime, (k,)."""

    score: float
    targets: Bools


@dataclass(eq=False)
class RegimeScore:
    """Local scores of a table with regimes; each is computed once."""

    moments: RegimeMoments
    stated: Bools  # (k, d): known targets, which always have equations of their own
    open: Bools  # (k, d): pairs that may be targets
    penalty: float  # per arc
    # λ, per target that is not stated. With log(2 (d − 1)), one target is expected in two regimes.
    price: float

    def __post_init__(self) -> None:
        self._locals: dict[tuple[int, frozenset[int]], Local] = {}
        self._toggled: dict[tuple[int, bytes], Floats] = {}
        self._work = Work.of(len(self.stated), 2)

    def local(self, v: int, parents: frozenset[int]) -> Local:
        """Compute the best score of a variable given its parents, over its possible targets."""
        key = v, parents
        if key not in self._locals:
            work = self._work_for(sorted(parents), v)
            score = kernel.best_targets(self._regimes(v), len(parents), work)
            self._locals[key] = Local(score - self.penalty * len(parents), work.targets.copy())
        return self._locals[key]

    def toggled(self, v: int, parents: Bools, allowed: Bools) -> Floats:
        """Compute the scores (d,) of v if u is added to its parents, or dropped from them, at [u].

        The score is −∞ if u is not allowed.
        """
        key = v, (parents.tobytes() + allowed.tobytes())
        if key not in self._toggled:
            scores = np.empty(len(parents))
            work = self._work_for(list(range(int(parents.sum()) + 1)), v)
            kernel.toggled_scores(self._regimes(v), v, parents, allowed, work, scores)
            self._toggled[key] = scores - self.penalty * (parents.sum() + np.where(parents, -1, 1))
        return self._toggled[key]

    def _regimes(self, v: int) -> TargetRegimes:
        stated, possible = (np.ascontiguousarray(one[:, v]) for one in (self.stated, self.open))
        prices = np.where(stated, 0.0, self.price)
        moments = self.moments
        return TargetRegimes(
            moments.rows, moments.means, moments.products, stated, possible, prices
        )

    def _work_for(self, parents: list[int], v: int) -> Work:
        """Provide arrays of sufficient size, with the members filled in."""
        if len(self._work.members) < len(parents) + 1:
            self._work = Work.of(len(self.stated), 2 * len(parents) + 2)
        self._work.members[: len(parents) + 1] = [*parents, v]
        return self._work

    def of_graph(self, arcs: Bools) -> tuple[float, Bools]:
        """Compute the score of a graph, and its best targets (k, d)."""
        found = [self.local(v, parents_of(arcs, v)) for v in range(len(arcs))]
        return sum(one.score for one in found), np.stack([one.targets for one in found], axis=1)

    def changes(self, v: int, parents: frozenset[int], targets: Bools) -> NDArray[np.intp]:
        """Find the kind of change of v in each regime (k,), as places in `data.regimes.CHANGES`.

        For a regime in which v is not a target, this is the kind if it were one.
        """
        work = self._work_for(sorted(parents), v)
        found = np.zeros(len(targets), np.intp)
        for r in range(len(targets)):
            work.targets[:] = targets
            work.targets[r] = not (np.delete(targets, r)).all()
            found[r] = kernel.kind_of_change(self._regimes(v), r, len(parents), work)
        return found


def parents_of(arcs: Bools, v: int) -> frozenset[int]:
    """Return the parents of a variable in an adjacency matrix."""
    return frozenset(np.flatnonzero(arcs[:, v]).tolist())
