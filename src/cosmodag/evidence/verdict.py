"""The choice among graphs and densities: the simplest within two standard errors of the best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEAR = 2.0
"""Number of standard errors of the difference within which a simpler density is kept."""


class Judged(NamedTuple):
    """A density with the graph that is best under it, and how far it is behind the best."""

    density: str
    graph: str
    mean: float  # held-out log density per row
    error: float  # its standard error
    behind: float
    behind_error: float  # standard error of the difference to the best


@dataclass(frozen=True)
class Verdict:
    """The kept density and its graph, and all densities with their best graphs."""

    kept: Judged
    best: Judged
    judged: tuple[Judged, ...]


def verdict(
    rows: Mapping[tuple[str, str], Floats], simplest_first: Sequence[str], own: Mapping[str, str]
) -> Verdict:
    """Choose a density, and the best graph under it.

    `rows` has log densities per row by density and graph. The simplest density whose best graph is
    within two standard errors of the best is kept. Within a density, the graph that was found by
    its own search (`own`) is preferred to others within two standard
    errors.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> base = random.normal(size=400)
    >>> noise = 0.1 * random.normal(size=400)
    >>> rows = {("lines", "a"): base, ("curves", "a"): base + noise, ("curves", "b"): base + 1}
    >>> found = verdict(rows, ["lines", "curves"], {"lines": "a", "curves": "a"})
    >>> found.kept.density, found.kept.graph
    ('curves', 'b')
    """
    chosen: dict[str, str] = {}
    for density in simplest_first:
        graphs = [graph for name, graph in rows if name == density]
        if not graphs:
            continue
        best = max(graphs, key=lambda graph: rows[density, graph].mean())
        mine = own.get(density)
        if mine in graphs and lead(rows[density, best], rows[density, mine]) <= NEAR:
            best = mine
        chosen[density] = best
    top = max(chosen, key=lambda density: rows[density, chosen[density]].mean())
    of_top = rows[top, chosen[top]]
    judged = tuple(
        _judged(name, graph, rows[name, graph], of_top) for name, graph in chosen.items()
    )
    kept = next(
        one for one in judged if one.density == top or one.behind <= NEAR * one.behind_error
    )
    return Verdict(kept, next(one for one in judged if one.density == top), judged)


def lead(ahead: Floats, behind: Floats) -> float:
    """Mean difference of two densities in its standard errors; zero if they are equal."""
    gains = ahead - behind
    error = float(gains.std()) / math.sqrt(len(gains))
    return 0.0 if error == 0 else float(gains.mean()) / error


def _judged(density: str, graph: str, rows: Floats, best: Floats) -> Judged:
    root, gains = math.sqrt(len(rows)), best - rows
    return Judged(
        density,
        graph,
        float(rows.mean()),
        float(rows.std()) / root,
        float(gains.mean()),
        float(gains.std()) / root,
    )
