"""The output folder of ``cosmodag fit`` and its files."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag.cli.terminal.output import say
from cosmodag.cli.terminal.shell import command_line
from cosmodag.errors import DataError
from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.graph.texts import GraphFormat
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.report import Evidence

_FORMAT = "cosmodag-fit-2"  # described in docs/schemas/fit.schema.json
# Files of a fit, by content; those of matrices are left out for very many variables.
FILES = {
    "graph": "graph.graphml",
    "cytoscape": "graph.cyjs",
    "edges": "edges.csv",
    "nodes": "nodes.csv",
    "adjacency": "adjacency.csv",
    "weights": "weights.csv",
    "model": "model.safetensors",
    "answers": "answers.json",
    "report": "report.html",
    "run": "run.json",
}
_BOOTSTRAP, _SUMMARY = "bootstrap.csv", "summary.csv"


@contextmanager
def output_folder(folder: Path, names: Iterable[str], quiet: bool = False) -> Iterator[None]:
    """Create the output folder before the fit; remove it if the fit fails.

    `names` are those of the files that will be written; files of these names that no earlier fit
    wrote belong to the user, and are not replaced.
    """
    from cosmodag.io.files.record import written_files

    is_new = not folder.exists()
    make_folder(folder)
    _check_writable(folder)
    written, names = written_files(folder), list(names)
    for name in names:
        # Only the files of a fit are recorded.
        is_recorded = name in written or FILES["run"] not in names
        if (folder / name).is_file() and not is_recorded:
            raise DataError(
                f"'{folder / name}' is not the file of a fit that run.json records: move or remove "
                "it, or give another output."
            )
        if (folder / name).is_dir():
            raise DataError(
                f"'{folder / name}' is a folder, but a file of this name is to be written: remove "
                "or rename it, or give another output."
            )
    try:
        yield
        if written and not quiet:
            say(f"note: the files of an earlier fit in '{folder}' will be replaced.")
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def file_names(formats: "Sequence[GraphFormat]", *, bootstrap: bool, summary: bool) -> list[str]:
    """List the names of the files that a fit writes to its folder."""
    from cosmodag.io import graph_suffix

    further = {_BOOTSTRAP: bootstrap, _SUMMARY: summary}
    return [
        *FILES.values(),
        *[f"graph{graph_suffix(format)}" for format in formats],
        *[name for name, is_written in further.items() if is_written],
    ]


def make_folder(folder: Path) -> None:
    """Create the output folder; refuse a path that leads to a file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(f"The output '{folder}' is not a folder: give another path.") from None


