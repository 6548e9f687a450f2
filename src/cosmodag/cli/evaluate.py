"""``cosmodag evaluate``: score an estimated graph against the true one."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cosmodag.cli.shared.options import JsonOption, QuietOption
from cosmodag.cli.shared.output import print_json, print_table, say
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.graphs import Graph

__all__ = ["evaluate"]

# The usual threshold for optimised weights, in papers and in `cosmodag.metrics`.
_RAW_CUT = 0.3


def evaluate(
    truth: Annotated[Path, typer.Argument(help="The true graph; - is standard input.")],
    estimate: Annotated[Path, typer.Argument(help="The estimated graph or weights.")],
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Keep arcs whose absolute weight is above this. Default: 0 for an "
            "estimate without cycles, 0.3 for one with cycles.",
            show_default=False,
        ),
    ] = None,
    sid: Annotated[
        bool,
        typer.Option(
            "--sid", help="Also compute intervention distances; needs two acyclic graphs."
        ),
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score an estimated graph against the true one.

    Each file is a list of arcs or an adjacency matrix as CSV (row u, column v is the arc u → v),
    GraphML, GML, DOT, DAGitty or JSON. Nodes are matched by name; a node that only one file has
    counts as isolated in the other. Nodes of a matrix without names are matched by position.
    """
    from cosmodag.io.graphs import read_graph
    from cosmodag.metrics import evaluate as score

    if str(truth) == str(estimate) == "-":
        raise DataError("standard input holds one graph: give the other as a file.")
    true_graph, graph = _matched(read_graph(truth), read_graph(estimate))
    names = _common_names(true_graph, graph, truth, estimate, quiet)
    pattern = true_graph.aligned(names).weights.astype(bool)
    pattern.data[:] = True  # a true arc may weigh zero
    weights = graph.aligned(names).weights
    cut = _default_cut(weights) if threshold is None else threshold
    scores = score(pattern, weights, cut, sid=sid)
    if threshold is None and cut > 0 and not quiet:
        say(
            f"note: '{estimate}' has cycles, so arcs of weight {cut} or less were left out; "
            "--threshold sets another limit."
        )
    if json:
        print_json(scores)
    else:
        print_table(["score", "value"], [(key, _rounded(value)) for key, value in scores.items()])


def _default_cut(weights: Any) -> float:
    """Return the default threshold: 0 for a DAG, whose arcs are already chosen.

    Weights with cycles come from an optimiser, before any arcs were chosen.
    """
    from cosmodag.graph.dags import is_dag

    return 0.0 if is_dag(weights) else _RAW_CUT


def _matched(true_graph: "Graph", graph: "Graph") -> "tuple[Graph, Graph]":
    """Copy names to a nameless graph from the other one, if both have the same size."""
    one, other = set(true_graph.names), set(graph.names)
    if one != other and len(one) == len(other):
        if _is_nameless(graph):
            return true_graph, replace(graph, names=true_graph.names)
        if _is_nameless(true_graph):
            return replace(true_graph, names=graph.names), graph
    return true_graph, graph


def _is_nameless(graph: "Graph") -> bool:
    """Whether the names are x0, x1, … in this order, the default for a matrix without names."""
    return list(graph.names) == [f"x{index}" for index in range(len(graph.names))]


def _common_names(
    true_graph: "Graph", graph: "Graph", truth: Path, estimate: Path, quiet: bool
) -> list[str]:
    """Return the names of the larger graph, which must include all names of the other."""
    wider, narrower = (true_graph, truth), (graph, estimate)
    if len(graph.names) > len(true_graph.names):
        wider, narrower = narrower, wider
    known = set(wider[0].names)
    stray = [name for name in narrower[0].names if name not in known]
    if stray and (_is_nameless(narrower[0]) or _is_nameless(wider[0])):
        raise DataError(
            f"'{truth}' has {len(true_graph.names)} nodes and '{estimate}' {len(graph.names)}, and "
            "one of them has no names: give both the same nodes, or give both names."
        )
    if stray:
        raise DataError(
            f"'{narrower[1]}' has the node {stray[0]!r}, which '{wider[1]}' lacks: make the "
            "names agree, or list the node without arcs in that file."
        )
    isolated = len(known) - len(narrower[0].names)
    if isolated and not quiet:
        say(f"note: '{narrower[1]}' does not mention {isolated} of the {len(known)} nodes.")
    return list(wider[0].names)


def _rounded(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"
