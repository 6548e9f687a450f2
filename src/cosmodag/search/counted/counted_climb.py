"""Order search among categories: climb, then restarts from perturbed copies of the best order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.counted.count_state import (
    COMBINATIONS,
    FLOOR,
    IS_SHORT,
    LEFT,
    SCORE,
    USED,
    CountMemo,
    empty_graph,
    new_memo,
    with_room,
)
from cosmodag.search.counted.counted_moves import (
    choose,
    copy_graph,
    displace,
    flip,
    sweep,
)
from cosmodag.search.counted.counted_problem import CellPrice, CountedProblem

# Work, in rows and cells, after which compiled code returns to Python: about a tenth of a second.
_WORK = 50_000_000
# Maximum number of entries of the memo, which then take 200 MB.
_MOST_KNOWN = 1 << 22


class Stopped(Exception):
    """The search was asked to stop."""


@dataclass
class CountedMemory:
    """Log-likelihoods of a table, which do not depend on the price: all searches share them."""

    memo: CountMemo

    @classmethod
    def of(cls, problem: CountedProblem) -> "CountedMemory":
        """Create the memory of a table."""
        return cls(new_memo(problem.different[0].shape[1], len(problem.levels), problem.cells()))

    def grow(self) -> None:
        """Make room for more entries, or forget all."""
        room = self.memo.keys.shape[1]
        if room < _MOST_KNOWN:
            self.memo = with_room(self.memo, 4 * room)
        else:
            self.memo.keys[:] = 0
            self.memo.counters[USED] = 0


def never() -> bool:
    """Do not stop."""
    return False


class CountedClimb:
    """State of a search with one price of cells, on the columns of its problem."""

    def __init__(
        self,
        problem: CountedProblem,
        price: CellPrice,
        memory: CountedMemory,
        should_stop: Callable[[], bool],
    ) -> None:
        self.problem, self.price = problem, price
        self.memory, self.should_stop = memory, never
        self.table, d = problem.state(price), problem.variables
        words = self.table.words
        self.graph = empty_graph(d)
        own = np.arange(d)
        self.graph.keys[:] = words[:, own, d]
        self.graph.numbers[COMBINATIONS] = 1.0
        self.saved = empty_graph(d)
        rules = self.table.rules
        bare = self.table._replace(rules=np.where(rules == 2, rules, 0).astype(np.uint8))
        self.run(lambda memo, at: choose(bare, self.graph, memo, at, d), d)
        self.table.settings[FLOOR] = self.graph.numbers[SCORE]
        self.should_stop = should_stop

    def run(self, step: Callable[[CountMemo, int], int], end: int) -> None:
        """Repeat a compiled step from where it ended early, until it reaches the end."""
        at = 0
        while at < end:
            if self.should_stop():
                raise Stopped
            memo = self.memory.memo
            memo.counters[LEFT], memo.counters[IS_SHORT] = _WORK, 0
            at = step(memo, at)
            if at < end and 2 * memo.counters[USED] >= memo.keys.shape[1] - 1:
                self.memory.grow()

    def start(self, order: NDArray[np.int64], first: int = 0, until: int | None = None) -> None:
        """Take an order; choose the parents of the variables at some places from nothing.

        If the search is stopped meanwhile, the others keep their required parents alone.
        """
        graph, d, reached = self.graph, len(order), first
        graph.order[:] = order
        graph.position[order] = np.arange(d)
        end = d if until is None else until

        def step(memo: CountMemo, at: int) -> int:
            nonlocal reached
            reached = choose(self.table, graph, memo, max(at, first), end)
            return reached

        try:
            self.run(step, end)
        except Stopped:
            for v in order[reached:end].tolist():
                for u in np.flatnonzero((graph.parents[v] != 0) != (self.table.rules[v] == 2)):
                    flip(self.table, graph, v, int(u))
                graph.numbers[SCORE, v] = self.table.settings[FLOOR, v]
            raise

    @property
    def total(self) -> float:
        """Score of the graph."""
        return float(self.graph.numbers[SCORE].sum())

    def climb(self, random: np.random.Generator) -> None:
        """Move each variable to its best place, until none moves."""
        table, graph, saved = self.table, self.graph, self.saved
        d, moved = self.problem.variables, 1
        while moved:
            moved, turn = 0, random.permutation(d)

            def step(memo: CountMemo, at: int, turn: NDArray[Any] = turn) -> int:
                nonlocal moved
                at, more = sweep(table, graph, saved, memo, turn, at)
                moved += more
                return at

            self.run(step, d)

    def perturb(self, random: np.random.Generator) -> None:
        """Move a few variables by random distances."""
        d = self.problem.variables
        count = int(2 * (max(7, min(15, d // 2)) / 2) ** random.random())
        reach = max(3, int(d ** random.random()))
        moves = np.zeros((count, 2), np.int64)
        for i in range(count):
            place = int(random.integers(d))
            moves[i] = self.graph.order[place], place + int(random.integers(-reach, reach + 1))
        moves[:, 1] = np.clip(moves[:, 1], 0, d - 1)
        table, graph, saved = self.table, self.graph, self.saved
        self.run(lambda memo, at: displace(table, graph, saved, memo, moves, at), count)

    def total_of(self, order: NDArray[np.int64]) -> float:
        """Score of the graph on another order; the present graph is kept.

        Only variables at places that differ have other predecessors.
        """
        places = np.flatnonzero(order != self.graph.order)
        if not len(places):
            return self.total
        held = empty_graph(len(order))
        copy_graph(self.graph, held)
        try:
            self.start(order, int(places[0]), int(places[-1]) + 1)
            return self.total
        finally:
            copy_graph(held, self.graph)
