import numpy as np
import pytest
from order_reference import parents_on

from cosmodag import simulate
from cosmodag.graph.dags import is_dag
from cosmodag.search import choose_parents, column_score, local, search
from cosmodag.search.column_problem import problem_of
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import SCORES
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from cosmodag.search.starts.conditional_variances import equal_variance_order
from cosmodag.search.wide import lists as large_lists
from cosmodag.search.wide import search_large, unexplained
from cosmodag.search.wide.lists import Lists
from linear_tables import linear_table

D = 14


def generator():
    return np.random.default_rng(7)


def one_by_one(function, items):
    return [function(item) for item in items]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("score", ["gaussian", "equal-variance"])
@pytest.mark.parametrize("top", [1, 16])
def test_the_graph_agrees_with_the_order_and_is_no_worse_than_the_start(
    seed, score, top, monkeypatch
):
    monkeypatch.setattr(local, "BATCHED_FROM", 0)
    monkeypatch.setattr(large_lists, "TOP", top)
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 300, D)
    moments, start = Moments.of(table), random.permutation(D)
    scored = ColumnScore.of(moments, score, penalty=3.0)
    found = search_large(scored, start, Run(generator(), threads=1))
    adjacency = found.graph.adjacency().toarray()
    assert is_dag(adjacency)
    np.testing.assert_array_equal(adjacency, parents_on(moments, found.order, 3.0)[0])
    begun = choose_parents(moments, start, penalty=3.0)
    assert found.start_score == SCORES[score].total(moments, begun, 3.0)
    assert found.score > found.start_score
    again = search_large(scored, start, Run(generator(), threads=2))
    np.testing.assert_array_equal(found.order, again.order)


def test_a_search_does_not_change_its_problem(monkeypatch):
    made = []

    def remembered(*given, **options):
        problem = problem_of(*given, **options)
        made.append((problem, problem.settings.copy()))
        return problem

    monkeypatch.setattr(column_score, "problem_of", remembered)
    table, _ = linear_table(np.random.default_rng(0), 300, D)
    score = ColumnScore.of(Moments.of(table), "equal-variance", penalty=3.0)
    search_large(score, np.arange(D), Run(generator()))
    ((problem, settings),) = made
    np.testing.assert_array_equal(problem.settings, settings)


def test_a_search_that_is_stopped_gives_the_best_so_far():
    table, _ = linear_table(np.random.default_rng(0), 300, D)
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > 2

    moments = Moments.of(table)
    found = search_large(
        ColumnScore.of(moments, penalty=3.0),
        np.arange(D),
        Run(generator(), should_stop=should_stop),
    )
    assert found.ended_early
    assert sorted(found.order) == list(range(D))
    assert found.score >= found.start_score


def test_rules_are_obeyed():
    random = np.random.default_rng(3)
    table, _ = linear_table(random, 300, D)
    support = random.random((D, D)) < 0.6
    required = np.zeros((D, D), bool)
    required[2, 5] = support[2, 5] = True
    before = np.zeros((D, D), bool)
    before[4, 1] = before[2, 5] = True
    start = [4, 2, *[v for v in range(D) if v not in (2, 4)]]
    found = search_large(
        ColumnScore.of(
            Moments.of(table), penalty=3.0, constraints=Constraints(support, required, before)
        ),
        start,
        Run(generator()),
    )
    adjacency = found.graph.adjacency().toarray() != 0
    assert adjacency[2, 5]
    assert not np.any(adjacency & ~support)
    place = np.argsort(found.order)
    assert place[4] < place[1]


def test_lists_hold_paths_and_only_grow():
    table, _ = linear_table(np.random.default_rng(1), 300, D)
    moments = Moments.of(table)
    lists = Lists(problem_of(moments, 3.0), local.Pool(one_by_one, 1, lambda: False))
    seen = np.zeros((D, D), bool)
    for order in (np.arange(D), np.arange(D)[::-1]):
        near = lists.extended(np.array(order)).near
        listed = np.zeros((D, D), bool)
        for v in range(D):
            listed[v, near[near[v] : near[v + 1]]] = True
        assert not listed.diagonal().any()
        assert np.all(listed >= seen)
        arcs = choose_parents(moments, order, penalty=3.0).adjacency().toarray() != 0
        assert np.all(arcs <= listed.T)
        seen = listed


def test_a_scan_of_all_columns_can_be_stopped():
    moments = Moments.of(linear_table(np.random.default_rng(1), 300, D)[0])
    lists = Lists(problem_of(moments, 3.0), local.Pool(one_by_one, 1, lambda: True))
    with pytest.raises(local.Stopped):
        lists.extended(np.arange(D))


def test_what_the_best_others_leave():
    random = np.random.default_rng(0)
    x, y, other = random.normal(size=(3, 400))
    moments = Moments.of(np.column_stack([x, x + y, y, other]))
    left = unexplained(moments, 5.0)
    assert np.all(left[:3] < 1e-9)
    assert left[3] == 1.0


def test_required_arcs_are_kept_without_an_order_of_their_own():
    table, _ = linear_table(np.random.default_rng(2), 300, 12)
    required = np.zeros((12, 12), bool)
    required[[0, 3], [5, 8]] = True
    found = search_large(
        ColumnScore.of(Moments.of(table), penalty=6.0, constraints=Constraints(required=required)),
        np.arange(12),
        Run.seeded(0),
    )
    assert found.graph.adjacency().toarray()[required].all()
    place = np.argsort(found.order)
    assert place[0] < place[5]
    assert place[3] < place[8]


@pytest.mark.parametrize("seed", [1, 4])
def test_with_equal_variances_all_variables_are_tried_in_the_end(seed):
    data = simulate.load("n300_d150_ER4_gauss", seed=seed)
    moments = Moments.of(data.X)
    start = equal_variance_order(moments, exact=True)
    among_lists, among_all = (
        function(
            ColumnScore.of(moments, "equal-variance", penalty=6.0),
            start,
            Run(np.random.default_rng(0), restarts=0),
        )
        for function in (search_large, search)
    )
    # Without trying all variables at the end, the scores were lower by 5 and 28.
    assert among_lists.score > among_all.score - 1
