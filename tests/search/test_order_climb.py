"""The climb over orders, and scores in Python: against all orders, and against their definition."""

from itertools import permutations

import numpy as np
import pytest

from cosmodag.search.bits import as_bits
from cosmodag.search.constraints import Constraints
from cosmodag.search.local_scores import SetScore
from cosmodag.search.order_climb import climb, climb_from
from cosmodag.search.search_run import Run

D = 5


class Lookup(SetScore):
    """Random scores of sets of parents, which favour the arcs of a DAG."""

    def __init__(self, seed: int, constraints: Constraints = Constraints()) -> None:  # noqa: B008
        super().__init__(D, constraints)
        random = np.random.default_rng(seed)
        self.gains = random.normal(size=(D, D)) * 3
        self.noise = random.normal(size=(D, 2**D))
        self.asked: list[tuple[int, int]] = []

    def of(self, v: int, parents: list[int]) -> float:
        bits = as_bits(parents)
        self.asked.append((v, bits))
        return float(self.gains[parents, v].sum() - len(parents) + self.noise[v, bits])


def chosen(score: Lookup, v: int, earlier: list[int]) -> tuple[list[int], float]:
    """Grow and shrink by the definition."""

    def of(parents: list[int]) -> float:
        bits = as_bits(parents)
        return float(score.gains[sorted(parents), v].sum() - len(parents) + score.noise[v, bits])

    parents: list[int] = []
    while rest := [u for u in earlier if u not in parents]:
        best = max(rest, key=lambda u: of([*parents, u]))
        if of([*parents, best]) <= of(parents) + 1e-9:
            break
        parents.append(best)
    while parents:
        fewer = max(([p for p in parents if p != u] for u in parents), key=of)
        if of(fewer) < of(parents):
            break
        parents = fewer
    return sorted(parents), of(parents)


@pytest.mark.parametrize("seed", range(3))
def test_records_give_what_the_definition_gives_on_every_order(seed):
    score = Lookup(seed)
    for order in permutations(range(D)):
        found = score.found(list(order))
        for place, v in enumerate(order):
            parents, value = chosen(score, v, list(order[:place]))
            assert np.flatnonzero(found.adjacency[:, v]).tolist() == parents
            assert found.scores[v] == pytest.approx(value)
    assert len(score.asked) == len(set(score.asked))  # each set is scored once


@pytest.mark.parametrize("seed", range(4))
def test_with_restarts_the_climb_finds_the_best_of_all_orders(seed):
    score = Lookup(seed)
    best = max(score.total(list(order)) for order in permutations(range(D)))
    totals: list[float] = []
    run = Run(np.random.default_rng(0), on_progress=lambda _, total: totals.append(total))
    found = climb(score, np.arange(D), run)
    assert found.score == pytest.approx(best)
    assert found.start_score == pytest.approx(score.total(list(range(D))))
    assert totals == sorted(totals)
    assert 20 <= found.restarts == len(totals)
    assert climb(score, np.arange(D), Run(restarts=3)).restarts == 3


def test_a_stop_returns_the_best_so_far_before_the_next_variable():
    asked: list[None] = []

    def should_stop() -> bool:
        asked.append(None)
        return len(asked) > 7

    found = climb(Lookup(0), np.arange(D), Run.seeded(0).with_restarts(50))
    stopped = climb(Lookup(0), np.arange(D), Run(np.random.default_rng(0), should_stop=should_stop))
    assert not found.ended_early
    assert stopped.ended_early
    assert stopped.start_score <= stopped.score <= found.score
    assert len(asked) == 8


def test_constraints_hold_from_every_start():
    required, before = np.zeros((2, D, D), bool)
    required[3, 0] = before[4, 1] = True
    support = np.ones((D, D), bool)
    support[:, 2] = False
    score = Lookup(1, Constraints(support, required, before))
    starts = {"forward": range(D), "backward": range(D)[::-1]}
    found, report = climb_from(score, starts, Run.seeded(0))
    assert found.adjacency[3, 0]
    assert not found.adjacency[:, 2].any()
    assert found.order.tolist().index(4) < found.order.tolist().index(1)
    assert sum(entry["chosen"] for entry in report) == 1
    assert [entry["start"] for entry in report[:2]] == ["forward", "backward"]
    pruned, _ = climb_from(score, {"forward": range(D)}, Run.seeded(0), "prune")
    assert pruned.order.tolist() == [2, 3, 0, 4, 1]
