"""Section of the page on tables of every kind: curves of numbers, and effects of levels."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.fit.mixed.by_kind import EquationsByKind
from cosmodag.fit.view.arcs import largest_first, standardised
from cosmodag.report.sections import Section

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["block_section"]

_POINTS, _MOST = 33, 60

_TEXT = (
    "Effects on numbers are in the units of the effect; on counts, changes of log(1 + x); on "
    "categories, changes of the log-odds of the level named, against the first level."
)


def block_section(model: "FittedGraph") -> Section | None:
    """Show what each arc adds to its head, for the strongest arcs; None for other equations."""
    dag = model.fitted_
    if not isinstance(dag.equations, EquationsByKind):
        return None
    edges = dag.edges
    curves: list[dict[str, Any]] = []
    rows: list[list[Any]] = []
    for arc in largest_first(standardised(model), edges.data)[:_MOST].tolist():
        u, v = int(edges.row[arc]), int(edges.col[arc])
        if dag.equations.embedding.is_levels(u):
            rows += _levels(model, dag.equations, u, v)
        else:
            curves.append(_curve(model, dag.equations, u, v))
    columns = ["cause", "level", "effect", "change against the first level"]
    reason = getattr(model, "curves_reason_", "")
    text = f"{reason} {dag.equations.effects_in_words} {_TEXT}".strip()
    return Section("Effects of the arcs", text, columns if rows else (), rows, curves, folded=True)


def _head(model: "FittedGraph", equations: EquationsByKind, v: int) -> str:
    """Name what an arc changes: the variable, or the last level of a category."""
    name = str(model.names_[v])
    if not equations.embedding.is_levels(v):
        return name
    return f"{name} = {_label(model, v, int(equations.embedding.widths[v]))}"


def _label(model: "FittedGraph", v: int, level: int) -> str:
    kinds = model.fitted_.kinds
    if kinds and kinds[v].is_levels:
        return str(kinds[v].levels[level])
    return f"{float(model.fitted_.equations.embedding.value_of(np.array(level), v)):g}"  # type: ignore[attr-defined]


def _curve(model: "FittedGraph", equations: EquationsByKind, u: int, v: int) -> dict[str, Any]:
    embedding = equations.embedding
    grid = np.linspace(embedding.low[u], embedding.high[u], _POINTS)
    y = equations.effect(u, v, grid)[:, -1]
    title = f"{model.names_[u]} → {_head(model, equations, v)}"
    points = {"x": grid.tolist(), "y": (y - y.mean()).tolist()}
    return {"title": title, "label": str(model.names_[u]), **points}


def _levels(model: "FittedGraph", equations: EquationsByKind, u: int, v: int) -> list[list[Any]]:
    count = int(equations.embedding.widths[u]) + 1
    values = equations.embedding.value_of(np.arange(count), u)
    change = equations.effect(u, v, values)[:, -1]
    names = str(model.names_[u]), _head(model, equations, v)
    return [
        [names[0], _label(model, u, level), names[1], float(change[level] - change[0])]
        for level in range(1, count)
    ]
