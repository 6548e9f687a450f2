"""Layers: arcs point down, nodes do not overlap, and layers are not too wide."""

import math

import numpy as np
from graphs_to_report import random_dag
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cosmodag.report.layout import layered_layout


@given(st.integers(1, 40), st.integers(0, 120), st.integers(0, 1000))
def test_arcs_lead_down_and_nodes_keep_apart(d, arcs, seed):
    weights = random_dag(d, arcs, seed) if d > 1 else np.zeros((1, 1))
    edges = sparse.coo_array(weights)
    layout = layered_layout(edges)
    assert (layout.layer[edges.row] < layout.layer[edges.col]).all()
    widest = max(4, math.ceil(math.sqrt(1.2 * d)))
    for layer in np.unique(layout.layer):
        places = np.sort(layout.x[layout.layer == layer])
        assert len(places) <= widest
        assert (np.diff(places) >= 1 - 1e-9).all()
    assert set(layout.layer.tolist()) == set(range(int(layout.layer.max()) + 1))


def test_nodes_without_arcs_come_last():
    weights = np.zeros((6, 6))
    weights[1, 2] = 1
    layout = layered_layout(sparse.coo_array(weights))
    assert layout.layer.tolist() == [2, 0, 1, 2, 2, 2]


def test_two_chains_do_not_cross():
    weights = np.zeros((6, 6))
    for u, v in ((0, 3), (3, 5), (1, 2), (2, 4)):
        weights[u, v] = 1
    x = layered_layout(sparse.coo_array(weights)).x
    assert len({bool(x[u] < x[v]) for u, v in ((0, 1), (3, 2), (5, 4))}) == 1


def test_the_same_graph_is_drawn_the_same_way():
    edges = sparse.coo_array(random_dag(30, 80))
    np.testing.assert_array_equal(layered_layout(edges).x, layered_layout(edges).x)
