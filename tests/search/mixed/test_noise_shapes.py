"""Arcs between numbers are turned by the shape of the noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cosmodag import BlockSearch, Cosmo, Knowledge
from cosmodag.graph.dags import is_dag
from cosmodag.search.blocks import BlockScore
from cosmodag.search.constraints import Constraints
from cosmodag.search.mixed.noise_shapes import NoiseShapes, turn_by_shapes
from cosmodag.search.mixed.table import BlockTable

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def chain(seed, draw, rows=500):
    """Draw rows of the chain x → y → z, whose noise is drawn by `draw`."""
    random = np.random.default_rng(seed)
    x, *noise = (draw(random, rows) for _ in range(3))
    y = 3 * x + 1.5 * noise[0]
    return np.column_stack([x, y, 0.5 * y + noise[1]])


def skewed(random, rows):
    return random.exponential(size=rows)


def normal(random, rows):
    return random.normal(size=rows)


def reversed_chain(X, counted=None, **constraints):
    """The graph z → y → x, with what is needed to turn its arcs."""
    table = BlockTable.of(X, counted=counted)
    problem = table.problem(Constraints(**constraints))
    records = BlockScore(problem)
    found = records.found([2, 1, 0])
    widths = np.zeros((3, 3), np.int64)
    widths[2, 1] = widths[1, 0] = 1
    return NoiseShapes(table, problem, records), replace(found, widths=widths)


def test_a_reversed_chain_of_skewed_noise_is_turned():
    shapes, found = reversed_chain(chain(0, skewed))
    turned = turn_by_shapes(shapes, found)
    assert np.argwhere(turned.adjacency).tolist() == [[0, 1], [1, 2]]
    assert is_dag(turned.adjacency)
    places = np.argsort(turned.order)
    tails, heads = np.nonzero(turned.adjacency)
    assert (places[tails] < places[heads]).all()
    assert turned.score == pytest.approx(turned.scores.sum())


def test_gaussian_noise_turns_nothing():
    shapes, found = reversed_chain(chain(0, normal))
    assert not any(turn.is_certain for turn in shapes.turns(found))
    assert turn_by_shapes(shapes, found) is found


def test_bounds_are_kept():
    X, support = chain(0, skewed), ~np.eye(3, dtype=bool)
    support[0, 1] = False
    shapes, found = reversed_chain(X, support=support)
    assert [turn for turn in shapes.turns(found) if turn.head == 0] == []
    before = np.zeros((3, 3), bool)
    before[1, 0] = True
    shapes, found = reversed_chain(X, before=before)
    assert [turn for turn in shapes.turns(found) if turn.head == 0] == []


def test_columns_of_few_values_are_left_alone():
    X = chain(0, skewed)
    X[:, 1] = np.round(X[:, 1])
    shapes, found = reversed_chain(X)
    assert len(np.unique(X[:, 1])) < 40
    assert list(shapes.turns(found)) == []


def test_a_stop_returns_the_graph_so_far():
    shapes, found = reversed_chain(chain(0, skewed))
    stopped = turn_by_shapes(shapes, found, lambda: True)
    assert stopped.ended_early
    np.testing.assert_array_equal(stopped.widths, found.widths)


def test_rows_that_were_set_do_not_count():
    X, counted = chain(0, skewed), np.ones((500, 3))
    counted[:200, 0] = 0
    changed = X.copy()
    changed[:200, 0] = np.random.default_rng(1).normal(size=200)
    shapes, found = reversed_chain(X, counted)
    before = [turn.gain for turn in shapes.turns(found) if turn.head != 0]
    assert np.isfinite(before).all()
    shapes, found = reversed_chain(changed, counted)
    densities = shapes._densities(0, found.widths[:, 0])
    assert (densities[:200] == 0).all()


@pytest.mark.parametrize("learner", [BlockSearch, Cosmo])
@pytest.mark.parametrize("seed", range(3))
def test_lines_with_skewed_noise_beside_a_category(learner, seed):
    """The Gaussian score alone reverses both arcs, with the basis "curves"."""
    X = pd.DataFrame(chain(seed, skewed), columns=["x", "y", "z"])
    X["group"] = np.random.default_rng(seed + 9).choice(["a", "b", "c"], len(X))
    model = learner(random_state=0).fit(X)
    arcs = model.arcs_
    assert set(zip(arcs["cause"], arcs["effect"], strict=True)) == {("x", "y"), ("y", "z")}
    assert "curves" not in set(arcs["basis"])


def test_knowledge_outweighs_the_shape():
    X = pd.DataFrame(chain(0, skewed), columns=["x", "y", "z"])
    known = Knowledge(required_edges=[("y", "x")])
    model = BlockSearch(random_state=0, knowledge=known).fit(X)
    assert model.adjacency_[1, 0] != 0
