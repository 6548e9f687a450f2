"""Static matplotlib plots for papers and notebooks, with the content of the interactive page.

Each function draws on the given axes or on new ones, and returns them.
"""

import base64
import io
import os
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.fit.dag.assertions import OPEN
from cosmodag.fit.dag.basis import CURVES, FOUND, FREE, SCALE, WEAK
from cosmodag.fit.view.arcs import standardised_weights
from cosmodag.graph.dags import is_dag
from cosmodag.graph.texts import counted
from cosmodag.io.files import write_bytes
from cosmodag.io.graphs.read_graph import GraphLike, as_graph, is_model
from cosmodag.report.drawings import COLOURS
from cosmodag.report.evidence_section import checked_shares, resamples_of
from cosmodag.report.layout import layered_layout
from cosmodag.report.sentences import bases_in_order
from cosmodag.runtime.warning_filters import ignoring

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cosmodag.fit.view.fitted import FittedGraph
    from cosmodag.learners.structure_learner import StructureLearner

_INK, _NODE, _BORDER = "#1b2430", "#eef2f6", "#8a97a6"
_LINES: dict[str, Any] = {
    WEAK: "dashed",
    FOUND: "dashed",
    CURVES: (0, (7, 2)),
    "non-Gaussianity": (0, (7, 2)),
    "uneven noise": (0, (3, 3)),
    "equal variances": (0, (4, 2.5)),
    SCALE: (0, (3, 1.5)),
    FREE: (0, (1, 1.5)),
}
_ARCS = {basis: (colour, _LINES.get(basis, "solid")) for basis, colour in COLOURS.items()}
_POSITIVE, _NEGATIVE = "#0072B2", "#D55E00"
_OTHER = ("#555555", (0, (6, 2, 1, 2)))
_NAMED = 60  # largest number of variables whose names are drawn in full size, or along an axis
# Largest drawing that is written to a file: each node and arc takes 2 to 3 ms.
_MOST_NODES, _MOST_ARCS = 2_000, 10_000
_UNKNOWN = "unknown"  # basis of directions in a graph that is not a fitted model
# Without a date, the same graph gives the same file.
_NO_DATE: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


