"""Further sections of the page, each made by a function of the fitted model.

Other parts of the package can add a section by appending a function to :data:`SECTIONS`; the page
itself needs no change.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.fit.dag.by_kind import EquationsByKind
from cosmodag.fit.view.arcs import largest_first, standardised_weights

if TYPE_CHECKING:
    from cosmodag.fit.view.fitted import FittedGraph


@dataclass(frozen=True)
class Section:
    """A section with a heading, text, and optionally a table and curves."""

    # Heading and paragraph
    title: str
    text: str = ""
    # A table: names of the columns, and cells (text or numbers)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    # Line plots, each with title, label (of the horizontal axis), x and y, and low and high if it
    # has a band
    curves: Sequence[dict[str, Any]] = field(default_factory=list)
    folded: bool = False  # whether only the heading is shown at first


SECTIONS: "list[Callable[[FittedGraph], Section | None]]" = []
"""Functions of a fitted model that return a section of its page, or None to omit it."""

SUMMARY = ["cause", "effect", "lag", "weight"]

_POINTS, _MOST_ARCS = 33, 60  # of a curve, and of a section

_EFFECTS = (
    "Effects on numeric variables are in the units of the variable, effects on counts are changes "
    "of log(1 + x), and effects on categories are changes of the log-odds of the named level "
    "against the first level."
)


def sections_of(model: "FittedGraph") -> list[dict[str, Any]]:
    """Collect the further sections of a model's page."""
    own = (block_section, regime_section, time_section)
    found = (section(model) for section in (*own, *SECTIONS))
    return [asdict(section) for section in found if section is not None]


def regime_section(model: "FittedGraph") -> Section | None:
    """List the targets of regimes with the evidence for each; None without regimes."""
    regimes = model.fitted_.regimes
    if regimes is None:
        return None
    facts = regimes.facts([str(name) for name in model.names_])
    rows: list[list[Any]] = [
        [
            one["regime"],
            one["variable"],
            "stated" if one["stated"] else "found",
            one["evidence"],
            one["change"],
        ]
        for one in facts["targets"]
    ]
    text = "" if rows else "No variable changes between the regimes. "
    return Section(
        "What changes between regimes",
        text + " ".join(facts["findings"]),
        ["regime", "variable", "target", "evidence", "change"],
        rows,
    )


def time_section(model: "FittedGraph") -> Section | None:
    """List which variable acts on which at which lag; None if rows are not in time."""
    if model.fitted_.window is None:
        return None
    text = "A lag of 1 refers to the previous row, a lag of 0 to the same row."
    return Section("Which variable acts on which, and when", text, SUMMARY, summary_rows(model))


def summary_rows(model: "FittedGraph") -> list[list[Any]]:
    """List the summary graph, one row for each pair and lag, with the columns `SUMMARY`."""
    return [
        [str(cause), str(effect), lag, weight]
        for cause, effect, facts in model.summary_graph_.edges(data=True)
        for lag, weight in zip(facts["lags"], facts["weights"], strict=True)
    ]


def block_section(model: "FittedGraph") -> Section | None:
    """Show the contributions of the strongest arcs; None without equations by kinds of columns."""
    dag = model.fitted_
    if not isinstance(dag.equations, EquationsByKind):
        return None
    edges = dag.edges
    curves: list[dict[str, Any]] = []
    rows: list[list[Any]] = []
    for arc in largest_first(standardised_weights(model), edges.data)[:_MOST_ARCS].tolist():
        u, v = int(edges.row[arc]), int(edges.col[arc])
        if dag.equations.embedding.is_levels(u):
            rows += _levels(model, dag.equations, u, v)
        else:
            curves.append(_curve(model, dag.equations, u, v))
    columns = ["cause", "level", "effect", "change from the first level"]
    reason = getattr(model, "curves_reason_", "")
    text = f"{reason} {dag.equations.effects_in_words} {_EFFECTS}".strip()
    return Section("Effects of the arcs", text, columns if rows else (), rows, curves, folded=True)


def _head(model: "FittedGraph", equations: EquationsByKind, v: int) -> str:
    """Name the quantity that an arc changes: the variable, or the last level of a category."""
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
