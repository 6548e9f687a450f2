"""Graph formats: their names, and the reader and the writer of each that is text."""

from collections.abc import Callable

from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.formats import csv_text, networkx_text
from cosmodag.io.graphs.formats.bif_text import dump_bif, parse_bif
from cosmodag.io.graphs.formats.cyjs_text import dump_cyjs, parse_cyjs
from cosmodag.io.graphs.formats.dot_text import dump_dagitty, dump_dot, parse_dot
from cosmodag.io.graphs.formats.tetrad_text import dump_tetrad, parse_tetrad

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[Callable[[str, str], Graph], Callable[[Graph], str]]] = {
    "graphml": (networkx_text.parse_graphml, networkx_text.dump_graphml),
    "gml": (networkx_text.parse_gml, networkx_text.dump_gml),
    "dot": (parse_dot, dump_dot),
    "dagitty": (parse_dot, dump_dagitty),
    "edges": (csv_text.parse_edges, csv_text.dump_edges),
    "adjacency": (csv_text.parse_adjacency, lambda graph: "".join(csv_text.adjacency_lines(graph))),
    "json": (networkx_text.parse_json, networkx_text.dump_json),
    "cyjs": (parse_cyjs, dump_cyjs),
    "bif": (parse_bif, dump_bif),
    "tetrad": (parse_tetrad, dump_tetrad),
}
"""For each format that holds a directed graph as text: a reader, of the text and of the file's name
in messages, and a writer."""
