"""The colours of arcs, and a file for Cytoscape."""

import json
import os
from typing import TYPE_CHECKING

from cosmodag._version import __version__
from cosmodag.fit.dag.basis import (
    CURVES,
    FOUND,
    FREE,
    INTERVENTIONS,
    KNOWLEDGE,
    SCALE,
    SHAPE,
    STATED,
    TIME,
    WEAK,
)
from cosmodag.io.files import write_text
from cosmodag.io.graphs.formats.program_texts import cyjs_elements
from cosmodag.report.layout import layered_layout

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.view.fitted import FittedGraph

_ACROSS, _DOWN = 110, 90  # distances of nodes for Cytoscape

# Colours that readers with any kind of colour vision can tell apart (Okabe and Ito).
COLOURS = {
    SHAPE: "#0072B2",
    WEAK: "#56B4E9",
    STATED: "#1D1D1D",
    TIME: "#332288",
    KNOWLEDGE: "#AA4488",
    INTERVENTIONS: "#009E73",
    FOUND: "#009E73",
    CURVES: "#7A5195",
    "non-Gaussianity": "#B87A00",
    "uneven noise": "#B87A00",
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
