"""Search among categories by counting."""

import itertools

import numpy as np
import pytest

from cosmodag.graph.dags import is_dag
from cosmodag.graph.equivalence import class_distance
from cosmodag.search.counted.counted_problem import BIC, QUOTIENT_NML, CountedProblem
from cosmodag.search.counted.counted_search import CountedSearch


def gates(d=12, n=1500, seed=0):
    """Binary columns, most of them an exclusive or, an and, or an or of two earlier ones."""
    random = np.random.default_rng(seed)
    levels, arcs = np.zeros((n, d), np.int64), np.zeros((d, d), bool)
    for v in range(d):
        levels[:, v] = random.random(n) < random.uniform(0.4, 0.6)
        if v >= 4:
            a, b = random.choice(v, 2, replace=False)
            x, y = levels[:, a], levels[:, b]
            gate = (x ^ y, x & y, x | y)[v % 3]
            levels[:, v] = np.where(random.random(n) < 0.05, 1 - gate, gate)
            arcs[[a, b], v] = True
    return levels, arcs


def found(levels, counts=None, price=BIC, restarts=10, should_stop=None, orders=None, **known):
    counts = levels.max(axis=0) + 1 if counts is None else np.array(counts)
    search = CountedSearch(CountedProblem(levels, counts, **known), should_stop)
    return search.best(price, orders or {}, random=np.random.default_rng(0), restarts=restarts)


@pytest.mark.parametrize("seed", [0, 1])
def test_gates_are_found_also_an_exclusive_or(seed):
    levels, arcs = gates(seed=seed)
    assert class_distance(arcs, found(levels, restarts=30).adjacency) <= 2


@pytest.mark.parametrize("price", [BIC, QUOTIENT_NML])
def test_permuting_columns_permutes_the_result(price):
    levels, _ = gates()
    first = found(levels, price=price)
    order = np.random.default_rng(1).permutation(levels.shape[1])
    second = found(levels[:, order], price=price)
    assert np.array_equal(second.adjacency, first.adjacency[np.ix_(order, order)])
    assert second.score == pytest.approx(first.score, abs=1e-9)


def test_the_score_is_that_of_the_best_of_all_orders():
    levels, _ = gates(5, 400)
    best = found(levels)
    totals = [best.total_of(np.array(order)) for order in itertools.permutations(range(5))]
    assert best.score == pytest.approx(max(totals))
    assert best.total_of(best.order) == pytest.approx(best.score)
    places = np.argsort(best.order)
    tails, heads = np.nonzero(best.adjacency)
    assert (places[tails] < places[heads]).all()


def test_a_column_of_chance_changes_no_class():
    levels, _ = gates()
    more = np.column_stack([levels, np.random.default_rng(5).integers(0, 3, len(levels))])
    d = levels.shape[1]
    wider = found(more, restarts=30).adjacency
    assert not wider[d].any()
    assert not wider[:, d].any()
    assert class_distance(found(levels, restarts=30).adjacency, wider[:d, :d]) == 0


def test_knowledge_is_obeyed():
    levels, _ = gates()
    d = levels.shape[1]
    before, required, support = (
        np.zeros((d, d), bool),
        np.zeros((d, d), bool),
        np.ones((d, d), bool),
    )
    before[4:, 0] = True
    required[1, 2], required[11, 0] = True, True
    support[:, 3], support[before.T] = False, False
    one = found(levels, before=before, required=required, support=support)
    assert one.adjacency[1, 2]
    assert one.adjacency[11, 0]
    assert not (one.adjacency & ~support).any()
    assert is_dag(one.adjacency | before)
    places = np.argsort(one.order)
    assert (places[4:] < places[0]).all()


def test_required_parents_without_room_are_left_to_the_caller():
    levels = np.random.default_rng(0).integers(0, 3, (20, 4))
    required = np.zeros((4, 4), bool)
    required[:3, 3] = True
    problem = CountedProblem(levels, np.full(4, 3), required=required)
    assert problem.has_room.tolist() == [True, True, True, False]
    one = found(levels, required=required)
    assert np.isfinite(one.score)
    assert not one.adjacency[:, 3].any()
    assert one.order[-1] == 3


def test_a_stop_leaves_a_graph_at_any_time():
    levels, _ = gates(d=10, n=800)
    required = np.zeros((10, 10), bool)
    required[9, 1] = True
    one = found(levels, should_stop=lambda: True, required=required)
    # The compiled code asks only when it returns to Python: a small table may be done by then.
    assert one.adjacency[9, 1]
    assert is_dag(one.adjacency)


def test_starts_are_reported_and_restarts_obeyed():
    levels, _ = gates()
    one = found(levels, restarts=3, orders={"learnt": np.arange(12)[::-1]})
    names = [entry["start"] for entry in one.report]
    assert names[0] == "learnt (BIC)"
    assert "3 times perturbed" in names[-1]
    assert len(found(levels, restarts=0).report) == 2
