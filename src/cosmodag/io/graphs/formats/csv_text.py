"""Graphs as CSV: a list of arcs, or a square matrix of weights with names."""

import csv
import io
import math
import re
from collections.abc import Iterator

import numpy as np

from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import check_names, numbered_names
from cosmodag.io.graphs.digraph import Graph, graph_from_names, number
from cosmodag.io.tables.text_records import fields, find_separator, first_records

END_NAMES = (("source", "target"), ("cause", "effect"), ("from", "to"), ("parent", "child"))
"""Pairs of column names for the ends of an arc."""

_PLAIN = re.compile(r"[\w.()/+-](?:[\w.()/+ -]*[\w.()/+-])?")


def dump_edges(graph: Graph) -> str:
    """Write ``source,target,weight``, one line per arc; an isolated node has its own line."""
    lines = ["source,target,weight"]
    joined: set[str] = set()
    for source, target, weight in graph.named_arcs():
        lines.append(f"{_quoted(source)},{_quoted(target)},{weight!r}")
        joined |= {source, target}
    lines += [f"{_quoted(name)},," for name in graph.names if name not in joined]
    return "\n".join([*lines, ""])


def adjacency_lines(graph: Graph) -> Iterator[str]:
    """Yield the lines of the matrix of weights, row u and column v for the arc u → v."""
    sources, targets, values = graph.arcs()
    if (values == 0).any():
        arc = int(np.flatnonzero(values == 0)[0])
        raise DataError(
            f"the arc from {graph.names[sources[arc]]!r} to {graph.names[targets[arc]]!r} weighs "
            "zero, which in an adjacency matrix means no arc: write an edge list or GraphML."
        )
    names = [_quoted(name) for name in graph.names]
    starts = np.searchsorted(sources, np.arange(len(names) + 1)).tolist()
    columns, weights = targets.tolist(), values.tolist()
    yield ",".join(['""', *names]) + "\n"
    for row, name in enumerate(names):
        here = slice(starts[row], starts[row + 1])
        pieces, filled = [name], 0
        for column, weight in zip(columns[here], weights[here], strict=True):
            pieces += [",0" * (column - filled), f",{weight!r}"]
            filled = column + 1
        yield "".join([*pieces, ",0" * (len(names) - filled), "\n"])


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def is_edge_list(text: str) -> bool:
    """Whether a CSV is an edge list: its first line names both ends of an arc.

    The first line of a matrix starts with an empty cell, or has only names of variables.
    """
    try:
        records = first_records(io.StringIO(text, newline=""))
        first = fields(records[0], find_separator(records)) if records else [""]
    except csv.Error:  # reported when the file is read
        return False
    return first[0].strip() != "" and _end_columns(first) is not None


def _end_columns(header: list[str]) -> tuple[int, int] | None:
    names = [name.strip().lower() for name in header]
    known = ((u, v) for u, v in END_NAMES if u in names and v in names)
    return next(((names.index(u), names.index(v)) for u, v in known), None)


def _rows(text: str, source: str) -> list[list[str]]:
    """Split a CSV into rows of fields; spaces around a field are kept only within quotes."""
    try:
        lines = io.StringIO(text, newline="")
        records = first_records(lines)
        if not records:
            raise DataError(f"{source} is empty: it holds no graph.")
        lines.seek(0)
        reader = csv.reader(lines, delimiter=find_separator(records), skipinitialspace=True)
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise DataError(f"{source} cannot be read as CSV: {error}.") from error
    if '"' not in text:
        rows = [[field.strip() for field in row] for row in rows]
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DataError(
                f"row {index + 1} of {source} has {counted(len(row), 'field')} where "
                f"{len(rows[0])} are expected: give every row as many fields as the first."
            )
    return rows


def parse_edges(text: str, source: str) -> Graph:
    """Read an edge list: two columns for cause and effect, and optionally ``weight``.

    Nodes are in order of first appearance. A line without an effect is an isolated node.
    """
    header, *rows = _rows(text, source)
    ends = _end_columns(header)
    if ends is None:
        raise DataError(
            f"{source} has no columns for the ends of an arc: name two 'source' and 'target'."
        )
    names = [name.strip().lower() for name in header]
    weight = names.index("weight") if "weight" in names else None
    nodes: dict[str, None] = {}
    arcs: list[tuple[str, str, float]] = []
    for row in rows:
        start, end = row[ends[0]], row[ends[1]]
        nodes.update(dict.fromkeys((start, end) if end else (start,)))
        if end:
            value = 1.0 if weight is None else number(row[weight], source)
            arcs.append((start, end, value))
    return graph_from_names(list(nodes), arcs, source)


def parse_adjacency(text: str, source: str) -> Graph:
    """Read a square matrix of weights, with names in the first line and optionally in each row.

    The nodes of a square matrix of numbers without names are called ``x0, x1, …``.
    """
    header, *rows = _rows(text, source)
    if len(rows) + 1 == len(header) and _are_numbers(header):
        header, rows = numbered_names(len(header)), [header, *rows]
    labelled = len(rows) == len(header) - 1
    names = header[1:] if labelled else header
    if len(rows) != len(names):
        raise DataError(
            f"{source} has {counted(len(rows), 'row')} below {counted(len(names), 'name')}: an "
            "adjacency matrix is square, and a list of arcs begins with a line such as "
            "'source,target'."
        )
    check_names(names, source)
    weights = np.empty((len(names), len(names)))
    for index, row in enumerate(rows):
        if labelled and row[0] != names[index]:
            raise DataError(
                f"row {index + 1} of {source} is called {row[0]!r} but column {index + 1} "
                f"{names[index]!r}: give rows and columns the same names in the same order."
            )
        cells = row[1:] if labelled else row
        try:
            weights[index] = [float(cell) for cell in cells]
        except ValueError as error:
            raise DataError(
                f"the row of {names[index]!r} in {source} holds something other than numbers: "
                "write 0 if there is no arc."
            ) from error
    try:
        return Graph(names, weights)
    except DataError as error:
        raise DataError(f"{source} cannot be used as a graph: {error}") from error


def _are_numbers(cells: list[str]) -> bool:
    try:
        return all(math.isfinite(float(cell)) for cell in cells)
    except ValueError:
        return False
