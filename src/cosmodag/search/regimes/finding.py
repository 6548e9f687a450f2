"""Search for the targets of regimes and the graph: alternately, then jointly."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.search.best_graph import refine_linear
from cosmodag.search.chooser import change_best
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import default_penalty
from cosmodag.search.regimes.equation import (
    RankEvidence,
    RegimeMoments,
    RegimeScore,
    parents_of,
)
from cosmodag.search.search_run import Run, never

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ArcChange = tuple[str, int, int]  # what happens to u → v, u and v
# Smallest improvement of a score that counts.
_LEAST = 1e-6
# Maximum number of alternations between targets and graph.
_ROUNDS = 6


def climb(
    score: RegimeScore,
    arcs: Bools,
    constraints: Constraints = NO_CONSTRAINTS,
    should_stop: Callable[[], bool] = never,
) -> Bools:
    """Add, remove and reverse arcs, always with the largest gain, until none raises the score.

    A search for a graph with given targets cannot correct the direction of an arc: if the targets
    were found on a graph with the wrong direction, both ends of the arc are targets, and both
    directions fit equally well. Only a comparison of graphs, each with its own best targets, shows
    that the correct direction needs fewer targets.

    `should_stop` is called before every change.
    """
    steps = _Steps(score, arcs.copy(), constraints)
    change_best(steps.best, steps.make, _LEAST, should_stop)
    return steps.arcs


@dataclass(eq=False)
class _Steps:
    """Changes of one arc of a graph, and their gains.

    ``gains[u, v]`` is the gain in the score of v if u is added to its parents, or dropped from
    them; a change of the graph affects one or two columns.
    """

    score: RegimeScore
    arcs: Bools
    constraints: Constraints

    def __post_init__(self) -> None:
        d, given = len(self.arcs), self.constraints
        self.support = given.rules(d).T > 0
        self.required = np.zeros((d, d), bool) if given.required is None else given.required
        self.before = np.zeros((d, d), bool) if given.before is None else given.before
        self.gains = np.empty(self.arcs.shape)
        for v in range(len(self.arcs)):
            self._compute(v)

    def _compute(self, v: int) -> None:
        allowed = (self.support[:, v] | self.arcs[:, v]) & ~self.required[:, v]
        now = self.score.local(v, parents_of(self.arcs, v)).score
        toggled = self.score.toggled(v, self.arcs[:, v].copy(), allowed)
        self.gains[:, v] = toggled - now

    def best(self) -> tuple[float, _ArcChange]:
        """Find the change with the largest gain."""
        reached = closure(self.arcs | self.before)
        np.fill_diagonal(reached, True)
        may_go = self.arcs & ~self.required
        gains = {
            "removed": np.where(may_go, self.gains, -np.inf),
            "added": np.where(self.support & ~self.arcs & ~reached.T, self.gains, -np.inf),
            "turned": self._turned(may_go, reached.astype(np.float32)),
        }
        kind = max(gains, key=lambda one: float(gains[one].max()))
        u, v = (int(place) for place in np.unravel_index(gains[kind].argmax(), self.arcs.shape))
        return float(gains[kind].max()), (kind, u, v)

    def make(self, change: _ArcChange) -> None:
        """Add, remove or turn the arc u → v."""
        kind, u, v = change
        self.arcs[u, v] = kind == "added"
        self._compute(v)
        if kind == "turned":
            self.arcs[v, u] = True
            self._compute(u)

    def _turned(self, may_go: Bools, reached: NDArray[np.float32]) -> Floats:
        """Gains from reversing u → v, at [u, v]; −∞ if another path leads from u to v.

        `reached` is 1 at [u, v] if a path leads from u to v, and on the diagonal.
        """
        arcs = (self.arcs | self.before).astype(np.float32)
        # Paths through a third variable, which begin with another arc than the reversed one.
        longer = arcs @ reached - arcs > 0.5
        free = may_go & self.support.T & ~self.before & ~longer
        both = np.where(free, self.gains, -np.inf) + np.where(free, self.gains.T, 0.0)
        return np.asarray(both, np.float64)


@dataclass(frozen=True, eq=False)
class FoundTargets:
    """Targets, and the graph found with them."""

    targets: Bools  # (k, d): variables with an equation of their own, including stated targets
    arcs: Bools  # (d, d)
    score: float  # of graph and targets together


def find_targets(
    X: Floats,
    labels: NDArray[np.intp],
    stated: Bools,
    may_change: Bools,
    run: Run | None = None,
    *,
    constraints: Constraints = NO_CONSTRAINTS,
    starts: Sequence[Bools] = (),
) -> FoundTargets:
    """Find the variables whose equations differ between regimes, together with a graph.

    Two steps alternate until the joint score no longer rises:

    - Given a graph, the targets of each variable maximise its local score (`RegimeScore`), and
      single changes of the graph are made while they raise the joint score (`climb`).
    - Given the targets, a graph is searched for as with perfect interventions: the rows of a regime
      do not count in the equations of its targets. This only proposes graphs. It ignores the
      likelihood of a target given its parents, so that a graph in which the target is a parent
      instead can seem to explain more.

    There are two starts: the graph found with the stated targets alone, and that found with each
    equation on one regime only (`_targets_in_all_but_one`). On 12 tables (d = 12, ER2, 100 rows in
    each of 12 regimes, 100 or 400 without), alternation without single changes ended below the
    score of the truth on 3 tables, and with them on none.

    `labels` (n,) gives the regime of each row, 0 to k − 1; `stated` (k, d) are known targets, and
    `may_change` (k, d) are further pairs that may be targets. `starts` are further graphs to start
    from. Every search draws the same random numbers.

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
    run = run or Run.seeded(0)

    def searched(targets: Bools) -> Bools:
        again = replace(run, random=deepcopy(run.random))
        found = refine_linear(
            score.moments.without(targets), {}, again, score="gaussian", constraints=constraints
        )
        return found.adjacency()

    score = regime_score(X, labels, stated, may_change)
    first = searched(_targets_in_all_but_one(labels, stated, may_change))
    best: FoundTargets | None = None
    for arcs in (first, searched(stated), *starts):
        last = -np.inf
        for _ in range(_ROUNDS):
            arcs = climb(score, arcs, constraints, run.should_stop)
            total, targets = score.of_graph(arcs)
            if best is None or total > best.score + _LEAST:
                best = FoundTargets(targets, arcs, total)
            if total <= last + _LEAST or run.should_stop():
                break
            last, arcs = total, searched(targets)
    assert best is not None
    return replace(best, targets=_confirmed(X, labels, stated, best, score.price))


def regime_score(
    X: Floats, labels: NDArray[np.intp], stated: Bools, may_change: Bools
) -> RegimeScore:
    """Create the score of a table with regimes."""
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
    """Drop targets that `RankEvidence` does not confirm, the weakest of each variable first."""
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


def _targets_in_all_but_one(labels: NDArray[np.intp], stated: Bools, may_change: Bools) -> Bools:
    """Make each variable a target in all regimes but one.

    The exception is the largest regime in which it cannot change or, if there is none, the largest
    regime. Regimes in which the variable is a stated target are excluded.
    """
    targets = np.ones_like(stated)
    rows = np.bincount(labels, minlength=len(stated)).astype(np.float64)
    for v in range(stated.shape[1]):
        preferred = np.where(may_change[:, v], rows, rows + len(labels))
        targets[int(np.argmax(np.where(stated[:, v], -1.0, preferred))), v] = False
    return targets
