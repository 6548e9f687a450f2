import numpy as np

from cosmodag.data.kinds import ColumnKind
from cosmodag.graph.dags import is_dag
from cosmodag.search import choose_block_parents
from cosmodag.search.constraints import Constraints
from cosmodag.search.mixed.multinomial_search import turn_and_drop
from cosmodag.search.mixed.table import BlockTable

KINDS = (ColumnKind("continuous"), ColumnKind("categorical", ("a", "b", "c")), ColumnKind("binary"))


def table(n=600):
    """A numeric cause of a variable with three levels, which is the cause of a binary one."""
    random = np.random.default_rng(0)
    x = random.normal(size=n)
    utilities = np.outer(x, [2.0, 0.0, -1.5]) + random.gumbel(size=(n, 3))
    level = np.argmax(utilities, axis=1)
    answer = random.random(n) < np.array([0.1, 0.5, 0.9])[level]
    return BlockTable.of(np.column_stack([x, level, answer]), KINDS)


def test_the_score_rises_and_the_graph_has_no_cycle():
    blocks = table()
    problem = blocks.problem()
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        found = turn_and_drop(blocks, problem, choose_block_parents(problem, order))
        assert is_dag(found.adjacency.astype(float))
        places = np.argsort(found.order)
        tails, heads = np.nonzero(found.adjacency)
        assert np.all(places[tails] < places[heads])
        again = turn_and_drop(blocks, problem, found)
        assert again.score == found.score


def test_an_arc_from_a_number_to_a_category_is_turned():
    blocks = table()
    problem = blocks.problem()
    found = turn_and_drop(blocks, problem, choose_block_parents(problem, [1, 0, 2]))
    assert found.adjacency[0, 1]
    assert not found.adjacency[1, 0]


def test_known_directions_stay():
    blocks = table()
    before = np.zeros((3, 3), bool)
    before[1, 0] = True
    problem = blocks.problem(Constraints(support=~before.T, before=before))
    found = turn_and_drop(blocks, problem, choose_block_parents(problem, [1, 0, 2]))
    assert not found.adjacency[0, 1]
    assert np.flatnonzero(found.order == 1) < np.flatnonzero(found.order == 0)


def test_tables_of_numbers_are_left_alone():
    blocks = BlockTable.of(np.random.default_rng(0).normal(size=(100, 3)))
    problem = blocks.problem()
    found = choose_block_parents(problem, [0, 1, 2])
    assert turn_and_drop(blocks, problem, found) is found


def test_a_variable_that_was_set_in_nearly_all_rows_gets_no_parents():
    whole = table(60)
    counted = np.ones((60, 3))
    counted[5:, 0] = 0.0
    blocks = BlockTable.of(whole.X, KINDS, counted=counted)
    problem = blocks.problem()
    found = turn_and_drop(blocks, problem, choose_block_parents(problem, [2, 1, 0]))
    assert not found.adjacency[:, 0].any()
    assert found.adjacency.any()


def test_rows_in_which_a_variable_was_set_do_not_hide_its_causes():
    random = np.random.default_rng(0)
    level, x = random.integers(0, 2, 20_000).astype(float), random.normal(size=20_000)
    x[:200] += level[:200]
    counted = np.ones((20_000, 2))
    counted[200:, 1] = 0.0
    kinds = (ColumnKind("binary"), ColumnKind("continuous"))
    problem = BlockTable.of(np.column_stack([level, x]), kinds, counted=counted).problem()
    assert choose_block_parents(problem, [0, 1]).adjacency[0, 1]


def test_a_stop_is_obeyed_before_every_change():
    blocks = table()
    problem = blocks.problem()
    found = choose_block_parents(problem, [1, 0, 2])
    assert not turn_and_drop(blocks, problem, found).ended_early
    for allowed in (0, 1, 7):
        calls = iter(range(allowed))
        stopped = turn_and_drop(blocks, problem, found, lambda calls=calls: next(calls, 9) == 9)
        assert stopped.ended_early
        assert is_dag(stopped.adjacency.astype(float))
        assert next(calls, None) is None
