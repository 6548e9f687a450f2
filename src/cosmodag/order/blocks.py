"""Order search among variables that are blocks of columns: categories, curves, and plain columns.

The score of a variable has three verbs, as among single columns: start with no parent, add a block,
drop a block (`cosmodag.order.block_columns`). Which variables may, must or must not be parents, how
many rows count for each equation, and how wide blocks are, is data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError
from cosmodag.order.block_columns import CANDIDATE, LATER, NO_CANDIDATE, REQUIRED, choose_blocks
from cosmodag.order.parents import check_order, choose_parents
from cosmodag.order.restarts import perturbed
from cosmodag.order.search import search
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.scores import growing_penalty

__all__ = ["BlockProblem", "FoundBlocks", "choose_block_parents", "search_blocks"]

# More than rounding, in units of log-likelihood.
LEAST_IMPROVEMENT = 1e-6
SWEEPS = 100

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """What a search among blocks maximises, and what it must obey.

    Attributes
    ----------
    moments : Moments
        Of all columns; the columns of a variable are beside each other and count the same rows.
    widths : (d,) array of int
        Number of columns of each variable.
    penalty : float
        Per parameter: a parent costs its width times the child's number of target columns.
    targets : (d,) array of int, optional
        How many of its first columns a variable is as a child; by default all. A curve has one (the
        variable itself), and further columns for its effects.
    support, required, before : (d, d) arrays of bool, optional
        Arcs that may exist, arcs that are always in, and what must come before what (transitively
        closed).
    """

    moments: Moments
    widths: NDArray[np.int64]
    penalty: float
    targets: NDArray[np.int64] | None = None
    support: Bools | None = None
    required: Bools | None = None
    before: Bools | None = None

    def __post_init__(self) -> None:
        widths = np.asarray(self.widths, np.int64)
        targets = widths if self.targets is None else np.asarray(self.targets, np.int64)
        if widths.ndim != 1 or targets.shape != widths.shape:
            raise DataError("widths and targets need one number for each variable.")
        if np.any(targets < 1) or np.any(targets > widths):
            raise DataError("A variable needs at least one target column among its columns.")
        if widths.sum() != self.moments.variables:
            raise DataError(
                f"widths add up to {widths.sum()}, but there are {self.moments.variables} columns."
            )
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "targets", targets)

    @property
    def variables(self) -> int:
        """Number of variables d."""
        return len(self.widths)

    @property
    def are_columns(self) -> bool:
        """Whether every variable is one column."""
        return bool(np.all(self.widths == 1))

    @property
    def starts(self) -> NDArray[np.int64]:
        """(d + 1,): the columns of v are starts[v], …, starts[v + 1] − 1."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FoundBlocks:
    """An order and the graph chosen on it.

    Attributes
    ----------
    order : (d,) array of int
    adjacency : (d, d) array of bool
        At [u, v] whether u → v.
    scores : (d,) array
        Local scores.
    score, start_score : float
        Totals; never below that of the start.
    restarts : int
    ended_early : bool
        Whether the search was asked to stop.
    """

    order: NDArray[np.int64]
    adjacency: Bools
    scores: NDArray[np.float64]
    score: float
    start_score: float
    restarts: int = 0
    ended_early: bool = False


