"""``cosmodag evaluate``: score an estimated graph against the true one."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cosmodag.cli.options.common import JsonOption, QuietOption
from cosmodag.cli.terminal.output import print_json, print_table, say
from cosmodag.errors import DataError

__all__ = ["evaluate"]

# The usual threshold for optimised weights, in papers and in `cosmodag.metrics`.
_RAW_CUT = 0.3


def evaluate(
    truth: Annotated[Path, typer.Argument(help="The true graph: a file, or - for standard input.")],
    estimate: Annotated[
        Path, typer.Argument(help="The estimated graph or weights: a file, or the folder of a fit.")
    ],
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

    Each is a folder that 'cosmodag fit' wrote, or a file: a list of arcs or an adjacency matrix as
    CSV (row u, column v is the arc u → v), GraphML, GML, DOT, DAGitty, JSON, Cytoscape, BIF, Tetrad
    or a saved model. Nodes are matched by name; a node that only one has counts as isolated in the
    other. Nodes of a matrix without names are matched by position.
    """
    from cosmodag.metrics import evaluate as score
    from cosmodag.metrics.named_graphs import matched

    if str(truth) == str(estimate) == "-":
        raise DataError("standard input holds one graph: give the other as a file.")
    pattern, graph, note = matched(truth, estimate, (f"'{truth}'", f"'{estimate}'"))
    if note and not quiet:
        say(f"note: {note}")
    cut = _default_cut(graph.weights) if threshold is None else threshold
    scores = score(pattern, graph, cut, sid=sid)
    if threshold is None and cut > 0 and not quiet:
        say(
            f"note: '{estimate}' has cycles, so arcs of weight {cut} or less were left out; "
            "--threshold sets another limit."
        )
    if json:
        print_json(scores)
    else:
        shown = {k: v if isinstance(v, int) else f"{v:.4f}" for k, v in scores.items()}
        print_table(["score", "value"], list(shown.items()))


def _default_cut(weights: Any) -> float:
    """Return the default threshold: 0 for a DAG, whose arcs are already chosen.

    Weights with cycles come from an optimiser, before any arcs were chosen.
    """
    from cosmodag.graph.dags import is_dag

    return 0.0 if is_dag(weights) else _RAW_CUT
