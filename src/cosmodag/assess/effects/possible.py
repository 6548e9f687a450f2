"""Effects over a class of graphs: one number where the class decides, and several where not."""

from typing import NamedTuple

from cosmodag.assess.effects.adjustment import optimal_set
from cosmodag.assess.effects.class_view import ClassView
from cosmodag.assess.effects.covariance import Covariance, Slope
from cosmodag.assess.effects.simulation import contrasts, direct_contrast
from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["Possible", "direct_effects", "possible_effects", "total_effects"]

_NOTHING = Slope(0.0, 0.0)


class Possible(NamedTuple):
    """Effects that the graphs of a class give.

    Attributes
    ----------
    slopes
        That of the fitted graph first; an effect that a graph excludes is zero without error.
    identified
        Whether all graphs of the class agree.
    adjusted
        What the first is adjusted for.
    """

    slopes: tuple[Slope, ...]
    identified: bool
    adjusted: frozenset[int]

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

    Examples
    --------
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
