"""Files that ``fit`` writes to its output folder."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cosmodag.cli.options.common import Format
from cosmodag.cli.terminal.output import say
from cosmodag.cli.terminal.shell import command_line
from cosmodag.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.graph.texts import GraphFormat
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.stability import BootstrapResult


@contextmanager
def output_folder(folder: Path, quiet: bool = False) -> Iterator[None]:
    """Create the output folder before the fit; remove it if the fit fails."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(f"The output '{folder}' is not a folder: give another path.") from None
    _check_writable(folder)
    try:
        yield
        if (folder / "run.json").exists() and not quiet:
            say(f"note: the files of an earlier fit in '{folder}' will be replaced.")
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def _check_writable(folder: Path) -> None:
    """Write and delete a file, because permissions do not reveal a read-only disk."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None


def check_names_for(formats: Sequence[Format], names: list[str]) -> None:
    """Refuse formats that cannot hold these names, before the fit starts."""
    from cosmodag.io.graphs.write import check_names_for_format

    for format in ("graphml", *formats):
        check_names_for_format(names, cast("GraphFormat", str(format)))


def write_results(
    folder: Path,
    model: "StructureLearner",
    data: "Table",
    facts: dict[str, Any],
    formats: Sequence[Format] = (),
    bootstrap: "BootstrapResult | None" = None,
) -> "tuple[dict[str, Path], pd.DataFrame]":
    """Write the graph, the weights, the model and the report: all files or none, ``run.json`` last.

    ``facts`` are the content of ``run.json``, ``formats`` further graph formats beside GraphML, the
    list of arcs and the matrix. Returns the paths of the files by content, and the arcs as
    ``edges.csv`` lists them.
    """
    import numpy as np
    import pandas as pd

    from cosmodag.io import Graph, graph_suffix, write_graph
    from cosmodag.io.files import write_text
    from cosmodag.io.files.writing import replaced_together
    from cosmodag.io.graphs.formats.networkx_text import dump_graphml
    from cosmodag.report import Evidence, write_cytoscape, write_report
    from cosmodag.report.answers import ANSWERS
    from cosmodag.report.origin import file_hash, now, table_hash, versions
    from cosmodag.report.saved import edge_list, run_facts
    from cosmodag.report.sections import SUMMARY, summary_rows

    evidence = Evidence.of(model, data, bootstrap)
    arcs, edges = evidence.table(model), model.edges_
    names = [str(name) for name in model.names_]
    table, used = Path(facts.get("table", "")), versions()
    run = {
        "command": command_line(),
        "date": now(),
        "rows": len(data.X),
        "sha256": file_hash(table) if table.is_file() else table_hash(data.X),
        "versions": used,
        "cosmodag": used["cosmodag"],
        "python": used["python"],
        **run_facts(evidence),
        **facts,
    }
    by_place = arcs.sort_index().iloc[np.lexsort((edges.col, edges.row))]
    facts_of_arcs = {name: by_place[name].tolist() for name in ("standardised", "basis", "class")}
    with replaced_together(folder) as stage:
        files = {
            "graph": stage / "graph.graphml",
            "cytoscape": stage / "graph.cyjs",
            "edges": stage / "edges.csv",
            "adjacency": stage / "adjacency.csv",
            "weights": stage / "weights.csv",
            "model": stage / "model.safetensors",
            "answers": stage / ANSWERS,
            "report": stage / "report.html",
            "run": stage / "run.json",
        }
        write_text(files["graph"], dump_graphml(Graph(names, edges), facts_of_arcs))
        write_text(files["edges"], edge_list(model, names, arcs))
        write_cytoscape(files["cytoscape"], model, arcs)
        if hasattr(model, "weights_"):
            write_graph(Graph(names, model.adjacency_), files["adjacency"], format="adjacency")
            write_graph(Graph(names, model.weights_), files["weights"], format="adjacency")
        else:
            del files["adjacency"], files["weights"]
        for format in formats:
            word = cast("GraphFormat", format.value)
            if word not in {"graphml", "cyjs", *files}:
                files[word] = stage / f"graph{graph_suffix(word)}"
                write_graph(model, files[word], format=word)
        model.save(files["model"])
        if bootstrap is not None:
            files["bootstrap"] = stage / "bootstrap.csv"
            write_text(files["bootstrap"], bootstrap.edges().to_csv(index=False))
        write_text(files["answers"], json.dumps(evidence.answers.facts()) + "\n")
        if model.fitted_.window is not None:
            files["summary"] = stage / "summary.csv"
            summary = pd.DataFrame(summary_rows(model), columns=SUMMARY)
            write_text(files["summary"], summary.to_csv(index=False, lineterminator="\n"))
        write_report(files["report"], model, evidence, run)
        write_text(files["run"], json.dumps(run, indent=2) + "\n")
    return {what: folder / path.name for what, path in files.items()}, arcs
