"""Permuting the columns of a table of numbers permutes its graph."""

import numpy as np
import pytest

from cosmodag import BlockSearch, OrderSearch
from cosmodag.graph.equivalence import essential_graph

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def linear(draw, strengths=(0.4, 0.9), rows=300, d=8):
    """Sample a random DAG of lines whose columns are shuffled; `draw` draws the noise."""
    random = np.random.default_rng(1)
    X = getattr(random, draw)(size=(rows, d))
    for v in range(1, d):
        parents = np.flatnonzero(random.random(v) < 0.4)
        X[:, v] += X[:, parents] @ random.uniform(*strengths, len(parents))
    return X[:, random.permutation(d)]


def curved():
    """Sample curves along a chain with a fork."""
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 5))
    for v, u in ((1, 0), (2, 1), (3, 1), (4, 3)):
        X[:, v] = np.sin(2 * X[:, u]) + 0.4 * X[:, v]
    return X[:, [3, 0, 4, 1, 2]]


def graphs(learner, X, columns):
    """Arcs of a table, and of its permuted columns under the numbers of the first."""
    first = learner.fit(X).adjacency_ != 0
    again = np.zeros_like(first)
    again[np.ix_(columns, columns)] = learner.fit(X[:, columns]).adjacency_ != 0
    return first, again


@pytest.mark.parametrize("draw", ["laplace", "exponential"])
def test_determined_directions_do_not_depend_on_the_order_of_columns(draw):
    X = linear(draw)
    first, again = graphs(OrderSearch(random_state=0), X, np.arange(8)[::-1])
    assert first.sum() > 5
    np.testing.assert_array_equal(first, again)


def test_curves_do_not_depend_on_the_order_of_columns():
    first, again = graphs(BlockSearch(random_state=0), curved(), np.array([4, 2, 0, 3, 1]))
    assert first.sum() == 4
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("seed", range(3))
def test_the_class_does_not_depend_on_the_order_of_columns(seed):
    columns = np.random.default_rng(seed).permutation(8)
    pairs = graphs(OrderSearch(random_state=0), linear("normal"), columns)
    first, again = (essential_graph(one) for one in pairs)
    assert (first != again).nnz == 0 if hasattr(first, "nnz") else np.array_equal(first, again)
