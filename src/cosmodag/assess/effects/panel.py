"""Effects of all pairs as plain values for the report: one number each, or a curve."""

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.assess.effects.mixed_graph import ClassView
from cosmodag.assess.effects.model_effects import Effects
from cosmodag.assess.effects.resampled import ResampledFits
from cosmodag.assess.effects.slopes import mean_curves
from cosmodag.assess.question_inputs import kind_of
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.view.fitted import FittedGraph

# Maximum number of variables for which a report has all pairs: about 3,500 pairs, half a megabyte.
MOST_VARIABLES = 60
# Maximum number of variables for which curves are simulated; with 30, a report takes a few seconds
# more.
MOST_CURVED = 30
# Maximum number of variables for which every resample is simulated too, for bands.
_MOST_RESAMPLED = 12
_PATHS = 5
_HORIZON = 10
# Points of a curve, simulated rows per point, and quantiles of the cause between which they lie.
_POINTS, _DRAWS, _ENDS = 13, 300, (0.02, 0.98)
_LEVEL = 0.95


def effects_panel(model: FittedGraph) -> list[dict[str, Any]] | None:
    """List the effects that are not zero in all graphs of the class.

    Each has ``from`` and ``to``, indices of variables; ``estimate``, ``low``, ``high`` (NaN if
    there is no interval); ``least`` and ``most``, the smallest and largest effect over the class;
    ``identified``; ``adjustment`` and at most five ``paths``, also as indices. Pairs that are not
    listed have no effect. The result is None for more than 60 variables, for equations that are not
    linear, and for time series.
    """
    if model.fitted_.window is not None or model.fitted_.d > MOST_VARIABLES:
        return None
    effects = Effects.of(model)
    if effects.covariance is None or not effects.dag.is_linear:
        return None
    names = effects.dag.names
    place = {name: number for number, name in enumerate(names)}
    found = []
    for x, y in permutations(range(len(names)), 2):
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
            }
        )
    return found


def effect_curves(model: FittedGraph) -> dict[str, Any] | None:
    """Compute effects as curves, for all pairs that a directed path joins.

    The result is None for linear models without lags, whose effects are numbers, and for very many
    variables. ``over`` is ``"time"`` for changes in the rows after a variable was raised once, or
    ``"value"`` for E[y | do(x)]. ``variables`` is their number d (with lags, indices repeat, like
    those of the window). ``band`` is the source of the bands in words, empty if there are none.
    ``pairs`` have ``from``, ``to``, ``open`` (whether graphs that fit equally well differ), the
    points ``x`` and ``y``, the band ``low`` and ``high`` (None without), and ``labels`` of the
    points if the cause is a category (None otherwise).
    """
    dag = model.fitted_
    if dag.window is not None:
        most = MOST_VARIABLES if dag.is_linear else MOST_CURVED
        return _over_time(model) if dag.window.d <= most else None
    if dag.is_linear or dag.d > MOST_CURVED:
        return None
    return _over_values(dag, vars(model).get("_resampled_fits_"))


def _over_time(model: FittedGraph) -> dict[str, Any]:
    names = model.window_.names
    d = len(names)
    fits = vars(model).get("_resampled_fits_")
    table = model.response_intervals(_HORIZON, level=_LEVEL)
    parts = table.to_numpy().reshape(d, d, _HORIZON + 1, 3)
    pairs = []
    for u, v in np.argwhere(np.nan_to_num(parts[..., 0]).any(axis=2)).tolist():
        estimate, low, high = parts[u, v].T
        band = (low, high) if np.isfinite(low).all() else None
        pairs.append(_pair(u, v, np.arange(_HORIZON + 1), estimate, band))
    source = "standard errors, for this graph only" if fits is None else fits.source
    has_bands = any(pair["low"] is not None for pair in pairs)
    return {"over": "time", "variables": d, "band": source if has_bands else "", "pairs": pairs}


def _over_values(dag: FittedDAG, fits: ResampledFits | None) -> dict[str, Any]:
    view = ClassView.of(dag)
    drawn = dag.sample(1_000, random_state=0)
    if dag.d > _MOST_RESAMPLED:
        fits = None
    numbers = np.array([kind.is_number for kind in dag.kinds] or [True] * dag.d)
    pairs = []
    for x in range(dag.d):
        below = sorted(y for y in view.dag.descendants(x) if numbers[y])
        if not below:
            continue
        grid, labels = _grid(dag, x, drawn[:, x])
        curves = mean_curves(dag, x, grid, _DRAWS)
        bands = None
        if fits is not None:
            others = np.stack([mean_curves(one, x, grid, _DRAWS) for one in fits.dags])
            bands = np.quantile(others, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
        for y in below:
            band = None if bands is None else (bands[0, :, y], bands[1, :, y])
            is_open = view.is_open(x, y)
            pairs.append(_pair(x, y, grid, curves[:, y], band, is_open=is_open, labels=labels))
    source = "" if fits is None else fits.source
    return {"over": "value", "variables": dag.d, "band": source, "pairs": pairs}


def _pair(
    cause: int,
    effect: int,
    x: NDArray[Any],
    y: NDArray[Any],
    band: tuple[NDArray[Any], NDArray[Any]] | None,
    *,
    is_open: bool = False,
    labels: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "from": cause,
        "to": effect,
        "open": is_open,
        "x": x.tolist(),
        "y": y.tolist(),
        "low": None if band is None else band[0].tolist(),
        "high": None if band is None else band[1].tolist(),
        "labels": labels,
    }


def _grid(
    dag: FittedDAG, x: int, drawn: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[str] | None]:
    """Return the values that a cause is set to, and their labels, if they are levels."""
    kind = kind_of(dag, x)
    if kind.is_levels:
        return np.arange(float(len(kind.levels))), [str(level) for level in kind.levels]
    values = np.unique(drawn)
    if len(values) <= _POINTS:
        return values, None
    low, high = np.quantile(drawn, _ENDS)
    return np.linspace(low, high, _POINTS), None
