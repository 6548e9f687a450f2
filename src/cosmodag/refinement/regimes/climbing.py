"""A graph improved by single changes, each judged together with the targets that it needs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.refinement.regimes.equation import RegimeScore, parents_of

__all__ = ["climb"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_LEAST = 1e-6


def climb(
    score: RegimeScore,
    arcs: Bools,
    *,
    support: Bools | None = None,
    required: Bools | None = None,
    before: Bools | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Bools:
    """Add, remove and turn arcs, always the one that raises the score most, until none does.

    A search for a graph takes the targets as given. Where they were found on a graph with an arc
    turned, both ends of it are targets, and then either direction fits as well: only a comparison
    of graphs, each with the targets that it needs, shows that the right direction needs fewer.

    Parameters
    ----------
    score : RegimeScore
    arcs : (d, d) array of bool
        The graph to start from.
    support, required, before : (d, d) arrays of bool, optional
        Arcs that may exist, arcs that must, and what must come before what (transitively closed).
    should_stop : function
        Called before every change; after True the climb ends.
    """
    d = len(arcs)
    steps = _Steps(
        score,
        arcs.copy(),
        ~np.eye(d, dtype=bool) if support is None else support & ~np.eye(d, dtype=bool),
        np.zeros((d, d), bool) if required is None else required,
        np.zeros((d, d), bool) if before is None else before,
    )
    while not should_stop() and steps.take_best():
        pass
    return steps.arcs


@dataclass(eq=False)
class _Steps:
    """Changes of one arc of a graph, and what each gains.

    ``gains[u, v]`` is the gain of the equation of v where u becomes a parent of it, or ceases to be
    one; a step changes one or two columns of it.
    """

    score: RegimeScore
    arcs: Bools
    support: Bools
    required: Bools
    before: Bools

    def __post_init__(self) -> None:
        self.gains = np.empty(self.arcs.shape)
        for v in range(len(self.arcs)):
            self._compute(v)

    def _compute(self, v: int) -> None:
        allowed = (self.support[:, v] | self.arcs[:, v]) & ~self.required[:, v]
        now = self.score.local(v, parents_of(self.arcs, v)).score
        changed = self.score.with_one_more_or_less(v, self.arcs[:, v].copy(), allowed)
        self.gains[:, v] = changed - now

    def take_best(self) -> bool:
        """Take the step that gains most; return whether there is one."""
        removed, added, turned = self._removed(), self._added(), self._turned()
        best = max((removed, added, turned), key=np.max)
        if best.max() <= _LEAST:
            return False
        u, v = (int(place) for place in np.unravel_index(best.argmax(), best.shape))
        self.arcs[u, v] = best is added
        self._compute(v)
        if best is turned:
            self.arcs[v, u] = True
            self._compute(u)
        return True

    def _removed(self) -> Floats:
        return np.where(self.arcs & ~self.required, self.gains, -np.inf)

    def _added(self) -> Floats:
        free = self.support & ~self.arcs & (self._reached().T == 0)
        return np.where(free, self.gains, -np.inf)

    def _turned(self) -> Floats:
        """Gains of u → v becoming v → u, where no other path leads from u to v."""
        arcs = (self.arcs | self.before).astype(np.float32)
        # Paths over a third variable: all that begin with any arc but the one that is turned.
        longer = arcs @ self._reached() - arcs > 0.5
        free = self.arcs & ~self.required & self.support.T & ~self.before & ~longer
        both = np.where(free, self.gains, -np.inf) + np.where(free, self.gains.T, 0.0)
        return np.asarray(both, np.float64)

    def _reached(self) -> NDArray[np.float32]:
        """(d, d): 1 at [u, v] where a path leads from u to v, and on the diagonal, 0 elsewhere."""
        reached = closure(self.arcs | self.before)
        np.fill_diagonal(reached, True)
        return reached.astype(np.float32)
