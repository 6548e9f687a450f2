"""Commands on graphs in files: ``convert`` and ``evaluate``."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cosmodag.cli.options.common import JsonOption, QuietOption
from cosmodag.cli.options.saved_options import is_fit
from cosmodag.cli.terminal.output import print_json, print_result, print_table, say
from cosmodag.errors import DataError
from cosmodag.graph.texts import GraphFormat, counted

# The usual threshold for optimised weights, in papers and in `cosmodag.metrics`.
_RAW_CUT = 0.3


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="The graph to read: a file, the folder of a fit, or - for standard input.",
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write; - is standard output.")
    ],
    from_format: Annotated[
        GraphFormat | None,
        typer.Option("--from", help="Format of IN; by default from its file extension."),
    ] = None,
    to_format: Annotated[
        GraphFormat | None,
        typer.Option("--to", help="Format of OUT; by default from its file extension."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a graph in another format, or draw it.

    GraphML, GML, DOT, DAGitty, CSV, JSON and Cytoscape's .cyjs keep weights and names exactly; .bif
    has no probability tables, .txt (Tetrad) no weights. A .csv is written as a list of arcs or,
    with --to adjacency, as a matrix: row u, column v is the arc u → v. --to cpdag writes the
    equivalence class as text; .pdf, .svg and .png are drawings. A graph that the format cannot
    represent is refused.
    """
    from cosmodag.io import as_graph, dump_graph, read_graph, write_graph
    from cosmodag.io.graphs.formats import format_of_path
    from cosmodag.learners import load
    from cosmodag.report.saved_report import saved_pag

    if to_format is None and str(target) == "-":
        raise DataError("standard output has no file extension: give its format by --to.")
    # The model of a fit also has the equivalence class and the bases of directions.
    has_model = is_fit(source)
    found: Any = load(source) if has_model else read_graph(source, format=from_format)
    is_pag = has_model and format_of_path(target, to_format) == "pag"
    written = saved_pag(source, found) if is_pag else found
    if str(target) == "-":
        print_result(dump_graph(written, cast("GraphFormat", to_format)).removesuffix("\n"))
        return
    write_graph(written, target, to_format)
    if not quiet:
        graph = as_graph(found)
        say(
            f"wrote '{target}': {counted(len(graph.names), 'node')}, "
            f"{counted(graph.number_of_arcs, 'arc')}."
        )


def evaluate(
    truth: Annotated[Path, typer.Argument(help="The true graph: a file, or - for standard input.")],
    estimate: Annotated[
        Path, typer.Argument(help="The estimated graph or weights: a file, or the folder of a fit.")
    ],
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Keep arcs whose absolute weight is above this. Default: all arcs of an estimate "
            "without cycles, 0.3 for one with cycles.",
            show_default=False,
        ),
    ] = None,
    sid: Annotated[
        bool,
        typer.Option(
            "--sid",
            help="Also compute the structural intervention distance and related distances; both "
            "graphs must be acyclic.",
        ),
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score an estimated graph against the true one.

    Each is a folder that 'cosmodag fit' wrote, or a file: a list of arcs or an adjacency matrix as
    CSV (row u, column v is the arc u → v), GraphML, GML, DOT, DAGitty, JSON, Cytoscape, BIF, Tetrad
    or a saved model. Nodes are matched by name: one graph must have all nodes of the other, and its
    further nodes count as isolated in the other. Nodes of a matrix without names are matched by
    position.
    """
    from cosmodag.graph.dags import is_dag
    from cosmodag.metrics import evaluate as score
    from cosmodag.metrics.matrices import matched_graphs

    if str(truth) == str(estimate) == "-":
        raise DataError("standard input holds only one graph: give the other as a file.")
    pattern, graph, note = matched_graphs(truth, estimate, (f"'{truth}'", f"'{estimate}'"))
    if note and not quiet:
        say(f"note: {note}")
    # Weights with cycles come from an optimiser, before arcs were selected.
    is_raw = threshold is None and not is_dag(graph.weights)
    scores = score(pattern, graph, _RAW_CUT if is_raw else threshold, sid=sid)
    if is_raw and not quiet:
        say(
            f"note: '{estimate}' has cycles, so arcs of weight {_RAW_CUT} or less were left out; "
            "--threshold sets another limit."
        )
    if json:
        print_json(scores)
    else:
        shown = {k: v if isinstance(v, int) else f"{v:.4f}" for k, v in scores.items()}
        print_table(["score", "value"], list(shown.items()))
