"""``cosmodag evaluate``: an estimated graph scored against the true one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosmodag.cli._options import JsonOption
from cosmodag.cli._output import print_json, print_table, say
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.graphs import Graph

__all__ = ["evaluate"]


def evaluate(
    truth: Annotated[Path, typer.Argument(help="The true graph.")],
    estimate: Annotated[Path, typer.Argument(help="The estimated graph or weights.")],
    threshold: Annotated[
        float, typer.Option(help="Keep the arcs whose weight is above this in absolute value.")
    ] = 0.3,
    sid: Annotated[
        bool, typer.Option("--sid", help="Also intervention distances; both graphs acyclic.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Score an estimated graph against the true one.

    Each file is a list of arcs or an adjacency matrix as CSV (row u, column v is the arc u → v),
    GraphML, GML, DOT, DAGitty or JSON. Nodes are matched by name; a node only one file has counts
    as isolated in the other.
    """
    from cosmodag.io.graphs import read_graph
    from cosmodag.metrics import evaluate as score

    true_graph, graph = read_graph(truth), read_graph(estimate)
    names = _common_names(true_graph, graph, truth, estimate)
    pattern = true_graph.aligned(names).weights.astype(bool)
    pattern.data[:] = True  # a true arc may weigh zero
    scores = score(pattern, graph.aligned(names).weights, threshold, sid=sid)
    if json:
        print_json(scores)
    else:
        print_table(["score", "value"], [(key, _rounded(value)) for key, value in scores.items()])


def _common_names(true_graph: "Graph", graph: "Graph", truth: Path, estimate: Path) -> list[str]:
    """Return the names of the file that has more of them, which must have all of the other's."""
    wider, narrower = (true_graph, truth), (graph, estimate)
    if len(graph.names) > len(true_graph.names):
        wider, narrower = narrower, wider
    known = set(wider[0].names)
    stray = [name for name in narrower[0].names if name not in known]
    if stray:
        raise DataError(
            f"'{narrower[1]}' has the node {stray[0]!r}, which '{wider[1]}' has not: make the "
            "names agree, and list a node without arcs in one of the files."
        )
    isolated = len(known) - len(narrower[0].names)
    if isolated:
        say(f"note: '{narrower[1]}' does not mention {isolated} of the {len(known)} nodes.")
    return list(wider[0].names)


def _rounded(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"
