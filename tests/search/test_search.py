import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from order_reference import orders_with_arc_turned, parents_on

from cosmodag.graph.dags import is_dag
from cosmodag.search import choose_parents, local, search
from cosmodag.search.column_problem import WORKER_POOL
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.column_search import ColumnClimb
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import SCORES
from cosmodag.search.kernel.climb_state import END
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from linear_tables import linear_table

D = 12


def generator():
    return np.random.default_rng(7)


@pytest.fixture(params=[False, True], ids=["one by one", "in batches"])
def batched(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(local, "BATCHED_FROM", 0)


def test_the_score_of_the_start_is_reported_first(batched):
    table, _ = linear_table(np.random.default_rng(0), 300, D)
    scores = []
    found = search(
        ColumnScore.of(Moments.of(table)),
        np.arange(D),
        Run(generator(), restarts=2, on_progress=lambda _, score: scores.append(score)),
    )
    assert scores[0] == pytest.approx(found.start_score)
    assert np.all(np.diff(scores) >= 0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("score", ["gaussian", "equal-variance"])
def test_the_graph_agrees_with_the_order_and_is_no_worse_than_the_start(seed, score, batched):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 300, D)
    moments = Moments.of(table)
    start = random.permutation(D)
    found = search(ColumnScore.of(moments, score, penalty=3.0), start, Run(generator(), restarts=3))
    adjacency = found.graph.adjacency().toarray()
    assert is_dag(adjacency)
    place = np.argsort(found.order)
    tails, heads = np.nonzero(adjacency)
    assert np.all(place[tails] < place[heads])
    begun = choose_parents(moments, start, penalty=3.0)
    assert found.start_score == SCORES[score].total(moments, begun, 3.0)
    assert found.score > found.start_score
    assert found.score == pytest.approx(SCORES[score].total(moments, found.graph, 3.0))
    grown = choose_parents(moments, found.order, penalty=3.0)
    assert found.score >= SCORES[score].total(moments, grown, 3.0)


@pytest.mark.parametrize("seed", range(4))
def test_no_single_move_along_an_arc_improves_what_was_found(seed):
    table, _ = linear_table(np.random.default_rng(seed), 300, D)
    moments = Moments.of(table)
    found = search(ColumnScore.of(moments, penalty=3.0), np.arange(D), Run(generator(), restarts=0))
    order, place = found.order.tolist(), np.argsort(found.order)
    for tail, head in zip(*np.nonzero(found.graph.adjacency().toarray()), strict=True):
        without = [x for x in order if x != head]
        moved = [*without[: place[tail]], head, *without[place[tail] :]]
        assert parents_on(moments, moved, 3.0)[1].sum() <= found.score + 1e-5
        without = [x for x in order if x != tail]
        moved = [*without[: place[head]], tail, *without[place[head] :]]
        assert parents_on(moments, moved, 3.0)[1].sum() <= found.score + 1e-5


# Tables on which a search that moves single variables ends at a lower score: without moves of
# ancestors (34, 37) or of descendants (8).
@pytest.mark.parametrize("seed", [8, 34, 37])
def test_no_move_of_several_along_an_arc_improves_what_was_found(seed):
    table, _ = linear_table(np.random.default_rng(seed), 300, D)
    moments = Moments.of(table)
    found = search(ColumnScore.of(moments, penalty=3.0), np.arange(D), Run(generator(), restarts=0))
    adjacency = found.graph.adjacency().toarray()
    for tail, head in zip(*np.nonzero(adjacency), strict=True):
        for moved in orders_with_arc_turned(found.order.tolist(), adjacency, tail, head):
            assert parents_on(moments, moved, 3.0)[1].sum() <= found.score + 1e-5


def test_threads_do_not_change_the_result(batched):
    table, _ = linear_table(np.random.default_rng(3), 200, 20)
    moments = Moments.of(table)
    one, three = (
        search(
            ColumnScore.of(moments), np.arange(20), Run(generator(), restarts=12, threads=threads)
        )
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(one.order, three.order)
    assert (one.score, one.restarts, one.improved) == (three.score, three.restarts, three.improved)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_units_and_numbers_of_columns_do_not_matter(seed):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 200, D)
    start, shuffle = random.permutation(D), random.permutation(D)
    factors = 2.0 ** random.integers(-9, 10, D)
    found = search(ColumnScore.of(Moments.of(table)), start, Run(generator(), restarts=2))
    other = search(
        ColumnScore.of(Moments.of((table * factors)[:, shuffle])),
        np.argsort(shuffle)[start],
        Run(generator(), restarts=2),
    )
    np.testing.assert_array_equal(shuffle[other.order], found.order)
    assert other.score == pytest.approx(found.score)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_knowledge_is_obeyed(seed):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 200, D)
    start = random.permutation(D)
    place = np.argsort(start)
    before = (place[:, None] < 4) & (place >= 4)
    required = (place[:, None] < place) & (random.random((D, D)) < 0.03)
    support = (random.random((D, D)) < 0.7) | required
    closed = before | required
    for _ in range(4):
        closed |= (closed.astype(int) @ closed) > 0
    found = search(
        ColumnScore.of(
            Moments.of(table), penalty=2.0, constraints=Constraints(support, required, closed)
        ),
        start,
        Run(generator(), restarts=2),
    )
    reached = np.argsort(found.order)
    adjacency = found.graph.adjacency().toarray()
    assert np.all(reached[:, None][closed.nonzero()[0], 0] < reached[closed.nonzero()[1]])
    assert np.all(adjacency[required])
    assert not np.any(adjacency & ~support)
    assert found.score >= found.start_score


