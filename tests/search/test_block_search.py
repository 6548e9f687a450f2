from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from order_reference import grow_shrink

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.search import BlockProblem, choose_block_parents, choose_parents, search_blocks
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import growing_penalty
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from linear_tables import linear_table

D = 8
PENALTY = 2.0


def generator():
    return np.random.default_rng(7)


def mixed_table(seed, n=400):
    """A table of D variables with one to three columns each, and these numbers of columns."""
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, n, D)
    widths = random.integers(1, 4, D)
    widths[0] = 3
    columns = []
    for v in range(D):
        x = (table[:, v] - table[:, v].mean()) / table[:, v].std()
        columns += [x, x**2 + 0.1 * random.normal(size=n), np.abs(x)][: widths[v]]
    return np.column_stack(columns), widths


def reference(problem, order):
    """Adjacency matrix and local scores for an order, by the definition."""
    starts = problem.starts
    members = [list(range(a, b)) for a, b in pairwise(starts)]
    adjacency, scores = np.zeros((D, D), bool), np.zeros(D)
    growing = growing_penalty(problem.penalty, D)
    for place, v in enumerate(order):
        given = problem.constraints
        required = [] if given.required is None else np.flatnonzero(given.required[:, v])
        allowed = [
            u
            for u in order[:place]
            if given.support is None or given.support[u, v] or u in required
        ]
        _, parents, scores[v] = grow_shrink(
            problem.moments.correlations[0],
            0.5 * problem.moments.rows[0],
            v,
            allowed,
            problem.penalty,
            growing,
            [int(u) for u in required],
            members,
        )
        adjacency[parents, v] = True
    return adjacency, scores


@pytest.mark.parametrize("seed", range(4))
def test_parents_and_scores_are_those_of_the_definition(seed):
    table, widths = mixed_table(seed)
    order = np.random.default_rng(seed).permutation(D)
    ahead = np.argsort(order)[:, None] < np.argsort(order)
    random = np.random.default_rng(seed + 50)
    required = ahead & (random.random((D, D)) < 0.05) if seed % 2 else None
    support = random.random((D, D)) < 0.7 if seed % 2 else None
    problem = BlockProblem(
        Moments.of(table), widths, PENALTY, constraints=Constraints(support, required)
    )
    found = choose_block_parents(problem, order)
    adjacency, scores = reference(problem, order.tolist())
    np.testing.assert_array_equal(found.adjacency, adjacency)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-7, atol=1e-7)


def test_blocks_of_one_column_score_as_columns(monkeypatch):
    table, _ = linear_table(np.random.default_rng(0), 300, D)
    moments, order = Moments.of(table), np.random.default_rng(1).permutation(D)
    problem = BlockProblem(moments, np.ones(D, int), PENALTY)
    as_columns = choose_parents(moments, order, penalty=PENALTY)
    assert search_blocks(problem, order, Run(generator())).restarts > 0
    monkeypatch.setattr(BlockProblem, "are_columns", False)
    as_blocks = choose_block_parents(problem, order)
    np.testing.assert_array_equal(as_blocks.adjacency, as_columns.adjacency().toarray())
    np.testing.assert_allclose(as_blocks.scores, as_columns.scores, rtol=1e-9, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_other_columns_of_the_same_space_change_nothing(seed):
    random = np.random.default_rng(seed)
    table, widths = mixed_table(seed)
    order = random.permutation(D)
    starts = np.concatenate([[0], np.cumsum(widths)])
    turned = table.copy()
    for a, b in pairwise(starts):
        turned[:, a:b] = table[:, a:b] @ np.linalg.qr(random.normal(size=(b - a, b - a)))[0]
    one, other = (
        choose_block_parents(BlockProblem(Moments.of(X), widths, PENALTY), order)
        for X in (table, turned)
    )
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6, atol=1e-5)


def test_a_curve_is_a_child_by_its_first_column_only():
    table, widths = mixed_table(3)
    problem = BlockProblem(Moments.of(table), widths, PENALTY, targets=np.ones(D, int))
    found = choose_block_parents(problem, np.arange(D))
    first = problem.starts[:-1]
    wide = np.flatnonzero(widths > 1)
    v = int(wide[-1])
    parents = [c for u in np.flatnonzero(found.adjacency[:, v]) for c in _columns(problem, u)]
    centred = table - table.mean(axis=0)
    left = centred[:, first[v]]
    if parents:
        left = (
            left - centred[:, parents] @ np.linalg.lstsq(centred[:, parents], left, rcond=None)[0]
        )
    share = left.var() / centred[:, first[v]].var()
    expected = -0.5 * len(table) * np.log(share) - PENALTY * len(parents)
    assert found.scores[v] == pytest.approx(expected, rel=1e-6)


