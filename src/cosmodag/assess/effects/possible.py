"""Adjustment sets, and the possible effects over the graphs of a class."""

from typing import Any, NamedTuple

from cosmodag.assess.effects.mixed_graph import ClassView, MixedGraph
from cosmodag.assess.effects.slopes import Covariance, Slope, contrasts, direct_contrast
from cosmodag.assess.question_inputs import places_of_pair
from cosmodag.errors import DataError
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import check_choice

MOST_PATHS = 50
"""Maximum number of paths that are listed; there may be exponentially many."""

_ZERO = Slope(0.0, 0.0)


def optimal_set(dag: MixedGraph, x: int, y: int) -> frozenset[int]:
    """Find the adjustment set with the smallest asymptotic variance for the effect of x on y.

    It has the parents of the variables on causal paths from x to y, without x, these variables and
    their descendants (Henckel, Perković and Maathuis 2022). If the class of the graph identifies
    the effect, the set is the same for all its DAGs. The graph must have no lines, and y must be a
    descendant of x.

    >>> import numpy as np
    >>> arcs = np.zeros((4, 4))
    >>> arcs[0, 1] = arcs[1, 2] = arcs[3, 1] = arcs[3, 0] = 1  # 0 → 1 → 2, 3 → 0, 3 → 1
    >>> sorted(optimal_set(MixedGraph.of(arcs), 0, 2))
    [3]
    """
    on_paths = dag.descendants(x) & (dag.ancestors(y) | {y})
    forbidden = dag.reached_from(on_paths)
    found = set[int]().union(*(dag.parents[node] for node in on_paths))
    return frozenset(found - forbidden - {x})


def directed_paths(dag: MixedGraph, x: int, y: int, most: int = MOST_PATHS) -> list[list[int]]:
    """List the directed paths from x to y, shortest first, at most `most`.

    >>> import numpy as np
    >>> graph = MixedGraph.of(np.triu(np.ones((3, 3)), 1))
    >>> directed_paths(graph, 0, 2)
    [[0, 2], [0, 1, 2]]
    """
    leads_to_y = dag.ancestors(y) | {y}
    found: list[list[int]] = []
    # Breadth first. Only nodes that lead to y are entered, so every partial path can be completed.
    partial: list[list[int]] = [[x]]
    while partial and len(found) < most:
        longer: list[list[int]] = []
        for path in partial:
            for node in sorted(dag.children[path[-1]] & leads_to_y):
                if node == y:
                    found.append([*path, y])
                elif len(longer) < most:
                    longer.append([*path, node])
        partial = longer
    return found[:most]


def adjustment_set(
    dag: FittedDAG, cause: Any, effect: Any, kind: str = "optimal"
) -> tuple[Any, ...]:
    """Return an adjustment set; see :meth:`cosmodag.fit.view.fitted.FittedGraph.adjustment_set`."""
    check_choice("kind", kind, ("optimal", "parents"))
    x, y = places_of_pair(dag.names, cause, effect)
    view = ClassView.of(dag)
    if view.is_open(x, y):
        raise DataError(
            f"Graphs that fit equally well differ in the effect of {cause!r} on {effect!r}, so no "
            "single adjustment set is valid in all of them: state known directions as knowledge."
        )
    if y not in view.dag.descendants(x):
        raise DataError(f"No directed path leads from {cause!r} to {effect!r}: the effect is zero.")
    found = optimal_set(view.dag, x, y) if kind == "optimal" else view.dag.parents[x]
    return tuple(dag.names[place] for place in sorted(found))


class Possible(NamedTuple):
    """Possible effects of one variable on another over the graphs of a class."""

    # The effect in the fitted graph first. An effect that a graph excludes is zero, without error.
    slopes: tuple[Slope, ...]
    identified: bool  # whether all graphs of the class agree
    adjusted: frozenset[int]  # variables that the first effect is adjusted for

    @property
    def is_zero(self) -> bool:
        """Whether there is no effect in any graph of the class."""
        return all(slope == _ZERO for slope in self.slopes)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest effect."""
        values = [slope.value for slope in self.slopes]
        return min(values), max(values)


def total_effects(view: ClassView, covariance: Covariance, x: int, y: int) -> Possible:
    """Compute the possible total effects of x on y by local IDA.

    If the class identifies the effect, it is a regression on the optimal adjustment set. Otherwise
    there is one regression for each possible set of parents of x in the class (Maathuis, Kalisch
    and Bühlmann 2009), and zero for those with which y is no descendant of x.

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
        return Possible((_ZERO,), True, frozenset())
    if not view.is_open(x, y):
        adjusted = optimal_set(view.dag, x, y)
        return Possible((covariance.slope(x, y, adjusted),), True, adjusted)
    slopes = [
        covariance.slope(x, y, option.parents) if below else _ZERO
        for option, below in zip(options, is_below, strict=True)
    ]
    adjusted = options[0].parents if is_below[0] else frozenset()
    return Possible(tuple(slopes), False, adjusted)


def direct_effects(view: ClassView, covariance: Covariance, x: int, y: int) -> Possible:
    """Compute the possible direct effects: coefficients of x in regressions of y on its parents."""
    options = view.options(y)
    slopes = [
        covariance.slope(x, y, option.parents - {x}) if x in option.parents else _ZERO
        for option in options
    ]
    if all(slope == _ZERO for slope in slopes):
        return Possible((_ZERO,), True, frozenset())
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
    """Compute the effects of a change of x: for linear equations, in all graphs of the class."""
    if covariance is not None:
        find = direct_effects if direct else total_effects
        return find(view, covariance.comparing(x, values), x, y)
    if direct:
        parents, siblings = view.dag.parents[y], view.mixed.siblings[y]
        if x not in parents:
            return Possible((_ZERO,), x not in siblings, frozenset())
        slope = direct_contrast(dag, x, y, values)
        return Possible((slope,), not siblings, frozenset(parents - {x}))
    if y not in view.dag.descendants(x):
        return Possible((_ZERO,), not view.is_open(x, y), frozenset())
    means, errors = contrasts(dag, x, values)
    slope = Slope(float(means[y]), float(errors[y]))
    return Possible((slope,), not view.is_open(x, y), optimal_set(view.dag, x, y))