def _check_writable(folder: Path) -> None:
    """Create and delete a file, because permissions do not show a read-only disk."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None


def write_results(
    folder: Path,
    model: "StructureLearner",
    data: "Table",
    facts: dict[str, Any],
    formats: "Sequence[GraphFormat]" = (),
    bootstrap: "BootstrapResult | None" = None,
) -> "tuple[dict[str, Path], pd.DataFrame]":
    """Write the graph, the weights, the model and the report: all files or none, ``run.json`` last.

    ``facts`` are added to ``run.json``, and ``formats`` are further formats of the graph. Files
    that only an earlier fit wrote to the folder are removed, since they do not describe this one,
    unless they were changed. ``run.json`` has the hash of each file, by which a reader knows that
    all are of one fit.
    Returns the paths of the files by content, and the arcs as ``edges.csv`` lists them.
    """
    import numpy as np
    import pandas as pd

    from cosmodag.io import Graph, graph_suffix, write_graph
    from cosmodag.io.files import write_text
    from cosmodag.io.files.writing import replaced_together
    from cosmodag.io.graphs.formats.networkx_text import dump_graphml
    from cosmodag.report import Evidence, write_cytoscape, write_report
    from cosmodag.report.origin import file_hash
    from cosmodag.report.saved_report import edge_list, node_list
    from cosmodag.report.sections import SUMMARY, summary_rows

    evidence = Evidence.of(model, data, bootstrap)
    arcs, edges = evidence.table(model), model.edges_
    names = [str(name) for name in model.names_]
    run = _run_record(evidence, data, facts)
    by_place = arcs.sort_index().iloc[np.lexsort((edges.col, edges.row))]
    facts_of_arcs = {
        name: by_place[name].tolist() for name in ("standardised", "basis", "grade", "class")
    }
    with replaced_together(folder, lambda: _unchanged_files(folder)) as stage:
        files = {content: stage / name for content, name in FILES.items()}
        write_text(files["graph"], dump_graphml(Graph(names, edges), facts_of_arcs))
        write_text(files["edges"], edge_list(model, names, arcs))
        write_text(files["nodes"], node_list(model, names))
        write_cytoscape(files["cytoscape"], model, arcs)
        if hasattr(model, "weights_"):
            write_graph(Graph(names, model.adjacency_), files["adjacency"], format="adjacency")
            write_graph(Graph(names, model.weights_), files["weights"], format="adjacency")
        else:
            del files["adjacency"], files["weights"]
        for format in formats:
            if format not in {"graphml", "cyjs", *files}:
                files[format] = stage / f"graph{graph_suffix(format)}"
                write_graph(model, files[format], format=format)
        model.save(files["model"])
        if bootstrap is not None:
            files["bootstrap"] = stage / _BOOTSTRAP
            write_text(files["bootstrap"], bootstrap.edges().to_csv(index=False))
        write_text(files["answers"], json.dumps(evidence.answers.facts()) + "\n")
        if model.fitted_.window is not None:
            files["summary"] = stage / _SUMMARY
            summary = pd.DataFrame(summary_rows(model), columns=SUMMARY)
            write_text(files["summary"], summary.to_csv(index=False, lineterminator="\n"))
        write_report(files["report"], model, evidence, run)
        written = {path.name: file_hash(path) for path in sorted(stage.iterdir())}
        write_text(files["run"], json.dumps({**run, "written": written}, indent=2) + "\n")
    return {what: folder / path.name for what, path in files.items()}, arcs


def _unchanged_files(folder: Path) -> list[Path]:
    """List the files of an earlier fit in a folder that are unchanged since."""
    from cosmodag.io.files.record import written_files
    from cosmodag.report.origin import file_hash

    written = {folder / Path(name).name: known for name, known in written_files(folder).items()}
    return [path for path, known in written.items() if path.is_file() and file_hash(path) == known]


def _run_record(evidence: "Evidence", data: "Table", facts: dict[str, Any]) -> dict[str, Any]:
    """Return the content of ``run.json``: the command, the table, versions, and ``facts``."""
    from cosmodag.report.origin import file_hash, now, table_hash, versions
    from cosmodag.report.saved_report import run_facts

    table, used = Path(facts.get("table", "")), versions()
    return {
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


def facts_of(model: "StructureLearner") -> dict[str, Any]:
    """Describe a fitted learner and its graph for ``run.json``."""
    window = model.fitted_.window
    return {
        "format": _FORMAT,
        "rows": len(model.residuals_),
        "variables": model.n_features_in_ if window is None else window.d,
        "method": LEARNERS[type(model).__name__].command,
        "missing": getattr(model, "missing_report_", None),
        "kinds": {
            str(name): kind.facts()
            for name, kind in zip(model.names_, model.kinds_, strict=True)
            if kind.kind != "continuous"
        },
        "arcs": int(model.edges_.nnz),
        "was_cyclic": model.was_cyclic_,
        "stopped": model.stopped_,
        "backend": getattr(model, "backend_", None),
        "converged": getattr(model, "converged_", None),
        "noise": getattr(model, "noise_", None),
        "noise_reason": getattr(model, "noise_reason_", None),
        "noise_scores": getattr(model, "noise_scores_", None),
        "starts": getattr(model, "refine_report_", None),
        "basis": dict(Counter(model.arrow_basis_)),
        "grade": dict(Counter(model.arrow_grades_)),
        "directions": model.fitted_.assertions.sentence,
        "class": {
            "directed": len(model.cpdag_.directed),
            "undirected": len(model.cpdag_.undirected),
        },
        "lags": 0 if window is None else window.lags,
    }


def advice_for(model: "StructureLearner", table: str) -> str:
    """Advise to state what the names of columns show, if directions are left to the data."""
    from cosmodag.data.knowledge.early_columns import early_columns
    from cosmodag.errors import name_list

    dag = model.fitted_
    names = [name for tier in early_columns(dag.texts) for name in tier]
    if not names or dag.knowledge is not None or dag.window is not None:
        return ""
    if dag.assertions.are_determined or len(names) == dag.d:
        return ""
    return (
        f"First advice: {name_list(names)} can hardly be caused by other columns. State it: "
        f"cosmodag knowledge --template {table} > known.yaml, then --knowledge known.yaml."
    )


def input_facts(model: "StructureLearner", interventions: str | None) -> dict[str, Any]:
    """Describe knowledge, interventions or regimes, and what is assumed, for ``run.json``."""
    from cosmodag.data.interventions import ASSUMPTION

    known = model.knowledge_
    facts: dict[str, Any] = {"knowledge": None if known is None else known.facts()}
    sets = getattr(model, "target_sets_", None)
    if hasattr(model, "regimes_"):
        facts["regimes"] = model.regimes_.facts([str(name) for name in model.names_])
    elif sets is not None:
        names = model.names_
        targets = [[str(names[v]) for v in range(len(names)) if row[v]] for row in sets]
        facts["interventions"] = {
            "column": interventions,
            "targets": [one for one in targets if one],
            "assumption": ASSUMPTION,
        }
    return facts
