"""``cosmodag convert``: convert a graph from one format to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cosmodag.cli.options.common import Format, QuietOption
from cosmodag.cli.terminal.output import print_result, say
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.graph.texts import GraphFormat

__all__ = ["convert"]


def convert(
    given: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="The graph to read: a file, the folder of a fit, or - for standard input.",
        ),
    ],
    wanted: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write; - is standard output.")
    ],
    from_format: Annotated[
        Format | None,
        typer.Option("--from", help="Format of IN; by default from its file extension."),
    ] = None,
    to_format: Annotated[
        Format | None,
        typer.Option("--to", help="Format of OUT; by default from its file extension."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a graph in another format, or draw it.

    GraphML, GML, DOT, DAGitty, CSV, JSON and Cytoscape's .cyjs keep weights and names exactly; .bif
    holds the structure, .txt (Tetrad) no weights. A .csv is written as a list of arcs or, with --to
    adjacency, as a matrix: row u, column v is the arc u → v. --to cpdag writes the equivalence
    class as text; .pdf, .svg and .png are drawings. A graph that the format cannot hold is refused.
    """
    from cosmodag.cli.fits.saved import is_fit
    from cosmodag.io import as_graph, dump_graph, read_graph, write_graph
    from cosmodag.learners import load

    # Of a fit the model, which has the class and the bases of directions.
    source = load(given) if is_fit(given) else read_graph(given, format=_word(from_format))
    format = _word(to_format)
    if str(wanted) == "-":
        if format is None:
            raise DataError("standard output has no file extension: name its format with --to.")
        print_result(dump_graph(source, format).removesuffix("\n"))
        return
    write_graph(source, wanted, format)
    if not quiet:
        graph = as_graph(source)
        say(f"wrote '{wanted}': {len(graph.names)} nodes, {graph.number_of_arcs} arcs.")


def _word(format: Format | None) -> "GraphFormat | None":
    return None if format is None else cast("GraphFormat", format.value)