def test_required_arcs_bind_the_order_without_being_told_twice():
    table, _ = linear_table(np.random.default_rng(0), 200, D)
    required = np.zeros((D, D), bool)
    required[[D - 1, D - 2, D - 3], [D - 2, D - 3, D - 4]] = True
    found = search(
        ColumnScore.of(Moments.of(table), constraints=Constraints(required=required)),
        np.arange(D)[::-1],
        Run(generator(), restarts=5),
    )
    assert np.all(found.graph.adjacency().toarray()[required])


def test_small_spaces_change_nothing(monkeypatch, batched):
    table, _ = linear_table(np.random.default_rng(5), 300, 20, density=0.6)
    moments = Moments.of(table)
    expected = search(
        ColumnScore.of(moments, penalty=2.0), np.arange(20), Run(generator(), restarts=5)
    )
    monkeypatch.setattr("cosmodag.search.column_problem.FIRST_ROOM", 2)
    monkeypatch.setattr("cosmodag.search.column_problem.FIRST_POOL", 1)
    monkeypatch.setattr("cosmodag.search.column_problem.LARGEST_POOL", 1 << 14)
    found = search(
        ColumnScore.of(moments, penalty=2.0), np.arange(20), Run(generator(), restarts=5)
    )
    np.testing.assert_array_equal(found.order, expected.order)
    assert found.improved == expected.improved


def test_a_search_that_is_stopped_gives_the_best_so_far():
    table, _ = linear_table(np.random.default_rng(0), 300, 20)
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > 3

    moments = Moments.of(table)
    found = search(
        ColumnScore.of(moments), np.arange(20), Run(generator(), should_stop=should_stop)
    )
    assert found.ended_early
    assert found.score >= found.start_score
    assert is_dag(found.graph.adjacency().toarray())


def test_restarts_without_arcs_can_be_stopped():
    table = np.random.default_rng(0).normal(size=(50, 5))
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > 20

    found = search(
        ColumnScore.of(Moments.of(table)),
        np.arange(5),
        Run(generator(), restarts=100_000, patience=100_000, should_stop=should_stop, threads=1),
    )
    assert found.ended_early
    assert found.restarts <= 20


