"""Response curves of the arcs of network learners, as points to draw."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.fit.mixed.by_kind import EquationsByKind
from cosmodag.fit.view.arcs import largest_first, standardised

if TYPE_CHECKING:
    from cosmodag.learners.base import StructureLearner

__all__ = ["response_curves"]

_POINTS = 33
_MOST = 240
_SAMPLED = 1_000
_TAIL = 0.02


def response_curves(model: "StructureLearner") -> list[dict[str, Any]]:
    """Compute the fitted response of the strongest arcs, with the other parents at their means.

    Causes vary over the middle 96% of values sampled from the fitted model.

    Returns
    -------
    list of dict
        ``arc``, its number in ``edges_``, and the points ``x`` and ``y``; empty for learners whose
        arcs are numbers, and for tables with categories, of which `block_section` shows effects.
    """
    response = getattr(model, "response", None)
    if response is None or isinstance(model.fitted_.equations, EquationsByKind):
        return []
    edges, names = model.edges_, model.names_
    drawn = model.fitted_.sample(_SAMPLED, random_state=0)
    low, high = np.quantile(drawn, [_TAIL, 1 - _TAIL], axis=0)
    strongest = largest_first(standardised(model), edges.data)[:_MOST]
    curves = []
    for arc in strongest.tolist():
        u, v = int(edges.row[arc]), int(edges.col[arc])
        grid = np.linspace(low[u], high[u], _POINTS)
        curves.append({"arc": arc, "x": grid, "y": response(names[u], names[v], grid)})
    return curves
