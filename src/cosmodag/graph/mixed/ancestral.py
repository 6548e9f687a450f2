"""Ancestral graphs of DAGs with hidden variables, and their equivalence classes, by definition."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from cosmodag.graph.dags import Matrix
from cosmodag.graph.mixed.marks import ARROW, TAIL, Marks, ancestors, marks_of_dag
from cosmodag.graph.mixed.orientation import Separators, circles_of, directed_by_rules
from cosmodag.graph.mixed.separation import Separation

__all__ = ["ancestral_graph", "pag_of_ancestral_graph", "pag_of_dag", "separators_in"]


def ancestral_graph(adjacency: Matrix, observed: Sequence[int]) -> Marks:
    """Maximal ancestral graph over the observed vertices of a DAG.

    Two vertices are joined if no set of other observed ones separates them, which is so if their
    observed ancestors do not. The mark at u of the edge u–v is a tail if u is an ancestor of v in
    the DAG, and an arrowhead otherwise (Richardson and Spirtes 2002).

    Parameters
    ----------
    adjacency : (d, d) array or sparse matrix
        A DAG; any non-zero entry [u, v] is the arc u → v.
    observed : sequence of int
        Vertices that are not hidden, in the order wanted.

    Returns
    -------
    (k, k) array of marks

    Examples
    --------
    A hidden common cause (vertex 0) of two variables becomes ↔:

    >>> ancestral_graph([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [1, 2]).tolist()
    [[0, 2], [2, 0]]
    """
    marks = marks_of_dag(adjacency)
    above = ancestors(marks)
    separation = Separation(marks)
    seen = np.asarray(observed, np.intp)
    found = np.zeros((len(seen), len(seen)), np.int8)
    for a, b in combinations(range(len(seen)), 2):
        u, v = int(seen[a]), int(seen[b])
        given = set(seen[above[seen, u] | above[seen, v]].tolist()) - {u, v}
        if not separation.holds(u, v, given):
            found[a, b] = TAIL if above[v, u] else ARROW
            found[b, a] = TAIL if above[u, v] else ARROW
    return found


def pag_of_ancestral_graph(graph: Marks) -> Marks:
    """Partial ancestral graph: the marks common to all equivalent maximal ancestral graphs.

    Parameters
    ----------
    graph : (d, d) array of marks
        A maximal ancestral graph with the edges → and ↔. A DAG is one.

    Examples
    --------
    Nothing is known of the two ends of a single edge; a collider has two arrowheads:

    >>> pag_of_ancestral_graph(marks_of_dag([[0, 1], [0, 0]])).tolist()
    [[0, 1], [1, 0]]
    >>> pag_of_ancestral_graph(marks_of_dag([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    return directed_by_rules(circles_of(graph), separators_in(graph))


def pag_of_dag(adjacency: Matrix) -> Marks:
    """Partial ancestral graph of a DAG over observed variables.

    It has the DAG's edges, and no ↔: hidden causes are possible wherever it has a circle.
    """
    return pag_of_ancestral_graph(marks_of_dag(adjacency))


def separators_in(graph: Marks) -> Separators:
    """Separate two vertices of a maximal ancestral graph by their ancestors."""
    above = [set(np.flatnonzero(column).tolist()) for column in ancestors(graph).T]
    return lambda u, v: (above[u] | above[v]) - {u, v}
