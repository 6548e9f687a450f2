"""Local scores of categories, by counting."""

from itertools import product
from math import exp, lgamma, log

import numpy as np
import pytest

from cosmodag.search.counted.count_state import LEFT, SCORE, new_memo, with_room
from cosmodag.search.counted.counted_climb import CountedClimb, CountedMemory
from cosmodag.search.counted.counted_moves import flip
from cosmodag.search.counted.counted_problem import BIC, QUOTIENT_NML, CellPrice, CountedProblem
from cosmodag.search.counted.counts import complexity, toggled

COUNTS = np.array([2, 3, 2, 5])


def drawn(n=300, seed=0):
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 2, n), random.integers(0, 3, n)
    c = random.random(n) < np.array([[0.15, 0.8, 0.3], [0.9, 0.25, 0.5]])[a, b]
    d = np.minimum(a + 2 * c + (random.random(n) < 0.3), 4)
    return np.column_stack([a, b, c, d]).astype(np.int64)


def score_of(problem, price, v, parents):
    """The score of v by the compiled code, reached by adding parents one after another."""
    climb = CountedClimb(problem, price, CountedMemory.of(problem), lambda: False)
    memo = climb.memory.memo
    memo.counters[LEFT] = 10**9
    for u in parents[:-1]:
        flip(climb.table, climb.graph, v, u)
    last = parents[-1] if parents else -1
    return toggled(climb.table, climb.graph, memo, v, last)


def likelihood(levels, v, parents, rows):
    """Log-likelihood by a dictionary of counts."""
    cells, sums = {}, {}
    for row in levels[rows].tolist():
        key = tuple(row[u] for u in parents)
        cells[key, row[v]] = cells.get((key, row[v]), 0) + 1
        sums[key] = sums.get(key, 0) + 1
    return sum(count * log(count / sums[key]) for (key, _), count in cells.items())


@pytest.mark.parametrize("parents", [[], [1], [0, 1], [2, 0, 1], [1, 0, 2]])
def test_bic_is_the_likelihood_of_counts_minus_half_log_n_per_parameter(parents):
    levels = drawn()
    own = likelihood(levels, 3, parents, slice(None))
    combinations = int(np.prod(COUNTS[parents]))
    expected = own - 0.5 * log(300) * combinations * 4
    assert score_of(CountedProblem(levels, COUNTS), BIC, 3, parents) == pytest.approx(expected)


def test_tables_with_mostly_empty_cells_are_counted_alike():
    levels = np.random.default_rng(0).integers(0, 9, (120, 3))  # 729 cells of 120 rows
    problem, free = CountedProblem(levels, np.full(3, 9)), CellPrice("free")
    for parents in ([1], [1, 2]):
        expected = likelihood(levels, 0, parents, slice(None))
        assert score_of(problem, free, 0, parents) == pytest.approx(expected)


def test_rows_in_which_a_variable_was_set_do_not_count():
    levels, counted = drawn(), np.ones((300, 4), bool)
    counted[:90, 2] = False
    problem = CountedProblem(levels, COUNTS, counted)
    own = likelihood(levels, 2, [0, 1], slice(90, None))
    assert score_of(problem, BIC, 2, [0, 1]) == pytest.approx(own - 0.5 * log(210) * 6)
    own = likelihood(levels, 3, [0], slice(None))
    assert score_of(problem, BIC, 3, [0]) == pytest.approx(own - 0.5 * log(300) * 8)


def test_imputed_values_weigh_less():
    problem = CountedProblem(drawn(), COUNTS, share=0.5)
    own = 0.5 * likelihood(problem.levels, 2, [0], slice(None))
    assert score_of(problem, BIC, 2, [0]) == pytest.approx(own - 0.5 * log(150) * 2)


def normaliser(n, values):
    """Sum of maximum likelihoods over all counts."""
    if values == 1:
        return 1.0
    total = 0.0
    for counts in product(range(n + 1), repeat=values - 1):
        if sum(counts) <= n:
            every = [*counts, n - sum(counts)]
            ways = lgamma(n + 1) - sum(lgamma(c + 1) for c in every)
            total += exp(ways + sum(c * log(c / n) for c in every if c))
    return total


@pytest.mark.parametrize(("n", "values"), [(1, 1), (50, 2), (30, 3), (20, 4)])
def test_the_complexity_is_close_to_the_sum_over_all_counts(n, values):
    assert complexity(float(n), float(values)) == pytest.approx(log(normaliser(n, values)), abs=0.1)


def test_quotient_nml_is_the_quotient_of_two_joint_distributions():
    levels, n = drawn(24), 24
    own = likelihood(levels, 2, [0], slice(None))
    expected = own - log(normaliser(n, 4)) + log(normaliser(n, 2))
    found = score_of(CountedProblem(levels, COUNTS), QUOTIENT_NML, 2, [0])
    assert found == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("price", [BIC, QUOTIENT_NML, CellPrice("mixed", 0.2, 0.5, 1.0)])
def test_complete_graphs_have_one_score_in_all_orders(price):
    problem = CountedProblem(drawn(), COUNTS)
    totals = [
        sum(score_of(problem, price, v, order[:k]) for k, v in enumerate(order))
        for order in ([0, 1, 2, 3], [3, 1, 2, 0], [2, 3, 0, 1])
    ]
    assert totals == pytest.approx([totals[0]] * 3)


def test_a_memo_with_more_room_finds_the_same():
    memo = new_memo(10, 10, 10, 8)
    memo.keys[:, [1, 2, 3]] = [[9, 1, 17], [5, 6, 7]]  # all of them at place 1 of 8
    memo.likelihoods[[1, 2, 3]] = [-1.0, -2.0, -3.0]
    larger = with_room(memo, 16)
    assert larger.keys[0, [9, 1, 2]].tolist() == [9, 1, 17]
    assert larger.likelihoods[[9, 1, 2]].tolist() == [-1.0, -2.0, -3.0]


def test_parents_that_cannot_pay_for_their_cells_are_not_counted():
    random = np.random.default_rng(0)
    levels = random.integers(0, 30, (200, 3))
    problem = CountedProblem(levels, np.full(3, 30))
    climb = CountedClimb(problem, BIC, CountedMemory.of(problem), lambda: False)
    memo = climb.memory.memo
    used = memo.counters.copy()
    memo.counters[LEFT] = 10**9
    assert toggled(climb.table, climb.graph, memo, 0, 1) == -np.inf
    assert memo.counters[2] == used[2]
    assert np.isfinite(climb.graph.numbers[SCORE]).all()
