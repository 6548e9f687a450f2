"""Arcs use the first columns of a parent, as many as improve the score."""

import numpy as np
import pytest

from cosmodag.search import BlockProblem, choose_block_parents, search_blocks
from cosmodag.search.constraints import Constraints
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run

N = 400
HALF, ARC = 0.5 * np.log(N), 2.0


def curve_table(seed=0):
    """Three variables as blocks of x, x², x³; 0 → 1 is linear and 0 → 2 quadratic."""
    random = np.random.default_rng(seed)
    x = random.normal(size=N)
    line, square = x + random.normal(size=N), x**2 + 0.5 * random.normal(size=N)
    return np.column_stack([power for z in (x, line, square) for power in (z, z**2, z**3)])


def problem(table, **options):
    ones, constraints = np.ones(3, int), Constraints(**options)
    return BlockProblem(Moments.of(table), 3 * ones, HALF, ones, ones, ARC, constraints)


def share_left(table, target, columns):
    centred = table - table.mean(axis=0)
    fitted = np.linalg.lstsq(centred[:, columns], centred[:, target], rcond=None)[0]
    left = centred[:, target] - centred[:, columns] @ fitted
    return left.var() / centred[:, target].var()


def test_a_line_uses_one_column_and_a_parabola_two():
    found = choose_block_parents(problem(curve_table()), [0, 1, 2])
    assert found.widths[:, 1].tolist() == [1, 0, 0]
    assert found.widths[0, 2] == 2


def test_the_score_is_that_of_the_columns_used():
    table = curve_table()
    found = choose_block_parents(problem(table), [0, 1, 2])
    expected = -0.5 * N * np.log(share_left(table, 6, [0, 1])) - 2 * HALF - ARC
    assert found.widths[:, 2].tolist() == [2, 0, 0]
    assert found.scores[2] == pytest.approx(expected, rel=1e-6)


def test_no_other_number_of_columns_scores_better():
    for seed in range(5):
        table = curve_table(seed)
        found = choose_block_parents(problem(table), [0, 1, 2])
        for v, target in ((1, 3), (2, 6)):
            for width in range(1, 4):
                share = share_left(table, target, list(range(width)))
                assert found.scores[v] >= -0.5 * N * np.log(share) - width * HALF - ARC - 1e-6


def test_a_curve_decides_a_direction():
    found = search_blocks(problem(curve_table()), [2, 1, 0], Run.seeded(0))
    assert found.adjacency[0, 2]


def test_a_required_parent_keeps_at_least_its_fewest_columns():
    required = np.zeros((3, 3), bool)
    required[1, 2] = True
    found = choose_block_parents(problem(curve_table(), required=required), [0, 1, 2])
    assert found.widths[1, 2] >= 1
