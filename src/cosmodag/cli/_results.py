"""What ``fit`` writes into its folder."""

import csv
import io
import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag._version import __version__
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.learners import StructureLearner

__all__ = ["output_folder", "strongest_arcs", "write_results"]


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Make the output folder before the work, and take it back if nothing came of that."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(f"The output '{folder}' is not a folder: give another one.") from None
    try:
        yield
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def write_results(
    folder: Path, model: "StructureLearner", names: list[str], facts: dict[str, Any]
) -> dict[str, Path]:
    """Write the graph, the weights and the model, each atomically, and ``run.json`` last.

    Returns
    -------
    dict
        The files by what they hold.
    """
    from cosmodag.io.files import write_text
    from cosmodag.io.graphs import Graph, write_graph

    graph = Graph(names, model.adjacency_)
    files = {
        "graph": folder / "graph.graphml",
        "edges": folder / "edges.csv",
        "adjacency": folder / "adjacency.csv",
        "weights": folder / "weights.csv",
        "model": folder / "model.safetensors",
        "run": folder / "run.json",
    }
    write_graph(graph, files["graph"])
    write_text(files["edges"], _edge_list(model, names))
    if hasattr(model, "weights_"):
        write_graph(graph, files["adjacency"], format="adjacency")
        write_graph(Graph(names, model.weights_), files["weights"], format="adjacency")
    else:
        del files["adjacency"], files["weights"]
    model.save(files["model"])
    write_text(files["run"], json.dumps({**facts, **_origin()}, indent=2) + "\n")
    return files


def _edge_list(model: "StructureLearner", names: list[str]) -> str:
    """List the arcs and what their directions rest on; an isolated node has a line to itself."""
    edges = model.edges_
    lines = io.StringIO()
    # Quoted names keep their blanks, and may hold anything.
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["cause", "effect", "weight", "basis"])
    arcs = zip(edges.row, edges.col, edges.data.tolist(), model.arrow_basis_, strict=True)
    writer.writerows((names[u], names[v], weight, basis) for u, v, weight, basis in arcs)
    ends = {*edges.row.tolist(), *edges.col.tolist()}
    writer.writerows((name, "", "", "") for node, name in enumerate(names) if node not in ends)
    return lines.getvalue()


def strongest_arcs(model: "StructureLearner", names: list[str], most: int) -> list[tuple[Any, ...]]:
    """List the arcs of largest weight: cause, effect, weight, what the direction rests on."""
    import numpy as np

    edges, basis = model.edges_, model.arrow_basis_
    strongest = np.argsort(-np.abs(edges.data), kind="stable")[:most]
    return [
        (names[edges.row[i]], names[edges.col[i]], float(edges.data[i]), basis[i])
        for i in strongest
    ]


def _origin() -> dict[str, str]:
    return {"cosmodag": __version__, "python": platform.python_version()}
