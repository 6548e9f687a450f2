r"""The score of one equation over regimes: shared where it holds, replaced where it changed.

A variable v with parents P has one equation in all regimes but those in which it is a target. The
score is

.. math::

    -\tfrac{N}{2} \log \hat\sigma^2 - c\,|P|
    + \sum_{r \in T_v} \Big( \ell_r - \tfrac{k_r}{2} \log n_r - \lambda \Big),

where :math:`T_v` are the regimes in which v is a target, N the number of rows of the others,
:math:`\ell_r` the log-likelihood of the regime's own equation, and :math:`k_r` the number of its
parameters that differ from the shared ones. It is maximised over :math:`T_v` and over what differs
(`cosmodag.data.regimes.CHANGES`), so that it depends on v and P alone: the score of a graph is a
sum over variables, and a graph is compared with another together with the targets that each needs.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from cosmodag.order.moments import Moments
from cosmodag.refinement.regimes import kernel
from cosmodag.refinement.regimes.kernel import Work

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Variance of a column below which it is constant, as a share of its variance in the whole table.
_ROUNDING = 1e-13

# Variance of ranked values that are all alike, as a share of one.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RegimeMoments:
    """Numbers of rows, means and products of each regime, of columns with deviation one."""

    rows: Floats  # (k,)
    means: Floats  # (k, d): about the mean of the whole table
    products: Floats  # (k, d, d): Σ x xᵀ over the rows of a regime, about its own means

    @staticmethod
    def of(X: Floats, labels: NDArray[np.intp], regimes: int) -> "RegimeMoments":
        """Take the moments of a table whose row i belongs to the regime ``labels[i]``.

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
        """Join, for each variable, the regimes in which it is no target; there must be one.

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

    Under one equation in all regimes, the ranks of its residuals do not depend on the regime,
    whatever the noise. Residuals are replaced by the normal quantiles of their ranks, and mean,
    variance and dependence on the parents are compared between the regime and the others. A
    comparison of the residuals themselves takes the chance differences of variances of
    heavy-tailed noise for changes: with exponential noise (d = 12, 100 rows per regime) about half
    of the targets it found were false.
    """

    X: Floats  # (n, d)
    labels: NDArray[np.intp]  # (n,): the regime of each row

    def gains(self, v: int, parents: NDArray[np.intp], targets: Bools) -> Floats:
        """Compute the evidence (k,) that v changed in each regime, the other targets as given.

        Differences of log-likelihoods, penalised by ½ log n_r for each parameter: above zero for a
        change. A regime that alone would be left has no evidence, zero.
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
        together = _free(int(np.count_nonzero(both)), float(ranked[both].var()))
        return apart - together + _own(ranked[own], self.X[np.ix_(own, parents)], variance)


def _own(ranked: Floats, parents: Floats, variance: float) -> float:
    """Penalised likelihood of the best own equation of a regime, as `kernel` lists them.

    `ranked` (m,) and `parents` (m, p) are rows of the regime; `variance` is that of the others.
    """
    rows, p = parents.shape
    price = 0.5 * math.log(rows)
    ranked, parents = ranked - ranked.mean(), parents - parents.mean(axis=0)
    left = float(ranked @ ranked) / rows
    values = [_free(rows, left) - 2 * price]
    if p and rows > p + 3:
        rest = ranked - parents @ np.linalg.lstsq(parents, ranked, rcond=None)[0]
        slopes = float(rest @ rest) / rows
        values += [
            _free(rows, slopes) - (p + 2) * price,
            _same(rows, slopes, variance) - (p + 1) * price,
        ]
    return max(values)


def _free(rows: int, variance: float) -> float:
    """Largest normal log-likelihood, without the terms that do not depend on the variance."""
    return -0.5 * rows * math.log(max(variance, _LEAST_VARIANCE))


def _same(rows: int, own: float, variance: float) -> float:
    """Log-likelihood of rows whose squares are `own` on average, under a given variance."""
    return -0.5 * rows * (math.log(variance) + own / variance - 1.0)


class Local(NamedTuple):
    """Score of a variable given its parents, and the regimes in which it is a target, (k,)."""

    score: float
    targets: Bools


@dataclass(eq=False)
class RegimeScore:
    """Local scores of a table with regimes, kept once they are computed."""

    moments: RegimeMoments
    stated: Bools  # (k, d): known targets, which always have equations of their own
    open: Bools  # (k, d): pairs that may be targets
    penalty: float  # per arc
    # λ, per target that was not stated. With log(2 (d − 1)) one is expected in two regimes.
    price: float

    def __post_init__(self) -> None:
        self._kept: dict[tuple[int, frozenset[int]], Local] = {}
        self._columns: dict[tuple[int, bytes], Floats] = {}
        self._work = Work.of(len(self.stated), 2)

    def local(self, v: int, parents: frozenset[int]) -> Local:
        """Best score of a variable given its parents, over the regimes it may be a target in."""
        key = v, parents
        if key not in self._kept:
            work = self._work_for(sorted(parents), v)
            score = kernel.best_targets(*self._of(v), len(parents), work)
            self._kept[key] = Local(score - self.penalty * len(parents), work.targets.copy())
        return self._kept[key]

    def with_one_more_or_less(self, v: int, parents: Bools, allowed: Bools) -> Floats:
        """Scores (d,) of v given its parents without u, or with u, at [u]; −∞ if not allowed."""
        key = v, (parents.tobytes() + allowed.tobytes())
        if key not in self._columns:
            scores = np.empty(len(parents))
            work = self._work_for(list(range(int(parents.sum()) + 1)), v)
            kernel.scores_with_one_more_or_less(*self._of(v), v, parents, allowed, work, scores)
            self._columns[key] = scores - self.penalty * (parents.sum() + np.where(parents, -1, 1))
        return self._columns[key]

    def _of(self, v: int) -> tuple[Floats, Floats, Floats, Bools, Bools, Floats]:
        """First arguments of the compiled functions: moments, targets and prices of v."""
        stated = np.ascontiguousarray(self.stated[:, v])
        prices = np.where(stated, 0.0, self.price)
        moments = self.moments
        possible = np.ascontiguousarray(self.open[:, v])
        return moments.rows, moments.means, moments.products, stated, possible, prices

    def _work_for(self, parents: list[int], v: int) -> Work:
        """Arrays that are large enough, with the members filled in."""
        if len(self._work.members) < len(parents) + 1:
            self._work = Work.of(len(self.stated), 2 * len(parents) + 2)
        self._work.members[: len(parents) + 1] = [*parents, v]
        return self._work

    def of_graph(self, arcs: Bools) -> tuple[float, Bools]:
        """Score of a graph, and the targets (k, d) that it needs."""
        found = [self.local(v, parents_of(arcs, v)) for v in range(len(arcs))]
        return sum(one.score for one in found), np.stack([one.targets for one in found], axis=1)

    def changes(self, v: int, parents: frozenset[int], targets: Bools) -> NDArray[np.intp]:
        """Find which own equation v has in each regime (k,) in which it is a target.

        Numbers into `cosmodag.data.regimes.CHANGES`; for the other regimes, what it would be.
        """
        work = self._work_for(sorted(parents), v)
        moments, found = self.moments, np.zeros(len(targets), np.intp)
        for r in range(len(targets)):
            work.targets[:] = targets
            work.targets[r] = not (np.delete(targets, r)).all()
            found[r] = kernel.kind_of_change(
                moments.rows, moments.means, moments.products, r, len(parents), work
            )
        return found


def parents_of(arcs: Bools, v: int) -> frozenset[int]:
    """Parents of a variable in a Boolean matrix."""
    return frozenset(np.flatnonzero(arcs[:, v]).tolist())