def choose_block_parents(problem: BlockProblem, order: ArrayLike) -> FoundBlocks:
    """Choose the parents of each variable among its predecessors.

    Examples
    --------
    A category of three levels, as two indicators, that depends on the first column:

    >>> random = np.random.default_rng(0)
    >>> x, y = random.normal(size=(2, 500))
    >>> level = np.digitize(x + random.normal(size=500), [-0.5, 0.5])
    >>> table = np.column_stack([x, y, level == 1, level == 2])
    >>> problem = BlockProblem(Moments.of(table), np.array([1, 1, 2]), penalty=3.0)
    >>> choose_block_parents(problem, [0, 1, 2]).adjacency.astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    checked = check_order(order, problem.variables, _before(problem))
    if problem.are_columns:
        graph = choose_parents(
            problem.moments,
            checked,
            penalty=problem.penalty,
            support=problem.support,
            required=problem.required,
        )
        total = float(graph.scores.sum())
        return FoundBlocks(checked, graph.adjacency().toarray(), graph.scores, total, total)
    return _Records(problem).found(checked.tolist())


def search_blocks(
    problem: BlockProblem,
    start: ArrayLike,
    *,
    random: np.random.Generator,
    restarts: int | None = None,
    patience: int = 20,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[int, float], None] | None = None,
) -> FoundBlocks:
    """Find the order, and on it the graph, of best score near a start.

    Every variable is put to its best place until none moves; then a few variables of the best order
    are moved at random, and the search goes on from there. Where every variable is one column, this
    is `cosmodag.order.search`.

    Parameters
    ----------
    problem : BlockProblem
    start : (d,) array of int
        Causes first.
    random : Generator
    restarts : int, optional
        At most; by default 2,000 / d, and 50 at most.
    patience : int
        Restarts in a row without success after which the search ends.
    should_stop : function, optional
        Asked before every variable; then the best so far is returned.
    on_progress : function, optional
        Called with the number of restarts and the best score after each.
    """
    d = problem.variables
    checked = check_order(start, d, _before(problem))
    limit = min(50, 2000 // max(d, 1)) if restarts is None else restarts
    if problem.are_columns:
        return _of_columns(
            problem,
            checked,
            random=random,
            restarts=limit,
            patience=patience,
            should_stop=should_stop,
            on_progress=on_progress,
        )
    records = _Records(problem)
    climb = _Climb(records, should_stop or (lambda: False))
    best = climb.improved(checked.tolist(), random)
    total, made, idle = records.total(best), 0, 0
    none = np.zeros((0, 0), np.uint8)
    closed = none if problem.before is None else np.asarray(problem.before, np.uint8)
    while made < limit and idle < patience and not climb.was_stopped:
        order = climb.improved(perturbed(np.array(best), random, closed).tolist(), random)
        made, idle = made + 1, idle + 1
        reached = records.total(order)
        if reached > total + LEAST_IMPROVEMENT:
            best, total, idle = order, reached, 0
        if on_progress is not None:
            on_progress(made, total)
    begun, found = records.found(checked.tolist()), records.found(best)
    if found.score < begun.score:
        found = begun
    return FoundBlocks(
        found.order,
        found.adjacency,
        found.scores,
        found.score,
        begun.score,
        made,
        climb.was_stopped,
    )


def _of_columns(problem: BlockProblem, start: NDArray[np.int64], **options: Any) -> FoundBlocks:
    found = search(
        problem.moments,
        start,
        penalty=problem.penalty,
        support=problem.support,
        required=problem.required,
        before=problem.before,
        **options,
    )
    return FoundBlocks(
        found.order,
        found.graph.adjacency().toarray(),
        found.graph.scores,
        found.score,
        found.start_score,
        found.restarts,
        found.ended_early,
    )


def _before(problem: BlockProblem) -> Bools | None:
    parts = [part for part in (problem.before, problem.required) if part is not None]
    return np.logical_or.reduce([np.asarray(part, np.bool_) for part in parts]) if parts else None


@dataclass(frozen=True)
class _Record:
    """Parents chosen once, as bits; they are chosen again wherever the condition holds.

    The condition: all of ``path`` comes before the variable, none of ``later`` does.
    """

    path: int
    later: int
    parents: int
    score: float


class _Records:
    """Chosen parents of every variable, with the conditions under which they hold."""

    def __init__(self, problem: BlockProblem) -> None:
        self.problem = problem
        moments, d = problem.moments, problem.variables
        self.starts = problem.starts
        first = self.starts[:-1]
        self.group = moments.group[first]
        self.rules = np.full((d, d), CANDIDATE, np.int64)
        if problem.support is not None:
            self.rules[~np.asarray(problem.support, np.bool_).T] = NO_CANDIDATE
        if problem.before is not None:
            self.rules[np.asarray(problem.before, np.bool_)] = NO_CANDIDATE
        if problem.required is not None:
            self.rules[np.asarray(problem.required, np.bool_).T] = REQUIRED
        growing = growing_penalty(problem.penalty, d)
        rows = moments.rows[self.group]
        self.settings = np.stack(
            [0.5 * rows, np.full(d, growing), np.full(d, problem.penalty), np.maximum(rows - 2, 0)],
            axis=1,
        )
        self.known: list[list[_Record]] = [[] for _ in range(d)]

    def at(self, v: int, earlier: int) -> _Record:
        """Give the record of a variable after those whose bits are set."""
        for record in self.known[v]:
            if not record.path & ~earlier and not record.later & earlier:
                return record
        record = self._made(v, earlier)
        self.known[v].insert(0, record)
        return record

    def _made(self, v: int, earlier: int) -> _Record:
        d = self.problem.variables
        roles = self.rules[v].copy()
        for u in range(d):
            if roles[u] == CANDIDATE and not earlier >> u & 1:
                roles[u] = LATER
        roles[v] = NO_CANDIDATE
        found = np.zeros((3, d), np.int64)
        k, score = choose_blocks(
            self.problem.moments.correlations[self.group[v]],
            self.starts,
            self.problem.targets,
            v,
            roles,
            self.settings[v],
            found,
        )
        path = found[0, :k]
        return _Record(
            _bits(path), _bits(np.flatnonzero(found[2])), _bits(path[found[1, :k] > 0]), score
        )

    def scores(self, order: list[int]) -> list[float]:
        """Local scores, in the order."""
        earlier, scores = 0, []
        for v in order:
            scores.append(self.at(v, earlier).score)
            earlier |= 1 << v
        return scores

    def total(self, order: list[int]) -> float:
        """Sum of the local scores."""
        return float(sum(self.scores(order)))

    def found(self, order: list[int]) -> FoundBlocks:
        """Graph on an order."""
        d, earlier = len(order), 0
        adjacency, scores = np.zeros((d, d), np.bool_), np.zeros(d)
        for v in order:
            record = self.at(v, earlier)
            adjacency[:, v] = [record.parents >> u & 1 for u in range(d)]
            scores[v] = record.score
            earlier |= 1 << v
        total = float(scores.sum())
        return FoundBlocks(np.array(order, np.int64), adjacency, scores, total, total)


class _Climb:
    """Local search: every variable to its best place, until none moves."""

    def __init__(self, records: _Records, should_stop: Callable[[], bool]) -> None:
        self.records, self.should_stop = records, should_stop
        self.was_stopped = False
        bound = _before(records.problem)
        d = records.problem.variables
        self.bound = np.zeros((d, d), np.bool_) if bound is None else bound

    def improved(self, order: list[int], random: np.random.Generator) -> list[int]:
        """Give the order that the search ends at."""
        for _ in range(SWEEPS):
            has_moved = False
            for v in np.array(order)[random.permutation(len(order))].tolist():
                if self.was_stopped or self.should_stop():
                    self.was_stopped = True
                    return order
                moved = self._placed_best(order, v)
                has_moved |= moved != order
                order = moved
            if not has_moved:
                break
        return order

    def _placed_best(self, order: list[int], v: int) -> list[int]:
        """Put one variable to its best place."""
        at, bit = self.records.at, 1 << v
        present = order.index(v)
        rest = [u for u in order if u != v]
        low = max((i + 1 for i, u in enumerate(rest) if self.bound[u, v]), default=0)
        high = min((i for i, u in enumerate(rest) if self.bound[v, u]), default=len(rest))
        # Relative to v in front of all: those that v passes no longer have it before them.
        earlier, passed, totals = 0, 0.0, []
        for place, u in enumerate([*rest, v]):
            if low <= place <= high:
                totals.append((at(v, earlier).score + passed, place))
            if place < len(rest) and place < high:
                passed += at(u, earlier).score - at(u, earlier | bit).score
            earlier |= 1 << u
        best, place = max(totals, key=lambda pair: pair[0])
        now = next(total for total, where in totals if where == present)
        if best <= now + LEAST_IMPROVEMENT:
            return order
        return [*rest[:place], v, *rest[place:]]


def _bits(places: NDArray[np.int64]) -> int:
    return sum(1 << int(place) for place in places)
