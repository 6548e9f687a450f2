from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.data.kinds import ColumnKind
from cosmodag.search import search_blocks
from cosmodag.search.constraints import Constraints
from cosmodag.search.mixed.curves import joint_gain
from cosmodag.search.mixed.joint import JointScore, _Normalisers
from cosmodag.search.mixed.table import BlockTable
from cosmodag.search.search_run import Run

KINDS = [ColumnKind("categorical", tuple("abc"[:count])) for count in (2, 3, 2, 2)]


def drawn(n=600, seed=0):
    """a and b affect c jointly, almost like an exclusive or; d is an effect of c."""
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 2, n), random.integers(0, 3, n)
    shares = np.array([[0.15, 0.8, 0.3], [0.9, 0.25, 0.5]])
    c = random.random(n) < shares[a, b]
    d = np.where(random.random(n) < 0.15, ~c, c)
    return np.column_stack([a, b, c, d]).astype(float)


def records(X, **known):
    table = BlockTable.of(X, KINDS)
    return JointScore(table, table.problem(Constraints(**known)))


def test_normalisers_are_sums_over_all_counts():
    n = 7
    for values in (2, 3, 4):
        total = 0.0
        for counts in product(range(n + 1), repeat=values):
            if sum(counts) == n:
                left, ways, likelihood = n, 1, 1.0
                for count in counts:
                    ways *= comb(left, count)
                    left -= count
                    likelihood *= (count / n) ** count
                total += ways * likelihood
        assert _Normalisers().log(n, values) == pytest.approx(log(total))


@settings(max_examples=10)
@given(st.permutations(range(4)), st.integers(0, 5))
def test_complete_graphs_have_one_score_in_all_orders(order, seed):
    found = records(drawn(60, seed))
    total, earlier = 0.0, 0
    for v in order:
        total += found.score(v, earlier)
        earlier |= 1 << v
    assert total == pytest.approx(sum(found.score(v, (1 << v) - 1) for v in range(4)))


@settings(max_examples=20)
@given(st.permutations(range(4)), st.permutations(range(4)))
def test_records_are_what_is_chosen_without_them(first, second):
    X = drawn(80)
    shared = records(X)
    shared.total(list(first))
    assert shared.total(list(second)) == records(X).total(list(second))


def test_joint_parents_are_found_and_effects_that_add_up_are_not_enough():
    X = drawn()
    table = BlockTable.of(X, KINDS)
    problem, random = table.problem(), np.random.default_rng(0)
    joint = search_blocks(problem, [3, 2, 1, 0], Run(random), score=JointScore(table, problem))
    assert joint.adjacency.astype(int)[:, 2].tolist() == [1, 1, 0, 0]
    assert joint.joint.tolist() == [False, False, True, False]
    added = search_blocks(problem, [0, 1, 2, 3], Run(random))
    gain = joint_gain(table, added, joint, random)
    assert gain.is_certain
    assert "joint effects of levels were kept" in gain.reason


def test_knowledge_is_obeyed():
    before = np.zeros((4, 4), bool)
    before[3, 2] = True
    must = np.zeros((4, 4), bool)
    must[0, 3] = True
    support = np.ones((4, 4), bool)
    support[1, 2] = False
    found = records(drawn(), before=before, required=must, support=support).found([0, 1, 3, 2])
    assert found.adjacency[0, 3]
    assert not found.adjacency[1, 2]
    assert not found.adjacency[2, 3]


def test_more_cells_than_rows_are_no_evidence():
    found = records(drawn(20))
    assert found.score(2, 0b1011) == -np.inf


def test_required_parents_with_more_cells_than_rows_have_effects_that_add_up():
    # Of 64 rows, 2 · 3 · 2 · 2 cells of the fourth variable leave room, but not of 20 rows.
    X, required = drawn(20), np.zeros((4, 4), bool)
    required[:3, 3] = True
    found = records(X, required=required).found([0, 1, 2, 3])
    assert np.isfinite(found.score)
    assert found.adjacency[:3, 3].all()
    assert not found.joint[3]
    assert records(drawn(64), required=required).found([0, 1, 2, 3]).joint[3]
