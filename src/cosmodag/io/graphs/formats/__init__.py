"""Graph formats: their names and file extensions, and the readers and writers of text formats."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast, get_args

from cosmodag.errors import DataError
from cosmodag.graph.texts import GraphFormat
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.formats import csv_text, dot_text, networkx_text, program_texts

TEXTS: dict[str, tuple[Callable[[str, str], Graph], Callable[[Graph], str]]] = {
    "graphml": (networkx_text.parse_graphml, networkx_text.dump_graphml),
    "gml": (networkx_text.parse_gml, networkx_text.dump_gml),
    "dot": (dot_text.parse_dot, dot_text.dump_dot),
    "dagitty": (dot_text.parse_dot, dot_text.dump_dagitty),
    "edges": (csv_text.parse_edges, csv_text.dump_edges),
    "adjacency": (csv_text.parse_adjacency, lambda graph: "".join(csv_text.adjacency_lines(graph))),
    "json": (networkx_text.parse_json, networkx_text.dump_json),
    "cyjs": (program_texts.parse_cyjs, program_texts.dump_cyjs),
    "bif": (program_texts.parse_bif, program_texts.dump_bif),
    "tetrad": (program_texts.parse_tetrad, program_texts.dump_tetrad),
}
"""Reader and writer of each text format of directed graphs; a reader takes the text, and the name
of the file in messages."""

MARKED = ("cpdag", "pag")
"""Text formats of graphs with undirected or open edges."""

PICTURES = ("pdf", "svg", "png")

_FORMATS = get_args(GraphFormat)
# The first suffix that matches counts: longer ones precede shorter ones.
_SUFFIXES = {
    ".graphml": "graphml",
    ".gml": "gml",
    ".dot": "dot",
    ".gv": "dot",
    ".dagitty": "dagitty",
    ".csv": "edges",
    ".json": "json",
    ".cyjs": "cyjs",
    ".bif": "bif",
    ".cpdag.txt": "cpdag",
    ".pag.txt": "pag",
    ".txt": "tetrad",
    ".pdf": "pdf",
    ".svg": "svg",
    ".png": "png",
}
_BEGINNINGS = {
    "graphml": r"<",
    "cyjs": r"\{(?=[\s\S]*\"elements\"\s*:)",
    "json": r"\{",
    "tetrad": r"(?i)graph\s+nodes:",
    "bif": r"network\b[^{]*\{",
    "gml": r"(?i)(creator\b[^\n]*\s+)?graph\s*\[",
    "dot": r"(?i)(strict\s+)?[a-z]+\b[^,;\n]*\{",
}


def graph_suffix(format: GraphFormat) -> str:
    """Return the file extension of a format; ``.csv`` also for an adjacency matrix."""
    return next((end for end, known in _SUFFIXES.items() if known == format), ".csv")


def format_of_text(text: str) -> str:
    """Detect the format of a text by its beginning; an edge list if nothing else matches."""
    first = re.sub(r"(#|//).*", "", text[:2000]).lstrip()
    return next(
        (name for name, beginning in _BEGINNINGS.items() if re.match(beginning, first)), "edges"
    )


def checked_format(format: str | None) -> GraphFormat | None:
    """Return the format; refuse an unknown one."""
    if format is not None and format not in _FORMATS:
        raise DataError(
            f"the graph format {format!r} is not known: choose one of {', '.join(_FORMATS)}."
        )
    return cast(GraphFormat | None, format)


def format_of_path(path: Path, format: str | None = None) -> str:
    """Return the requested format, or detect it from the file extension."""
    name = path.name.lower()
    by_name = next((known for end, known in _SUFFIXES.items() if name.endswith(end)), None)
    chosen = checked_format(format) or by_name
    if chosen is None:
        raise DataError(
            f"the format of '{path}' is not clear from its name: end the name in one of "
            f"{', '.join(_SUFFIXES)}, or give a format ({', '.join(_FORMATS)})."
        )
    return chosen
