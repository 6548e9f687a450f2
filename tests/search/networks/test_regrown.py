"""Families regrown on more rows: weak arcs are found, and knowledge is obeyed."""

import numpy as np
import pytest

from cosmodag.search.constraints import Constraints
from cosmodag.search.networks import network_search
from cosmodag.search.networks.families import SearchEffort
from cosmodag.search.networks.network_problem import NetworkProblem
from cosmodag.search.networks.network_search import regrow
from cosmodag.search.search_run import Run

FEW, MORE = SearchEffort(rows=40), SearchEffort(rows=300, steps=5)
ORDER = np.array([0, 1, 2])


def weak_table(n=300):
    random = np.random.default_rng(0)
    x = random.normal(size=(n, 3))
    x[:, 2] = np.tanh(x[:, 0]) + 0.25 * x[:, 1] + 0.8 * x[:, 2]
    return x


def grown(stages, *, start=None, table=None, **known):
    x = weak_table() if table is None else table
    problem = NetworkProblem(x, ORDER, constraints=Constraints(**known))
    start = np.zeros((3, 3), bool) if start is None else start
    return regrow(problem, problem.order, start, Run(threads=1), stages=stages)


def test_more_rows_find_an_arc_that_few_rows_miss():
    (few, _), (more, is_finished) = grown([FEW]), grown([FEW, MORE])
    assert not few[1, 2]
    assert np.argwhere(more).tolist() == [[0, 2], [1, 2]]
    assert is_finished


def test_an_arc_without_evidence_is_left_out():
    start = np.zeros((3, 3), bool)
    start[0, 1] = True
    arcs, _ = grown([FEW, MORE], start=start)
    assert not arcs[0, 1]


@pytest.mark.parametrize("forbidden", [True, False])
def test_what_is_known_is_obeyed(forbidden):
    support, required = np.ones((3, 3), bool), np.zeros((3, 3), bool)
    support[0, 2], required[0, 1] = not forbidden, True
    found, _ = grown([MORE], support=support, required=required)
    assert found[0, 1]
    assert found[0, 2] != forbidden


def test_a_stage_with_more_rows_than_there_are_is_the_last(monkeypatch):
    stages = []
    families = network_search.Families

    def noted(problem, effort):
        stages.append(effort)
        return families(problem, effort)

    monkeypatch.setattr(network_search, "Families", noted)
    grown([FEW, MORE, MORE], table=weak_table(200))
    assert stages == [FEW, MORE]


def test_stopped_work_keeps_the_arcs_that_it_has():
    start = np.triu(np.ones((3, 3), bool), 1)
    problem = NetworkProblem(weak_table(), ORDER)
    arcs, is_finished = regrow(
        problem, ORDER, start, Run(should_stop=lambda: True, threads=1), stages=[FEW]
    )
    assert not is_finished
    assert np.array_equal(arcs, start)
