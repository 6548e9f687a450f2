"""`restarts` is the maximum number of restarts for every score and any number of variables."""

import numpy as np
import pytest

from cosmodag import OrderSearch
from cosmodag.search import (
    choose_parents,
    column_score,
    graph_search,
    local,
    refine_linear,
    search_non_gaussian,
)
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.graph_search import restarts_for
from cosmodag.search.search_run import Run
from cosmodag.search.wide import wide_search as large_search
from linear_tables import linear_table


@pytest.mark.parametrize(
    ("variables", "rows", "expected"),
    [(30, 1000, 200), (1000, 1000, 40), (2000, 1000, 0), (2000, 150, 20), (5000, 150, 0)],
)
def test_large_tables_are_searched_again_only_where_rows_are_few(variables, rows, expected):
    assert restarts_for(variables, rows) == expected


def table(tails: float = 1.0) -> np.ndarray:
    """Draw a linear table, whose noise has heavy tails if ``tails`` is above 1."""
    random = np.random.default_rng(3)
    noise = np.abs(random.normal(size=(300, 8))) ** (tails - 1.0)
    return linear_table(random, 300, 8, noise=noise)[0]


def restarts_of(refine, **options) -> int:
    """Count the restarts that progress reports."""
    numbers = [0]
    refine(on_progress=lambda number, total: numbers.append(number), **options)
    return max(numbers)


@pytest.mark.parametrize("score", ["gaussian", "equal-variance"])
@pytest.mark.parametrize("asked", [0, 3])
def test_refinement_makes_the_restarts_that_are_asked_for(score, asked):
    random = np.random.default_rng(0)

    def refine(**options):
        refine_linear(table(), {}, Run(random, **options), score=score)

    assert restarts_of(refine, restarts=asked) == asked


def test_equal_variances_are_not_searched_again_by_default():
    random = np.random.default_rng(0)

    def refine(**options):
        refine_linear(table(), {}, Run(random, **options), score="equal-variance")

    assert restarts_of(refine) == 0


@pytest.mark.parametrize(("asked", "made"), [(0, 0), (3, 3), (None, 20)])
def test_noise_that_is_not_gaussian_is_searched_as_often_as_asked(asked, made):
    X, random = table(2.0), np.random.default_rng(0)

    def refine(**options):
        search_non_gaussian(X, {}, Run(random, **options))

    assert restarts_of(refine, restarts=asked) >= made
    assert asked is None or restarts_of(refine, restarts=asked) == made


@pytest.mark.parametrize("noise", ["gaussian", "equal-variance", "non-gaussian"])
def test_learners_pass_the_number_on(noise):
    X = table(2.0)

    def searched(restarts):
        model = OrderSearch(noise=noise, restarts=restarts, random_state=0).fit(X)
        return [entry for entry in model.refine_report_ if entry["start"].endswith(", searched")]

    assert not searched(0)
    assert searched(2)


@pytest.mark.parametrize("score", ["gaussian", "equal-variance"])
def test_many_variables_are_searched_again_on_lists_of_candidates(score, monkeypatch):
    monkeypatch.setattr(graph_search, "LARGE", 5)
    monkeypatch.setattr(local, "BATCHED_FROM", 0)
    monkeypatch.setattr(graph_search, "search", None)
    found = {}
    for asked in (0, 4):

        def refine(asked=asked, **options):
            random = np.random.default_rng(0)
            found[asked] = refine_linear(table(), {}, Run(random, **options), score=score)

        assert restarts_of(refine, restarts=asked) == asked
    assert found[4].total >= found[0].total


def test_restarts_on_lists_do_not_depend_on_threads_and_keep_the_better_order(monkeypatch):
    monkeypatch.setattr(local, "BATCHED_FROM", 0)
    improved = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        X, _ = linear_table(random, 200, 14, noise=random.uniform(0.3, 3, 14))
        moments, start = large_search.Moments.of(X), random.permutation(14)

        def search(restarts, threads, moments=moments, start=start):
            run = Run(np.random.default_rng(1), restarts=restarts, threads=threads)
            return large_search.search_large(ColumnScore.of(moments, penalty=3.0), start, run)

        plain, one, two = (
            search(0, 1),
            search(8, 1),
            search(8, 2),
        )
        assert (plain.restarts, one.restarts) == (0, 8)
        assert one.score >= plain.score
        np.testing.assert_array_equal(one.order, two.order)
        improved += one.score > plain.score + 1e-6
    assert improved


@pytest.mark.parametrize("is_large", [False, True])
def test_parents_on_an_order_are_chosen_once(monkeypatch, is_large):
    seen = []

    def counting(moments, order, **options):
        seen.append(np.asarray(order).tobytes())
        return choose_parents(moments, order, **options)

    monkeypatch.setattr(graph_search, "LARGE", 5 if is_large else 1000)
    monkeypatch.setattr(column_score, "choose_parents", counting)
    starts = {"learnt": np.arange(8), "other": np.arange(8)[::-1].copy()}
    found = refine_linear(table(), starts, Run(np.random.default_rng(0), restarts=2))
    assert len(found.report) > 3
    assert len(seen) == len(set(seen)) > 2
