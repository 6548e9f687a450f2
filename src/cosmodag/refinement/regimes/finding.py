"""Targets of regimes and graph, found in turn: each given the other, then both together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.scores import default_penalty
from cosmodag.refinement.refine import refine_linear
from cosmodag.refinement.regimes.climbing import climb
from cosmodag.refinement.regimes.equation import RegimeScore
from cosmodag.refinement.regimes.evidence import RankEvidence
from cosmodag.refinement.regimes.moments import RegimeMoments

__all__ = ["FoundTargets", "find_targets", "regime_score"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ROUNDS = 6
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class FoundTargets:
    """Targets and the graph that they were found with.

    Attributes
    ----------
    targets
        (k, d) bool: whether a variable has an equation of its own in a regime; with those stated.
    arcs
        (d, d) bool.
    score
        Score of graph and targets together.
    """

    targets: Bools
    arcs: Bools
    score: float


def find_targets(
    X: Floats,
    labels: NDArray[np.intp],
    stated: Bools,
    may_change: Bools,
    *,
    support: Bools | None = None,
    required: Bools | None = None,
    before: Bools | None = None,
    starts: Sequence[Bools] = (),
    seed: int = 0,
    should_stop: Callable[[], bool] = lambda: False,
) -> FoundTargets:
    """Find the variables whose equations differ between regimes, together with a graph.

    Given targets, a graph is searched for as with perfect interventions: rows of a regime do not
    count in the equations of its targets. That only proposes graphs: without the likelihood of a
    target given its parents, a graph in which it is a parent instead seems to explain more. Given
    a graph, the targets of each variable maximise its own score (`RegimeScore`). Both are repeated
    from two starts (all rows share all equations; the largest regime without targets alone), each
    followed by single changes of the graph that are judged by graph and targets together (`climb`),
    until the score of both no longer rises. On 12 tables (d = 12, ER2, 100 rows in each of 12
    regimes, 100 or 400 without) repetition alone ended below the score of the truth on 3, and with
    single changes on none.

    Parameters
    ----------
    X : (n, d) array
    labels : (n,) array of int
        The regime of each row, 0 to k − 1.
    stated : (k, d) array of bool
        Known targets.
    may_change : (k, d) array of bool
        Pairs that may be targets beside those.
    support, required, before : (d, d) arrays of bool, optional
        As for `refine_linear`.
    starts : sequence of (d, d) arrays of bool
        Further graphs to start from.
    seed : int
        Of the searches.
    should_stop : function

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> a, noise = random.normal(size=(2, 400))
    >>> labels = np.repeat([0, 1], 200)
    >>> X = np.column_stack([a, a + noise + 3 * labels])
    >>> found = find_targets(X, labels, np.zeros((2, 2), bool), np.array([[False] * 2, [True] * 2]))
    >>> found.targets.astype(int).tolist(), found.arcs.astype(int).tolist()
    ([[0, 0], [0, 1]], [[0, 1], [0, 0]])
    """

    def searched(targets: Bools) -> Bools:
        found = refine_linear(
            score.moments.without(targets),
            {},
            score="gaussian",
            support=support,
            required=required,
            before=before,
            random=np.random.default_rng(seed),
            should_stop=should_stop,
        )
        return found.adjacency()

    score = regime_score(X, labels, stated, may_change)
    first = searched(_first_alone(labels, stated, may_change))
    best: FoundTargets | None = None
    for arcs in (first, searched(stated), *starts):
        last = -np.inf
        for _ in range(_ROUNDS):
            arcs = climb(
                score,
                arcs,
                support=support,
                required=required,
                before=before,
                should_stop=should_stop,
            )
            total, targets = score.of_graph(arcs)
            if best is None or total > best.score + _LEAST:
                best = FoundTargets(targets, arcs, total)
            if total <= last + _LEAST or should_stop():
                break
            last, arcs = total, searched(targets)
    assert best is not None
    return replace(best, targets=_confirmed(X, labels, stated, best, score.price))


def regime_score(
    X: Floats, labels: NDArray[np.intp], stated: Bools, may_change: Bools
) -> RegimeScore:
    """Make the score of a table with regimes."""
    k, d = stated.shape
    return RegimeScore(
        RegimeMoments.of(X, labels, k),
        stated,
        may_change,
        default_penalty(len(X), d),
        math.log(2 * max(d - 1, 1)),
    )


def _confirmed(
    X: Floats, labels: NDArray[np.intp], stated: Bools, found: FoundTargets, price: float
) -> Bools:
    """Drop targets that ranks do not confirm, for each variable the weakest first."""
    evidence = RankEvidence(X, labels)
    targets = found.targets.copy()
    for v in range(X.shape[1]):
        parents = np.flatnonzero(found.arcs[:, v])
        while True:
            doubtful = np.flatnonzero(targets[:, v] & ~stated[:, v])
            gains = [evidence.gain(v, parents, targets[:, v], int(r)) for r in doubtful]
            if not gains or min(gains) > price:
                break
            targets[doubtful[int(np.argmin(gains))], v] = False
    return targets


def _first_alone(labels: NDArray[np.intp], stated: Bools, may_change: Bools) -> Bools:
    """Let only the largest regime without possible targets, or the largest, follow the equations.

    Among regimes in which a variable is a stated target, it follows its equation in the next.
    """
    targets = np.ones_like(stated)
    rows = np.bincount(labels, minlength=len(stated)).astype(np.float64)
    for v in range(stated.shape[1]):
        preferred = np.where(may_change[:, v], rows, rows + len(labels))
        targets[int(np.argmax(np.where(stated[:, v], -1.0, preferred))), v] = False
    return targets
