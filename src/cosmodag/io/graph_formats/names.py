"""The formats of graphs: their names, and how a file or a text tells which it has."""

import re
from pathlib import Path
from typing import Literal, cast, get_args

from cosmodag.errors import DataError

__all__ = ["GraphFormat", "checked_format", "format_of_path", "format_of_text", "graph_suffix"]

GraphFormat = Literal["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json"]

_FORMATS = get_args(GraphFormat)
_SUFFIXES = {
    ".graphml": "graphml",
    ".gml": "gml",
    ".dot": "dot",
    ".gv": "dot",
    ".dagitty": "dagitty",
    ".csv": "edges",
    ".json": "json",
}
_BEGINNINGS = {
    "graphml": r"<",
    "json": r"\{",
    "gml": r"(?i)(creator\b[^\n]*\s+)?graph\s*\[",
    "dot": r"(?i)(strict\s+)?[a-z]+\b[^,;\n]*\{",
}


def graph_suffix(format: GraphFormat) -> str:
    """Return how the names of files in a format end, ``.csv`` for an adjacency matrix too."""
    return next((end for end, known in _SUFFIXES.items() if known == format), ".csv")


def format_of_text(text: str) -> str:
    """Tell a format by how the text begins; what begins like no other is CSV."""
    first = re.sub(r"(#|//).*", "", text[:2000]).lstrip()
    return next(
        (name for name, beginning in _BEGINNINGS.items() if re.match(beginning, first)), "edges"
    )


def checked_format(format: str | None) -> GraphFormat | None:
    """Refuse a format that is not known."""
    if format is not None and format not in _FORMATS:
        raise DataError(
            f"the graph format {format!r} is not known: choose one of {', '.join(_FORMATS)}."
        )
    return cast(GraphFormat | None, format)


def format_of_path(path: Path, format: str | None = None) -> str:
    """Take the format that was asked for, or else tell it by the end of the path."""
    chosen = checked_format(format) or _SUFFIXES.get(path.suffix.lower())
    if chosen is None:
        raise DataError(
            f"the format of '{path}' cannot be told: end its name in one of "
            f"{', '.join(_SUFFIXES)}, or give a format ({', '.join(_FORMATS)})."
        )
    return chosen
