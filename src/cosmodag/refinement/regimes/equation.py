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

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.refinement.regimes import kernel
from cosmodag.refinement.regimes.kernel import Work
from cosmodag.refinement.regimes.moments import RegimeMoments

__all__ = ["Local", "RegimeScore", "parents_of"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


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
        λ, per target that was not stated. With log(2 (d − 1)) one is expected in two regimes.
    """

    moments: RegimeMoments
    stated: Bools
    open: Bools
    penalty: float
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
        """Scores (d,) of v given its parents without u, or with u, at [u].

        Parameters
        ----------
        v : int
        parents, allowed : (d,) arrays of bool
            Parents of v, and the variables u that are tried; −∞ for the others.
        """
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
