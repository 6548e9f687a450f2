"""Adjustment sets, and effects over a class of graphs: several numbers where it does not decide."""

from typing import Any, NamedTuple

from cosmodag.assess.effects.mixed_graph import ClassView, MixedGraph
from cosmodag.assess.effects.slopes import Covariance, Slope, contrasts, direct_contrast
from cosmodag.assess.inputs import places_of_pair
from cosmodag.errors import DataError
from cosmodag.fit.checks import check_choice
from cosmodag.fit.fitted_dag import FittedDAG

MOST_PATHS = 50
"""Paths that an answer lists at most; there may be exponentially many."""

_NOTHING = Slope(0.0, 0.0)


def optimal_set(dag: MixedGraph, x: int, y: int) -> frozenset[int]:
    """Find the adjustment set of smallest asymptotic variance for the effect of x on y.

    The parents of the variables on causal paths that are themselves neither on such a path, nor
    behind one, nor x (Henckel, Perković and Maathuis 2022). Where the class of the graph identifies
    the effect, the set is the same for all its DAGs. The graph has no lines, and y is a descendant
    of x.

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


class Possible(NamedTuple):
    """Effects that the graphs of a class give."""

    # That of the fitted graph first; an effect that a graph excludes is zero without error
    slopes: tuple[Slope, ...]
    identified: bool  # whether all graphs of the class agree
    adjusted: frozenset[int]  # what the first is adjusted for

    @property
    def is_zero(self) -> bool:
        """Whether no graph of the class has an effect."""
        return all(slope == _NOTHING for slope in self.slopes)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest effect."""
        values = [slope.value for slope in self.slopes]
        return min(values), max(values)


def total_effects(view: ClassView, covariance: Covariance, x: int, y: int) -> Possible:
    """Give the possible total effects of x on y: IDA, computed locally.

    Where the class decides the effect it is a regression on the optimal adjustment set. Elsewhere
    there is one regression for each set of parents that x has in some graph of the class
    (Maathuis, Kalisch and Bühlmann 2009), and zero where y is no descendant of x.

    In the class 0 – 1 either may be the cause:

    >>> import numpy as np
    >>> from cosmodag.assess.effects.mixed_graph import MixedGraph
    >>> arc, line = np.array([[0, 1], [0, 0]]), np.array([[0, 1], [1, 0]])
    >>> view = ClassView(MixedGraph.of(arc), MixedGraph.of(line))
    >>> covariance = Covariance(np.array([[1.0, 2.0], [2.0, 5.0]]), 10)
    >>> found = total_effects(view, covariance, 0, 1)
    >>> [slope.value for slope in found.slopes], found.identified
    ([2.0, 0.0], False)
    """
    options = view.options(x)
    is_below = [y in option.graph.descendants(x) for option in options]
    if not any(is_below):
        return Possible((_NOTHING,), True, frozenset())
    if not view.is_open(x, y):
        adjusted = optimal_set(view.dag, x, y)
        return Possible((covariance.slope(x, y, adjusted),), True, adjusted)
    slopes = [
        covariance.slope(x, y, option.parents) if below else _NOTHING
        for option, below in zip(options, is_below, strict=True)
    ]
    adjusted = options[0].parents if is_below[0] else frozenset()
    return Possible(tuple(slopes), False, adjusted)


def direct_effects(view: ClassView, covariance: Covariance, x: int, y: int) -> Possible:
    """Give the possible direct effects: coefficients of x in regressions of y on its parents."""
    options = view.options(y)
    slopes = [
        covariance.slope(x, y, option.parents - {x}) if x in option.parents else _NOTHING
        for option in options
    ]
    if all(slope == _NOTHING for slope in slopes):
        return Possible((_NOTHING,), True, frozenset())
    own = options[0].parents
    return Possible(tuple(slopes), len(slopes) == 1, own - {x} if x in own else frozenset())


def possible_effects(
    dag: FittedDAG,
    view: ClassView,
    covariance: Covariance | None,
    x: int,
    y: int,
    direct: bool,
    values: tuple[float, float],
) -> Possible:
    """Give the effects of a change of x, over the class for linear equations."""
    step = values[1] - values[0]
    if covariance is not None:
        find = direct_effects if direct else total_effects
        found = find(view, covariance, x, y)
        slopes = (Slope(one.value * step, one.error * abs(step)) for one in found.slopes)
        return found._replace(slopes=tuple(slopes))
    if direct:
        slope = direct_contrast(dag, x, y, values) if x in view.dag.parents[y] else _NOTHING
        others = view.dag.parents[y] - {x} if x in view.dag.parents[y] else ()
        return Possible((slope,), not view.mixed.siblings[y], frozenset(others))
    if y not in view.dag.descendants(x):
        return Possible((_NOTHING,), not view.is_open(x, y), frozenset())
    means, errors = contrasts(dag, x, values)
    slope = Slope(float(means[y]), float(errors[y]))
    return Possible((slope,), not view.is_open(x, y), optimal_set(view.dag, x, y))
