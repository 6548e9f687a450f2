"""Contexts that ignore or record warnings remove only their own filters, in any order of exits."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cosmodag import OrderSearch, simulate
from cosmodag.assess import bootstrapping as stability
from cosmodag.errors import DataWarning
from cosmodag.io import Graph, read_graph, read_table, write_graph
from cosmodag.runtime.warning_filters import ignoring, recording


def test_the_one_that_began_first_may_end_first():
    before = list(warnings.filters)
    one, other = ignoring(UserWarning), ignoring(UserWarning)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn("ignored still", UserWarning, stacklevel=1)
    assert not caught
    other.__exit__(None, None, None)
    assert warnings.filters == before


def test_other_categories_are_shown():
    with ignoring(UserWarning), pytest.warns(FutureWarning):
        warnings.warn("shown", FutureWarning, stacklevel=1)
    with recording() as found, pytest.warns(FutureWarning):
        warnings.warn("shown", FutureWarning, stacklevel=1)
    assert not found


def test_a_warning_is_recorded_even_if_it_was_shown_before():
    def warn():
        warnings.warn("recorded", DataWarning, stacklevel=1)

    with pytest.warns(DataWarning):
        warn()
    with recording() as outer:
        warn()
        with recording() as inner:
            warn()
        warn()
    assert [str(one.message) for one in outer] == ["recorded"] * 2
    assert [one.category for one in inner] == [DataWarning]


def test_each_thread_records_its_own_warnings():
    before, show = list(warnings.filters), warnings.showwarning
    ready, records = threading.Barrier(4), {}

    def record(number):
        with recording() as found:
            ready.wait()
            warnings.warn(f"number {number}", DataWarning, stacklevel=1)
            ready.wait()
        records[number] = [str(one.message) for one in found]

    in_threads(*[lambda number=number: record(number) for number in range(4)])
    assert records == {number: [f"number {number}"] for number in range(4)}
    assert warnings.filters == before
    assert warnings.showwarning is show


def test_bootstraps_and_files_in_threads_leave_the_filters_of_warnings(tmp_path):
    X = simulate.load("n200_d4_ER1_gauss", seed=0).X
    learner = OrderSearch(random_state=0, restarts=0, verbose=False)
    before, show = list(warnings.filters), warnings.showwarning
    (tmp_path / "table.csv").write_text("a,b\n1,2\n2,1\n")
    write_graph(Graph(["a", "b"], np.eye(2, k=1)), tmp_path / "graph.gml")

    def use():
        for seed in range(2):
            stability.bootstrap(learner, X, 2, random_state=seed, verbose=False)
            for _ in range(10):
                read_table(tmp_path / "table.csv")
                read_graph(tmp_path / "graph.gml")

    in_threads(*[use] * 6)
    assert warnings.filters == before
    assert warnings.showwarning is show


def in_threads(*functions):
    with ThreadPoolExecutor(len(functions)) as pool:
        for done in [pool.submit(function) for function in functions]:
            done.result()
