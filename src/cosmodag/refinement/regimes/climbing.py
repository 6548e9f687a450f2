"""Single changes of a graph, compared by the score that finds targets as well."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from cosmodag.refinement.regimes.equation import RegimeScore, parents_of

__all__ = ["climb"]

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
        Asked before every change.
    """
    steps = _Steps(score, arcs.copy(), support, required, before)
    while not should_stop():
        best, chosen = _LEAST, None
        for gain, change in steps:
            if gain > best:
                best, chosen = gain, change
        if chosen is None:
            break
        for place, value in chosen.items():
            steps.arcs[place] = value
    return steps.arcs


class _Steps:
    """Changes of one arc of a graph, and what each gains."""

    def __init__(
        self,
        score: RegimeScore,
        arcs: Bools,
        support: Bools | None,
        required: Bools | None,
        before: Bools | None,
    ) -> None:
        d = len(arcs)
        self.score, self.arcs = score, arcs
        self.support = ~np.eye(d, dtype=bool) if support is None else support
        self.required = np.zeros((d, d), bool) if required is None else required
        self.before = np.zeros((d, d), bool) if before is None else before

    def __iter__(self) -> Iterator[tuple[float, dict[tuple[int, int], bool]]]:
        arcs, d = self.arcs, len(self.arcs)
        reached = _reached(arcs | self.before)
        parents = [parents_of(arcs, v) for v in range(d)]
        now = [self.score.local(v, parents[v]).score for v in range(d)]
        for u, v in zip(*np.nonzero(arcs & ~self.required), strict=True):
            u, v = int(u), int(v)
            removed = self.score.local(v, parents[v] - {u}).score - now[v]
            yield removed, {(u, v): False}
            others = arcs[u] | self.before[u]
            others[v] = False
            if self.support[v, u] and not self.before[u, v] and not reached[others, v].any():
                turned = removed + self.score.local(u, parents[u] | {v}).score - now[u]
                yield turned, {(u, v): False, (v, u): True}
        for u, v in zip(*np.nonzero(self.support & ~arcs & ~reached.T), strict=True):
            u, v = int(u), int(v)
            yield self.score.local(v, parents[v] | {u}).score - now[v], {(u, v): True}


def _reached(arcs: Bools) -> Bools:
    """(d, d): whether a path leads from u to v, at [u, v]; true on the diagonal."""
    found = arcs | np.eye(len(arcs), dtype=bool)
    while True:
        further = found @ found
        if np.array_equal(further, found):
            return found
        found = further