def test_restarts_find_what_one_search_does_not():
    gains, improvements = [], 0
    for seed in range(5):
        table, _ = linear_table(np.random.default_rng(seed), 500, 20)
        moments = Moments.of(table)
        one, more = (
            search(ColumnScore.of(moments), np.arange(20), Run(generator(), restarts=restarts))
            for restarts in (0, 60)
        )
        gains.append(more.score - one.score)
        scores = [score for _, score in more.improved]
        assert (np.diff([-np.inf, *scores]) > 0).all()
        assert len(scores) < more.restarts
        improvements += len(scores)
    assert min(gains) >= 0
    assert max(gains) > 1
    assert improvements > 0  # polishing after restarts can raise the score by itself


def test_a_search_that_ends_below_its_start_gives_its_start(monkeypatch):
    table, _ = linear_table(np.random.default_rng(0), 500, D)
    moments = Moments.of(table)
    start = search(ColumnScore.of(moments), np.arange(D), Run(generator(), restarts=3)).order

    class Worse(ColumnClimb):
        def search(self, problem, order, *options):
            local = super().search(problem, order, *options)
            self.best, self.bests = order[::-1], [order[::-1]]
            return local

    monkeypatch.setattr(sys.modules["cosmodag.search.column_search"], "ColumnClimb", Worse)
    found = search(ColumnScore.of(moments), start, Run(generator(), restarts=0))
    np.testing.assert_array_equal(found.order, start)
    assert found.score == found.start_score


def test_memory_of_other_searches_changes_nothing(batched):
    random = np.random.default_rng(1)
    table, _ = linear_table(random, 200, D)
    moments = Moments.of(table)
    remembered = ColumnScore.of(moments)
    for name in ("gaussian", "equal-variance", "gaussian"):
        start = random.permutation(D)
        plain, remembering = (
            search(score, start, Run(generator(), restarts=3))
            for score in (ColumnScore.of(moments, name), remembered.under(name))
        )
        np.testing.assert_array_equal(remembering.order, plain.order)
        assert remembering.score == plain.score


def test_a_search_with_more_threads_reuses_memory(monkeypatch):
    monkeypatch.setattr(local, "BATCHED_FROM", 0)
    table, _ = linear_table(np.random.default_rng(1), 200, D)
    score, start = ColumnScore.of(Moments.of(table)), np.arange(D)
    alone = search(score, start, Run(generator(), threads=1))
    together = search(score, start, Run(generator(), threads=3))
    np.testing.assert_array_equal(alone.order, together.order)
    state = score.memory.local.state
    assert len(state.notes) >= state.counters[END] + 3 * WORKER_POOL


def test_trials_that_overflow_a_worker_are_given_up(monkeypatch):
    monkeypatch.setattr(local, "BATCHED_FROM", 0)
    monkeypatch.setattr("cosmodag.search.column_problem.WORKER_POOL", 40)
    table, _ = linear_table(np.random.default_rng(5), 300, 20, density=0.6)
    found = search(
        ColumnScore.of(Moments.of(table)), np.arange(20), Run(generator(), restarts=2, threads=2)
    )
    assert found.score >= found.start_score


def test_a_hub_is_found_from_the_reversed_order():
    random = np.random.default_rng(4)
    parents = random.normal(size=(500, 70))
    table = np.column_stack([parents, parents.sum(axis=1) + random.normal(size=500)])
    found = search(ColumnScore.of(Moments.of(table)), np.arange(71)[::-1], Run(random, restarts=0))
    assert found.graph.adjacency().toarray()[:70, 70].all()
    assert found.graph.arcs == 70


@pytest.mark.parametrize("score", ["gaussian", "equal-variance"])
def test_awkward_tables_are_searched(score):
    random = np.random.default_rng(6)
    base = random.normal(size=(12, 8))
    table = np.column_stack([base, base[:, 0], base @ random.normal(size=(8, 3)), np.ones(12)])
    start = random.permutation(13)
    found = search(ColumnScore.of(Moments.of(table), score), start, Run(random, restarts=2))
    weights = found.graph.matrix().toarray()
    assert is_dag(weights)
    assert np.all(np.isfinite(weights))
    assert not weights[12].any()
    assert not weights[:, 12].any()
