"""What ``fit`` writes into its folder."""

import csv
import io
import json
import platform
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag._version import __version__
from cosmodag.cli._options import Format
from cosmodag.cli._output import say
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.graphs import GraphFormat
    from cosmodag.learners import StructureLearner
    from cosmodag.stability import BootstrapResult

__all__ = ["check_names_for", "output_folder", "strongest_arcs", "write_results"]


@contextmanager
def output_folder(folder: Path, quiet: bool = False) -> Iterator[None]:
    """Make the output folder before the work, and take it back if nothing came of that."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(f"The output '{folder}' is not a folder: give another one.") from None
    _check_writable(folder)
    try:
        yield
        if (folder / "run.json").exists() and not quiet:
            say(f"note: '{folder}' holds an earlier fit, whose files are replaced.")
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def _check_writable(folder: Path) -> None:
    """Write to the folder and take it back: permissions alone do not tell of a read-only disk."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None


def check_names_for(formats: Sequence[Format], names: list[str]) -> None:
    """Refuse, before the work, formats that cannot hold these names."""
    from scipy import sparse

    from cosmodag.io import Graph, dump_graph

    unconnected = Graph(names, sparse.csr_array((len(names), len(names))))
    for format in (Format.GRAPHML, *formats):
        dump_graph(unconnected, format.value)


def write_results(
    folder: Path,
    model: "StructureLearner",
    names: list[str],
    facts: dict[str, Any],
    formats: Sequence[Format] = (),
    sure: "BootstrapResult | None" = None,
) -> dict[str, Path]:
    """Write the graph, the weights and the model, each atomically, and ``run.json`` last.

    Parameters
    ----------
    folder : Path
    model : StructureLearner
        Fitted.
    names : list of str
    facts : dict
        What ``run.json`` is to say.
    formats : sequence of Format
        Formats of graphs beside GraphML, the list of arcs and the matrix.
    sure : BootstrapResult, optional
        How probable each arc is.

    Returns
    -------
    dict
        The files by what they hold.
    """
    from cosmodag.io import Graph, graph_suffix, write_graph
    from cosmodag.io.files import write_text

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
    write_text(files["edges"], _edge_list(model, names, sure))
    if hasattr(model, "weights_"):
        write_graph(graph, files["adjacency"], format="adjacency")
        write_graph(Graph(names, model.weights_), files["weights"], format="adjacency")
    else:
        del files["adjacency"], files["weights"]
    for format in formats:
        word: GraphFormat = format.value
        if word not in {"graphml", *files}:
            files[word] = folder / f"graph{graph_suffix(word)}"
            write_graph(graph, files[word], format=word)
    model.save(files["model"])
    if sure is not None:
        files["bootstrap"] = folder / "bootstrap.csv"
        write_text(files["bootstrap"], sure.edges().to_csv(index=False))
    write_text(files["run"], json.dumps({**facts, **_origin()}, indent=2) + "\n")
    return files


def _edge_list(
    model: "StructureLearner", names: list[str], sure: "BootstrapResult | None" = None
) -> str:
    """List the arcs and what their directions rest on; an isolated node has a line to itself."""
    edges = model.edges_
    lines = io.StringIO()
    # Quoted names keep their blanks, and may hold anything.
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    columns: dict[str, list[Any]] = {
        "cause": [names[u] for u in edges.row],
        "effect": [names[v] for v in edges.col],
        "weight": edges.data.tolist(),
        "basis": model.arrow_basis_,
    }
    if sure is not None:
        columns["probability"] = sure.arc_probabilities[edges.row, edges.col].tolist()
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    ends = {*edges.row.tolist(), *edges.col.tolist()}
    blank = [""] * (len(columns) - 1)
    writer.writerows((name, *blank) for node, name in enumerate(names) if node not in ends)
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
