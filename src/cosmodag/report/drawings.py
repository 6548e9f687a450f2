"""Drawings without the page: inline SVG for notebooks, and a file for Cytoscape."""

import json
import os
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from cosmodag._version import __version__
from cosmodag.fit.dag.assertions import OPEN
from cosmodag.fit.dag.basis import (
    CURVES,
    FOUND,
    FREE,
    INTERVENTIONS,
    KNOWLEDGE,
    SCALE,
    SHAPE,
    TIME,
    WEAK,
)
from cosmodag.graph.texts import counted
from cosmodag.io.files import write_text
from cosmodag.io.graphs.formats.program_texts import cyjs_elements
from cosmodag.report.layout import layered_layout

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.view.fitted import FittedGraph

_MOST = 60  # largest number of variables for a legible picture
_ACROSS, _DOWN = 110, 90  # distances of nodes for Cytoscape
_ROW = 62  # distance of layers in the SVG

_DASHES = {
    "equal variances": "6 4",
    "non-Gaussianity": "10 3",
    CURVES: "10 3",
    FOUND: "8 3",
    SCALE: "4 2",
    FREE: "2 3",
    WEAK: "8 3",
}

# Colours that readers with any kind of colour vision can tell apart (Okabe and Ito).
COLOURS = {
    SHAPE: "#0072B2",
    WEAK: "#56B4E9",
    TIME: "#332288",
    KNOWLEDGE: "#AA4488",
    INTERVENTIONS: "#009E73",
    FOUND: "#009E73",
    CURVES: "#7A5195",
    "non-Gaussianity": "#B87A00",
    "equal variances": "#D55E00",
    SCALE: "#8C5A3C",
    FREE: "#767676",
}


def write_cytoscape(
    path: str | os.PathLike[str], model: "FittedGraph", arcs: "pd.DataFrame | None" = None
) -> None:
    """Write a fitted graph as Cytoscape JSON, which Cytoscape and Cytoscape.js open.

    Nodes have ``name``. Arcs have ``weight``, ``standardised``, ``interaction`` (the basis of their
    direction), its ``grade``, and ``class`` (whether the equivalence class has them directed), from
    `arcs` if that table was computed before, otherwise from ``model.arcs_``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from cosmodag import VarianceSort
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = VarianceSort().fit(x @ [[1, 2], [0, 1]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.cyjs"
    >>> write_cytoscape(path, model)
    >>> [arc["data"]["source"] for arc in json.loads(path.read_text())["elements"]["edges"]]
    ['0']
    """
    edges, layout = model.edges_, layered_layout(model.edges_)
    table = (model.arcs_ if arcs is None else arcs).sort_index()
    renamed = table.rename(columns={"basis": "interaction"})
    facts = renamed[["weight", "standardised", "interaction", "grade", "class"]].to_dict("records")
    elements = cyjs_elements([str(name) for name in model.names_], edges.row, edges.col, facts)
    for node, x, layer in zip(elements["nodes"], layout.x, layout.layer, strict=True):
        node["position"] = {"x": float(x * _ACROSS), "y": float(layer * _DOWN)}
    document = {
        "format_version": "1.0",
        "generated_by": f"cosmodag-{__version__}",
        "target_cytoscapejs_version": "~3.0",
        "data": {"name": type(model).__name__},
        "elements": elements,
    }
    write_text(path, json.dumps(document, ensure_ascii=False) + "\n")


def thumbnail(model: "FittedGraph") -> str:
    """Draw a fitted graph as HTML with an inline SVG; with many variables, write a sentence only.

    >>> import numpy as np
    >>> from cosmodag import VarianceSort
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 2, 3]
    >>> thumbnail(VarianceSort().fit(X)).startswith("<div")
    True
    """
    d, edges = model.n_features_in_, model.edges_
    text = f"{type(model).__name__}: {counted(edges.nnz, 'arc')} among {counted(d, 'variable')}"
    if d > _MOST:
        text += "; <code>model.report('report.html')</code> draws them"
    picture = "" if d > _MOST else _drawing(model)
    return (
        f'<div style="font-family: sans-serif"><p style="margin: 0 0 4px">{text}</p>{picture}</div>'
    )


def _drawing(model: "FittedGraph") -> str:
    edges, layout = model.edges_, layered_layout(model.edges_)
    assertions = model.fitted_.assertions
    names = map(str, model.names_)
    labels = [name if len(name) <= 18 else name[:17] + "…" for name in names]
    widths = np.array([7.5 * len(label) + 16 for label in labels])
    x = layout.x * (float(widths.max()) + 12)
    y = layout.layer.astype(float) * _ROW
    parts = [
        _arc(x[u], y[u], x[v], y[v], basis, grade)
        for u, v, basis, grade in zip(
            edges.row, edges.col, assertions.bases, assertions.grades, strict=True
        )
    ]
    parts += [_node(*place) for place in zip(x, y, widths, labels, strict=True)]
    left, width = float((x - widths / 2).min()) - 4, float(np.ptp(x) + widths.max()) + 8
    height = float(y.max()) + 40
    return (
        f'<svg viewBox="{left:.0f} -20 {width:.0f} {height:.0f}" '
        f'style="max-width: min(100%, {width:.0f}px); max-height: 420px" font-size="13">'
        f"{''.join(parts)}</svg>"
    )


def _node(x: float, y: float, width: float, label: str) -> str:
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - 13:.0f}" width="{width:.0f}" height="26" rx="6" '
        f'fill="#eef2f6" stroke="#8a97a6"/>'
        f'<text x="{x:.0f}" y="{y + 4.5:.0f}" text-anchor="middle" fill="#1b2430">'
        f"{escape(label)}</text>"
    )


def _arc(x1: float, y1: float, x2: float, y2: float, basis: str, grade: str) -> str:
    """Draw an arc from the lower edge of a node to the upper edge of a node in a later layer.

    It has no arrowhead if its direction is open.
    """
    colour = COLOURS.get(basis, COLOURS[FREE])
    y1, y2 = y1 + 13, y2 - 13
    bend = (y2 - y1) * 0.45
    dash = f' stroke-dasharray="{_DASHES[basis]}"' if basis in _DASHES else ""
    is_open = grade == OPEN
    head = "" if is_open else f'<path d="M{x2:.0f} {y2:.0f} l-4 -8 h8 Z" fill="{colour}"/>'
    return (
        f'<path d="M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} '
        f'{x2:.0f} {y2 - (0 if is_open else 6):.0f}" '
        f'fill="none" stroke="{colour}" stroke-width="1.5"{dash}>'
        f"<title>{escape(basis)}</title></path>{head}"
    )