def _columns(problem, u):
    return range(problem.starts[u], problem.starts[u + 1])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_searches_obey_knowledge_and_never_end_below_the_start(seed):
    random = np.random.default_rng(seed)
    table, widths = mixed_table(seed)
    start = random.permutation(D)
    place = np.argsort(start)
    before = (place[:, None] < 2) & (place >= 2)
    required = (place[:, None] < place) & (random.random((D, D)) < 0.03)
    closed = before | required
    for _ in range(3):
        closed |= (closed.astype(int) @ closed) > 0
    support = (random.random((D, D)) < 0.7) | required
    problem = BlockProblem(
        Moments.of(table), widths, PENALTY, constraints=Constraints(support, required, closed)
    )
    found = search_blocks(problem, start, Run(generator(), restarts=2))
    assert is_dag(found.adjacency)
    assert found.score >= found.start_score
    assert np.all(found.adjacency[required])
    assert not np.any(found.adjacency & ~support)
    reached = np.argsort(found.order)
    tails, heads = np.nonzero(closed | found.adjacency)
    assert np.all(reached[tails] < reached[heads])
    np.testing.assert_allclose(
        found.score, choose_block_parents(problem, found.order).score, rtol=1e-9
    )


def test_restarts_obey_arcs_that_are_required_without_an_order():
    table, widths = mixed_table(0)
    required = np.zeros((D, D), bool)
    required[0, 1:4] = True
    problem = BlockProblem(
        Moments.of(table), widths, PENALTY, constraints=Constraints(required=required)
    )
    found = search_blocks(problem, np.arange(D), Run(generator(), restarts=10))
    assert np.all(found.adjacency[required])
    assert is_dag(found.adjacency)


@pytest.mark.parametrize("seed", range(3))
def test_no_variable_has_a_better_place(seed):
    table, widths = mixed_table(seed)
    problem = BlockProblem(Moments.of(table), widths, PENALTY)
    found = search_blocks(problem, np.arange(D), Run(generator(), restarts=0))
    for v in range(D):
        rest = [u for u in found.order.tolist() if u != v]
        for place in range(D):
            moved = [*rest[:place], v, *rest[place:]]
            assert choose_block_parents(problem, moved).score <= found.score + 1e-5


def test_a_category_is_a_collider():
    random = np.random.default_rng(2)
    a, b = random.normal(size=(2, 1500))
    worth = np.stack([a + b, 2 * b - a, np.zeros(1500)]) + random.gumbel(size=(3, 1500))
    level = np.argmax(worth, axis=0)
    table = np.column_stack([level == 1, level == 2, a, b])
    problem = BlockProblem(Moments.of(table), np.array([2, 1, 1]), 0.5 * np.log(1500))
    found = search_blocks(problem, [0, 1, 2], Run(generator()))
    assert found.adjacency.tolist() == [[False] * 3, [True, False, False], [True, False, False]]


def test_interventions_on_a_block_leave_rows_out():
    table, widths = mixed_table(1)
    counted = np.ones(table.shape)
    starts = np.concatenate([[0], np.cumsum(widths)])
    counted[:100, starts[2] : starts[3]] = 0
    found = choose_block_parents(
        BlockProblem(Moments.of(table, counted), widths, PENALTY), np.arange(D)
    )
    alone = choose_block_parents(
        BlockProblem(Moments.of(table[100:]), widths, PENALTY), np.arange(D)
    )
    assert found.scores[2] == pytest.approx(alone.scores[2])


def test_collinear_and_constant_columns_do_no_harm():
    table, widths = mixed_table(0)
    table = np.column_stack([table, table[:, :2] @ [[1.0], [2.0]], np.ones(len(table))])
    problem = BlockProblem(Moments.of(table), np.append(widths, 2), PENALTY)
    found = search_blocks(problem, np.arange(D + 1), Run(generator(), restarts=1))
    assert is_dag(found.adjacency)
    assert np.isfinite(found.score)


def test_a_search_that_is_stopped_gives_the_best_so_far():
    table, widths = mixed_table(0)
    asked = []
    found = search_blocks(
        BlockProblem(Moments.of(table), widths, PENALTY),
        np.arange(D),
        Run(generator(), should_stop=lambda: asked.append(True) or len(asked) > 5),
    )
    assert found.ended_early
    assert found.score >= found.start_score


@pytest.mark.parametrize(
    ("widths", "targets", "words"),
    [([1, 1], None, "add up to"), ([1, 2], [1, 3], "target"), ([3, 0], None, "target")],
)
def test_widths_are_checked(widths, targets, words):
    with pytest.raises(DataError, match=words):
        BlockProblem(Moments.of(np.eye(4)[:, :3]), np.array(widths), 1.0, targets)