def plot_graph(graph: GraphLike, ax: "Axes | None" = None, *, legend: bool = True) -> "Axes":
    """Draw a graph in layers, causes above effects.

    The width of an arc shows its standardised weight, and its colour the basis of its direction. An
    arc whose direction is a free choice has no arrowhead. Any other acyclic graph that
    `cosmodag.io.as_graph` accepts is drawn with raw weights as widths, and arcs of one colour.

    Examples
    --------
    >>> from cosmodag import VarianceSort, simulate
    >>> model = VarianceSort().fit(simulate.load("n200_d5_ER1_gauss", seed=0).X)
    >>> ax = plot_graph(model)
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch

    names, edges, sizes, bases, grades = _parts_of(graph)
    layout = layered_layout(edges)
    x, y = layout.x, -layout.layer.astype(float)
    ax = _axes(ax, width=max(5.0, 1.1 * float(np.ptp(x)) + 2), height=1.0 - 0.9 * float(y.min()))
    shares = sizes / (sizes.max(initial=0.0) or 1.0)
    parts = zip(edges.row, edges.col, shares, bases, grades, strict=True)
    for u, v, share, basis, grade in parts:
        colour, line = _ARCS.get(basis, _OTHER)
        skips_layers = layout.layer[v] - layout.layer[u] > 1
        ax.add_patch(
            FancyArrowPatch(
                (x[u], y[u]),
                (x[v], y[v]),
                arrowstyle="-" if grade == OPEN else "-|>",
                mutation_scale=10,
                linewidth=0.8 + 2.0 * share,
                color=colour,
                linestyle=line,
                connectionstyle=f"arc3,rad={0.15 if skips_layers else 0.0}",
                shrinkA=11,
                shrinkB=11,
                alpha=0.9,
            )
        )
    box = {"boxstyle": "round,pad=0.35", "facecolor": _NODE, "edgecolor": _BORDER}
    size = 9 if len(x) <= _NAMED else 5
    for place, name in enumerate(names):
        # A dollar sign in a name must not start a formula.
        label = str(name).replace("$", r"\$")
        ax.text(
            x[place], y[place], label, ha="center", va="center", fontsize=size, color=_INK, bbox=box
        )
    ax.set_xlim(float(x.min()) - 0.8, float(x.max()) + 0.8)
    ax.set_ylim(float(y.min()) - 0.5, 0.5)
    ax.axis("off")
    found = bases_in_order(bases)
    if legend and found and found != [_UNKNOWN]:
        styles = [_ARCS.get(name, _OTHER) for name in found]
        lines = [Line2D([], [], color=colour, linestyle=line) for colour, line in styles]
        ax.legend(
            lines, found, title="basis of direction", fontsize=8, title_fontsize=8, loc="best"
        )
    return ax


def _parts_of(
    graph: GraphLike,
) -> tuple[list[str], sparse.coo_array, NDArray[Any], list[str], list[str]]:
    """Return names, arcs, absolute weights, and bases and grades of directions."""
    if is_model(graph):
        sizes = np.abs(np.nan_to_num(standardised_weights(graph)))
        names, assertions = [str(name) for name in graph.names_], graph.fitted_.assertions
        return names, graph.edges_, sizes, list(assertions.bases), list(assertions.grades)
    known = as_graph(graph)
    rows, columns, weights = known.arcs()
    edges = sparse.coo_array((weights, (rows, columns)), shape=known.weights.shape)
    if not is_dag(edges):
        raise DataError("The graph has a cycle, so it cannot be drawn in layers: drop arcs first.")
    unknown = [_UNKNOWN] * len(weights)
    return list(known.names), edges, np.abs(weights), unknown, unknown


def save_drawing(graph: GraphLike, path: "str | os.PathLike[str]", format: str) -> None:
    """Draw a graph as `plot_graph` does, and write it as PDF, SVG or PNG, atomically."""
    names, edges, *_ = _parts_of(graph)
    if len(names) > _MOST_NODES or edges.nnz > _MOST_ARCS:
        raise DataError(
            f"A graph of {len(names):,} nodes and {edges.nnz:,} arcs is too large to be drawn (at "
            f"most {_MOST_NODES:,} and {_MOST_ARCS:,}): write it as GraphML, or draw a part of it."
        )
    write_bytes(path, _picture(graph, format))


def thumbnail(model: "FittedGraph") -> str:
    """Draw a fitted graph as HTML for a notebook; with many variables, write a sentence only.

    >>> from cosmodag import VarianceSort
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 2, 3]
    >>> thumbnail(VarianceSort().fit(X)).startswith("<p>VarianceSort: ")
    True
    """
    d = model.n_features_in_
    text = f"{type(model).__name__}: {counted(model.edges_.nnz, 'arc')} among "
    text += counted(d, "variable")
    if d > _NAMED:
        return f"<p>{text}; <code>model.report('report.html')</code> draws them</p>"
    # As an image, a name in the picture cannot be read as HTML.
    picture = base64.b64encode(_picture(model, "svg")).decode()
    style = "max-width: 100%; max-height: 420px; background: white"
    return f'<p>{text}</p><img style="{style}" src="data:image/svg+xml;base64,{picture}">'


def _picture(graph: GraphLike, format: str) -> bytes:
    import matplotlib.pyplot as plt

    figure = cast("Figure", plot_graph(graph).figure)
    content = io.BytesIO()
    try:
        with plt.rc_context({"svg.hashsalt": "cosmodag"}), ignoring(UserWarning):
            # Matplotlib draws a box for each character that its font lacks, and warns of it.
            figure.savefig(content, format=format, metadata=_NO_DATE.get(format))
    finally:
        plt.close(figure)
    return content.getvalue()


def plot_matrix(model: "StructureLearner", ax: "Axes | None" = None) -> "Axes":
    """Draw the standardised weights as a heat map in causal order.

    Rows are causes and columns are effects, so all arcs are above the diagonal.

    Examples
    --------
    >>> from cosmodag import VarianceSort, simulate
    >>> model = VarianceSort().fit(simulate.load("n200_d5_ER1_gauss", seed=0).X)
    >>> ax = plot_matrix(model)
    """
    from matplotlib.colors import LinearSegmentedColormap

    edges = model.edges_
    weights = np.zeros(edges.shape)
    weights[edges.row, edges.col] = np.nan_to_num(standardised_weights(model))
    limit = float(np.abs(weights).max(initial=0.0)) or 1.0
    colours = LinearSegmentedColormap.from_list("weights", [_NEGATIVE, "white", _POSITIVE])
    return _heat_map(ax, weights, model, colours, (-limit, limit), "standardised weight")


def plot_history(model: "StructureLearner", ax: "Axes | None" = None) -> "Axes":
    """Draw the training history: the objective and, if there is one, the temperature."""
    history = getattr(model, "history_", None)
    if not history:
        raise DataError(
            f"{type(model).__name__} has no training history to plot: only trained learners have "
            "one."
        )
    ax = _axes(ax, width=5.5, height=3.8)
    clock = "epoch" if "epoch" in history[0] else "round"
    times = [record[clock] for record in history]
    _line(ax, times, [record["loss"] for record in history], "objective", "#0072B2", "solid")
    ax.set_xlabel(clock)
    other = next((name for name in ("temperature", "acyclicity") if name in history[0]), None)
    if other is not None:
        values = [record[other] for record in history]
        _line(ax.twinx(), times, values, other, "#D55E00", "dashed")
    return ax


def plot_stability(model: "StructureLearner", bootstrap: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of resamples in which each pair was joined, in causal order.

    Dots mark the arcs of the graph. A dark cell without a dot, in the cell itself or in its mirror
    image, is a pair that resamples often joined but the graph does not join. `bootstrap` is a
    :class:`cosmodag.assess.bootstrapping.BootstrapResult`, or an object with its probabilities.
    """
    order = model.order_
    shares = checked_shares(bootstrap.edge_shares, len(order))
    label = f"share of {counted(resamples_of(bootstrap), 'resample')}"
    ax = _heat_map(ax, shares, model, "Blues", (0, 1), label)
    place, edges = np.argsort(order), model.edges_
    size = max(1.0, min(24.0, 600.0 / len(order)))
    ax.scatter(
        place[edges.col], place[edges.row], s=size, color="#D55E00", label="arc of the graph"
    )
    return ax


