"""Partial ancestral graphs agree with their definition, on random DAGs with hidden vertices."""

import numpy as np
import pytest
from class_by_listing import class_of, common_marks, independences
from hypothesis import given
from hypothesis import strategies as st
from random_dags import hidden_dag, minimal_dag

from cosmodag.graph.mixed.ancestral import (
    ancestral_graph,
    pag_from_dag,
    pag_of_ancestral_graph,
    pag_of_dag,
)
from cosmodag.graph.mixed.marks import ARROW, CIRCLE, TAIL, Separation, marks_of_dag

SEEDS = st.integers(0, 2**32 - 1)


def from_any_order(graph: np.ndarray, seed: int) -> np.ndarray:
    """Compute a PAG as a fit does, with separation in the ancestral graph instead of tests."""
    separation = Separation(graph)
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()

    def find(u, v, sets):
        return next((chosen for chosen in sets if separation.holds(u, v, chosen)), None)

    return pag_from_dag(minimal_dag(separation, order), find)


def agrees_with_listing(seed: int, observed: tuple[int, int]) -> None:
    arcs, seen = hidden_dag(seed, observed, (0, 3))
    graph = ancestral_graph(arcs, seen)
    expected = common_marks(class_of(graph))
    assert np.array_equal(pag_of_ancestral_graph(graph), expected)
    assert np.array_equal(from_any_order(graph, seed), expected)


@pytest.mark.parametrize("seed", range(10))
def test_it_has_the_common_marks_of_the_class(seed):
    agrees_with_listing(seed, (3, 4))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1000, 1500, 20))
def test_it_has_the_common_marks_of_five_hundred_classes(first):
    for seed in range(first, first + 20):
        agrees_with_listing(seed, (3, 5))


@given(SEEDS)
def test_the_ancestral_graph_has_the_independences_of_the_dag(seed):
    arcs, seen = hidden_dag(seed, (2, 4), (0, 2))
    place = {v: number for number, v in enumerate(seen)}
    of_dag = {
        (place[u], place[v], tuple(place[w] for w in rest))
        for u, v, rest in independences(marks_of_dag(arcs), seen)
    }
    assert independences(ancestral_graph(arcs, seen), list(range(len(seen)))) == of_dag


@given(SEEDS)
def test_separation_agrees_with_enumerated_paths(seed):
    arcs, seen = hidden_dag(seed, (3, 4), (0, 2))
    graph = ancestral_graph(arcs, seen)
    separation = Separation(graph)
    told = independences(graph, list(range(len(graph))))
    random = np.random.default_rng(seed)
    for _ in range(5):
        u, v = sorted(random.choice(len(graph), 2, replace=False).tolist())
        rest = tuple(w for w in range(len(graph)) if w not in (u, v) and random.random() < 0.5)
        assert separation.holds(u, v, rest) == ((u, v, rest) in told)


@given(SEEDS)
def test_any_order_leads_to_the_same_graph(seed):
    arcs, seen = hidden_dag(seed, (3, 7), (0, 4))
    graph = ancestral_graph(arcs, seen)
    assert np.array_equal(from_any_order(graph, seed), pag_of_ancestral_graph(graph))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_five_hundred_graphs_with_hidden_variables(first):
    for seed in range(first, first + 50):
        arcs, seen = hidden_dag(seed, (6, 10), (1, 6))
        graph = ancestral_graph(arcs, seen)
        assert np.array_equal(from_any_order(graph, seed), pag_of_ancestral_graph(graph))


@given(SEEDS)
def test_without_hidden_variables_marks_agree_with_the_class_of_dags(seed):
    """Directed edges are compelled, reversible arcs have circles, no mark contradicts the DAG."""
    from cosmodag.graph.equivalence import compelled, essential_graph

    arcs, _ = hidden_dag(seed, (3, 7), (0, 0))
    found, dag = pag_of_dag(arcs), marks_of_dag(arcs)
    assert np.array_equal(found != 0, dag != 0)
    assert ((found == dag) | (found == CIRCLE))[found != 0].all()
    reversible = essential_graph(arcs) & essential_graph(arcs).T
    assert (found[reversible] == CIRCLE).all()
    assert set(zip(*np.nonzero((found == ARROW) & (found.T == TAIL)), strict=True)) <= set(
        zip(*np.nonzero(compelled(arcs)), strict=True)
    )
