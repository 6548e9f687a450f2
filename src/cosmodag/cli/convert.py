"""``cosmodag convert``: convert a graph from one format to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosmodag.cli.shared.options import Format, QuietOption
from cosmodag.cli.shared.output import print_result, say
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.graphs import GraphFormat

__all__ = ["convert"]


def convert(
    given: Annotated[
        Path, typer.Argument(metavar="IN", help="The graph to read; - is standard input.")
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
    """Write a graph in another format: GraphML, GML, DOT, DAGitty, CSV or JSON.

    A .csv is written as a list of arcs or, with --to adjacency, as a matrix: row u, column v is the
    arc u → v. Weights and names survive exactly; a graph that the format cannot hold is refused.
    """
    from cosmodag.io import dump_graph, read_graph, write_graph

    graph = read_graph(given, format=_word(from_format))
    if str(wanted) == "-":
        if to_format is None:
            raise DataError("standard output has no file extension: name its format with --to.")
        print_result(dump_graph(graph, to_format.value).removesuffix("\n"))
        return
    write_graph(graph, wanted, format=_word(to_format))
    if not quiet:
        say(f"wrote '{wanted}': {len(graph.names)} nodes, {graph.number_of_arcs} arcs.")


def _word(format: Format | None) -> "GraphFormat | None":
    return None if format is None else format.value
