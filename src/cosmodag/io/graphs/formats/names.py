"""Names of graph formats, and detection of the format of a file or text."""

import re
from pathlib import Path
from typing import cast, get_args

from cosmodag.errors import DataError
from cosmodag.graph.texts import GraphFormat

__all__ = [
    "MARKED",
    "PICTURES",
    "GraphFormat",
    "checked_format",
    "format_of_path",
    "format_of_text",
    "graph_suffix",
]

MARKED = ("cpdag", "pag")
"""Texts of graphs whose edges need not have a direction."""

PICTURES = ("pdf", "svg", "png")

_FORMATS = get_args(GraphFormat)
# The longest ending that fits a name counts.
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
    """Detect a format by the beginning of a text; CSV if nothing else matches."""
    first = re.sub(r"(#|//).*", "", text[:2000]).lstrip()
    return next(
        (name for name, beginning in _BEGINNINGS.items() if re.match(beginning, first)), "edges"
    )


def checked_format(format: str | None) -> GraphFormat | None:
    """Refuse an unknown format."""
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