def _heat_map(
    ax: "Axes | None",
    values: NDArray[Any],
    model: "StructureLearner",
    colours: Any,
    limits: tuple[float, float],
    label: str,
) -> "Axes":
    """Draw one value per pair of variables, with causes as rows and effects as columns."""
    ax = _axes(ax, width=6.0, height=5.0)
    ordered = values[np.ix_(model.order_, model.order_)]
    image = ax.imshow(ordered, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="equal")
    ax.figure.colorbar(image, ax=ax, label=label, shrink=0.85)
    names = [str(name).replace("$", r"\$") for name in model.causal_order_]
    if len(names) > _NAMED:
        names = []
    size = 8 if len(names) <= 30 else 6
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=size)
    ax.set_yticks(range(len(names)), names, fontsize=size)
    ax.set_xlabel("effect")
    ax.set_ylabel("cause")
    return ax


def _axes(ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the given axes, or new ones of the given size."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(min(width, 18.0), min(height, 14.0)), layout="constrained")[1]


def _line(
    ax: "Axes", times: list[float], values: list[float], label: str, colour: str, style: str
) -> None:
    ax.plot(times, values, color=colour, linestyle=style)
    if min(values) > 0 and max(values) > 50 * min(values):
        ax.set_yscale("log")
    ax.set_ylabel(label, color=colour)
