"""Adjustment sets: variables that free a regression from confounding."""

from typing import Any

from cosmodag.assess.effects.class_view import ClassView
from cosmodag.assess.effects.mixed_graph import MixedGraph
from cosmodag.assess.names import places_of_pair
from cosmodag.errors import DataError
from cosmodag.fit.checks import check_choice
from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["adjustment_set", "directed_paths", "optimal_set"]

MOST_PATHS = 50
"""Paths that an answer lists at most; there may be exponentially many."""


def optimal_set(dag: MixedGraph, x: int, y: int) -> frozenset[int]:
    """Find the adjustment set of smallest asymptotic variance for the effect of x on y.

    The parents of the variables on causal paths that are themselves neither on such a path, nor
    behind one, nor x (Henckel, Perković and Maathuis 2022). Where the class of the graph identifies
    the effect, the set is the same for all its DAGs. The graph has no lines, and y is a descendant
    of x.

    Examples
    --------
    >>> import numpy as np
    >>> arcs = np.zeros((4, 4))
    >>> arcs[0, 1] = arcs[1, 2] = arcs[3, 1] = arcs[3, 0] = 1  # 0 → 1 → 2, 3 → 0, 3 → 1
    >>> sorted(optimal_set(MixedGraph.of(arcs), 0, 2))
    [3]
    """
    on_paths = dag.descendants(x) & (dag.ancestors(y) | {y})
    behind = dag.reached_from(on_paths)
    found = set[int]().union(*(dag.parents[node] for node in on_paths))
    return frozenset(found - behind - {x})


def directed_paths(dag: MixedGraph, x: int, y: int, most: int = MOST_PATHS) -> list[list[int]]:
    """List the directed paths from x to y, the shortest first, at most `most`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MixedGraph.of(np.triu(np.ones((3, 3)), 1))
    >>> directed_paths(graph, 0, 2)
    [[0, 2], [0, 1, 2]]
    """
    towards = dag.ancestors(y) | {y}
    found: list[list[int]] = []
    # Breadth first; nodes that do not lead to y are never entered, so that no step is lost.
    waiting: list[list[int]] = [[x]]
    while waiting and len(found) < most:
        longer: list[list[int]] = []
        for path in waiting:
            for node in sorted(dag.children[path[-1]] & towards):
                if node == y:
                    found.append([*path, y])
                elif len(longer) < most:
                    longer.append([*path, node])
        waiting = longer
    return found[:most]


def adjustment_set(
    dag: FittedDAG, cause: Any, effect: Any, kind: str = "optimal"
) -> tuple[Any, ...]:
    """Variables to adjust for; see :meth:`cosmodag.fit.view.fitted.FittedGraph.adjustment_set`."""
    check_choice("kind", kind, ("optimal", "parents"))
    x, y = places_of_pair(dag.names, cause, effect)
    view = ClassView.of(dag)
    if view.is_open(x, y):
        raise DataError(
            f"Graphs that fit equally well differ in the effect of {cause!r} on {effect!r}, so "
            "that no one set is right in all of them: knowledge of directions would decide it."
        )
    if y not in view.dag.descendants(x):
        raise DataError(f"No directed path leads from {cause!r} to {effect!r}: the effect is zero.")
    found = optimal_set(view.dag, x, y) if kind == "optimal" else view.dag.parents[x]
    return tuple(dag.names[place] for place in sorted(found))
