"""Possible parents and their consequences agree with a list of all DAGs of the class."""

import numpy as np
from class_members import dags, members
from hypothesis import given, settings

from cosmodag.assess.effects.mixed_graph import MixedGraph
from cosmodag.assess.effects.possible import directed_paths, optimal_set
from cosmodag.graph.equivalence import essential_graph


@settings(deadline=None, max_examples=30)
@given(dags())
def test_possible_parents_are_those_of_the_class(drawn):
    arcs, fixed = drawn
    mixed = MixedGraph.of(essential_graph(arcs, fixed))
    everyone = members(arcs, fixed)
    for x in range(len(arcs)):
        expected = {frozenset(np.flatnonzero(one[:, x]).tolist()) for one in everyone}
        listed = list(mixed.possible_parents(x))
        assert set(listed) == expected
        assert len(listed) == len(expected)


@settings(deadline=None, max_examples=30)
@given(dags())
def test_what_follows_from_parents_holds_in_all_dags_that_have_them(drawn):
    arcs, fixed = drawn
    mixed = MixedGraph.of(essential_graph(arcs, fixed))
    everyone = members(arcs, fixed)
    for x in range(len(arcs)):
        for parents in mixed.possible_parents(x):
            graph = mixed.with_parents(x, parents)
            some = [
                one for one in everyone if set(np.flatnonzero(one[:, x]).tolist()) == set(parents)
            ]
            below = [MixedGraph.of(one).descendants(x) for one in some]
            assert all(one == graph.descendants(x) for one in below)
            for u, children in enumerate(graph.children):
                assert all(one[u, v] for one in some for v in children)
            for u, siblings in enumerate(graph.siblings):
                for v in siblings:
                    assert len({bool(one[u, v]) for one in some}) == 2


def test_a_line_is_no_arrow():
    mixed = MixedGraph.of(np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]]))
    assert (mixed.siblings[0], mixed.children[0], mixed.parents[2]) == ({1}, {2}, {0})


def is_blocked(arcs: np.ndarray, x: int, y: int, given: frozenset[int]) -> bool:
    """Whether x and y are d-separated after the first arcs of causal paths from x are removed."""
    import networkx as nx

    dag = MixedGraph.of(arcs)
    cut = arcs.copy()
    for child in dag.children[x]:
        if child == y or y in dag.descendants(child):
            cut[x, child] = False
    return nx.is_d_separator(nx.DiGraph(cut.astype(int)), {x}, {y}, set(given))


@settings(deadline=None, max_examples=30)
@given(dags(most=6))
def test_the_optimal_set_satisfies_the_adjustment_criterion(drawn):
    arcs, _ = drawn
    dag = MixedGraph.of(arcs)
    for x in range(len(arcs)):
        for y in dag.descendants(x):
            found = optimal_set(dag, x, y)
            on_paths = dag.descendants(x) & (dag.ancestors(y) | {y})
            assert not found & (dag.reached_from(on_paths) | {x, y})
            assert is_blocked(arcs, x, y, found)


def test_paths_are_bounded_and_shortest_first():
    d = 12  # 2^10 paths from first to last
    graph = MixedGraph.of(np.triu(np.ones((d, d)), 1))
    paths = directed_paths(graph, 0, d - 1, most=7)
    assert len(paths) == 7
    assert paths[0] == [0, d - 1]
    assert sorted(map(len, paths)) == list(map(len, paths))
    assert directed_paths(graph, d - 1, 0) == []
