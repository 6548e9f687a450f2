"""Effects of all pairs as plain values, for a panel on a page."""

from itertools import permutations
from typing import TYPE_CHECKING, Any

from cosmodag.assess.effects.model_effects import Effects

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["effects_panel"]

MOST_VARIABLES = 60
"""Variables up to which a page holds all pairs: about 3,500, half a megabyte."""

_PATHS = 5


def effects_panel(model: "FittedGraph", effects: Effects | None = None) -> list[dict[str, Any]]:
    """List the effects that are not zero in all graphs of the class.

    The list is empty for more than 60 variables, equations that are not linear, and time series.
    `effects` are by default those of the model, without resamples.

    Returns
    -------
    list of dict
        ``from`` and ``to``, places among the variables; ``estimate``, ``low``, ``high`` (NaN where
        there is no interval), ``least`` and ``most`` over the class, ``identified``,
        ``adjustment`` and ``paths`` (places, at most five), ``sentence``. Pairs that are not
        listed have no effect.
    """
    if model.fitted_.window is not None:
        return []
    effects = Effects.of(model) if effects is None else effects
    d = effects.dag.d
    if d > MOST_VARIABLES or effects.covariance is None:
        return []
    names = effects.dag.names
    place = {name: number for number, name in enumerate(names)}
    found = []
    for x, y in permutations(range(d), 2):
        one = effects.effect(names[x], names[y])
        if one.is_nothing:
            continue
        found.append(
            {
                "from": x,
                "to": y,
                "estimate": one.estimate,
                "low": one.low,
                "high": one.high,
                "least": one.possible[0],
                "most": one.possible[-1],
                "identified": one.identified,
                "adjustment": [place[name] for name in one.adjustment],
                "paths": [[place[name] for name in path] for path in one.paths[:_PATHS]],
                "sentence": str(one),
            }
        )
    return found
