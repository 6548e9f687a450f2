"""The penalty per arc (an extended BIC), and scores by name."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cosmodag import OrderSearch
from cosmodag.search import search
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.gaussian_scores import SCORES, default_penalty
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from linear_tables import linear_table


@pytest.mark.parametrize(
    ("rows", "variables", "share"),
    [(500, 400, 0.75), (400, 400, 0.75), (400, 800, 1.0), (100, 2000, 1.0)],
)
def test_a_variable_more_costs_more_where_rows_are_few(rows, variables, share):
    expected = 0.5 * math.log(rows) + share * math.log(variables)
    assert default_penalty(rows, variables) == pytest.approx(expected)


@pytest.mark.parametrize(("rows", "most"), [(10, 10), (20, 12)])
def test_few_rows_of_independent_columns_give_few_arcs(rows, most):
    """Without a limit on parents, at least 136 and 73 arcs are found, whatever the penalty."""
    for seed in range(3):
        table = np.random.default_rng(seed).normal(size=(rows, 30))
        assert np.count_nonzero(OrderSearch(random_state=0).fit(table).adjacency_) <= most


@pytest.mark.parametrize("variables", [1000, 2000])
def test_the_penalty_has_no_jump_where_variables_outnumber_rows(variables):
    before, at, after = (default_penalty(1000, variables + k) for k in (-1, 0, 1))
    assert 0 <= at - before < 0.01
    assert 0 <= after - at < 0.01


def test_the_penalty_is_at_least_log_n():
    assert default_penalty(10_000, 5) == pytest.approx(math.log(10_000))


def test_a_further_score_is_one_object(monkeypatch):
    def total(moments, graph, penalty):
        return -float(graph.arcs)

    fewest = replace(SCORES["gaussian"], name="fewest arcs", total=total, restart_work=0)
    monkeypatch.setitem(SCORES, fewest.name, fewest)
    table, _ = linear_table(np.random.default_rng(0), 300, 8)
    found = search(ColumnScore.of(Moments.of(table), fewest.name), np.arange(8), Run.seeded(0))
    assert found.score == -found.graph.arcs
    assert found.restarts == 0
