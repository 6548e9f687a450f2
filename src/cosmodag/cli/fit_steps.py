"""Steps of ``cosmodag fit``, and the files of its output folder."""

import json
import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cosmodag.cli.options.common import Format
from cosmodag.cli.options.learners import option_of
from cosmodag.cli.terminal.output import print_result, print_table, say
from cosmodag.cli.terminal.shell import command_line
from cosmodag.errors import DataError, InterruptedWarning
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.graph.texts import GraphFormat
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.report import Evidence
    from cosmodag.selection import Choice
    from cosmodag.stability import BootstrapResult

# Names of the files that not every fit writes.
_OPTIONAL = re.compile(r"graph(\.\w+)+|(adjacency|weights|bootstrap|summary)\.csv")
# Parameters that can be set with --auto, which chooses all others.
_SET_WITH_AUTO = ("knowledge", "kinds", "missing", "max_time", "random_state")


@contextmanager
def output_folder(folder: Path, quiet: bool = False) -> Iterator[None]:
    """Create the output folder before the fit; remove it if the fit fails."""
    is_new = not folder.exists()
    make_folder(folder)
    _check_writable(folder)
    try:
        yield
        if (folder / "run.json").exists() and not quiet:
            say(f"note: the files of an earlier fit in '{folder}' will be replaced.")
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


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


def check_names_for(formats: Sequence[Format], names: list[str]) -> None:
    """Refuse formats that cannot represent these names, before the fit starts."""
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

    ``facts`` are added to ``run.json``, and ``formats`` are further formats of the graph. Files
    that only an earlier fit wrote to the folder are removed, since they do not describe this one.
    Returns the paths of the files by content, and the arcs as ``edges.csv`` lists them.
    """
    import numpy as np
    import pandas as pd

    from cosmodag.io import Graph, graph_suffix, write_graph
    from cosmodag.io.files import write_text
    from cosmodag.io.files.writing import replaced_together
    from cosmodag.io.graphs.formats.networkx_text import dump_graphml
    from cosmodag.report import Evidence, write_cytoscape, write_report
    from cosmodag.report.answers import ANSWERS
    from cosmodag.report.saved import edge_list
    from cosmodag.report.sections import SUMMARY, summary_rows

    evidence = Evidence.of(model, data, bootstrap)
    arcs, edges = evidence.table(model), model.edges_
    names = [str(name) for name in model.names_]
    earlier = _files_of_earlier_fit(folder)
    run = _run_record(evidence, data, facts)
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
            name = cast("GraphFormat", format.value)
            if name not in {"graphml", "cyjs", *files}:
                files[name] = stage / f"graph{graph_suffix(name)}"
                write_graph(model, files[name], format=name)
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
        written = sorted(path.name for path in files.values())
        write_text(files["run"], json.dumps({**run, "written": written}, indent=2) + "\n")
    for outdated in earlier.difference(written):
        (folder / outdated).unlink(missing_ok=True)
    return {what: folder / path.name for what, path in files.items()}, arcs


def _files_of_earlier_fit(folder: Path) -> set[str]:
    """Read the names of the files that an earlier fit wrote to a folder from its ``run.json``."""
    try:
        written = list(json.loads((folder / "run.json").read_text(encoding="utf-8"))["written"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return set()
    # Whoever wrote run.json, only names that a fit gives are removed.
    return {name for name in written if isinstance(name, str) and _OPTIONAL.fullmatch(name)}


def _run_record(evidence: "Evidence", data: "Table", facts: dict[str, Any]) -> dict[str, Any]:
    """Return the content of ``run.json``: the command, the table, versions, and ``facts``."""
    from cosmodag.report.origin import file_hash, now, table_hash, versions
    from cosmodag.report.saved import run_facts

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


def choose_learner(
    data: "Table",
    fit_arguments: dict[str, Any],
    options: dict[str, Any],
    settings: dict[str, Any],
    quiet: bool,
) -> "Choice":
    """Choose and fit a learner; refuse options that --auto chooses itself."""
    from cosmodag import selection

    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in _SET_WITH_AUTO:
            raise DataError(f"--auto chooses {name} itself: leave {option_of(name)} out.")
    if settings:
        raise DataError("--auto chooses the learner's parameters itself: leave --set out.")
    if "regimes" in fit_arguments:
        raise DataError(
            "--auto does not compare regimes: choose a --method, or leave --regimes out."
        )
    given.setdefault("random_state", 0)
    return selection.auto(data, **fit_arguments, verbose=not quiet, **given)


def fitted(
    model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]
) -> "StructureLearner":
    """Fit a learner; after a first Ctrl-C or SIGTERM, return it with the graph learnt so far."""
    try:
        return model.fit(data, **fit_arguments)
    except KeyboardInterrupt:
        if getattr(model, "stopped_", None) != "interrupt":
            raise
        return model


def windows_for(model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]) -> "Table":
    """Return the complete windows that a model with lags learns from, else the table itself."""
    import numpy as np

    from cosmodag.fit.time.unroll import InTime, unroll

    if not model.lags:
        return data
    found = unroll(
        data, model.lags, InTime(fit_arguments.get("series"), fit_arguments.get("time"))
    ).table
    return found.of_rows(~np.isnan(found.X).any(axis=1))


def bootstrapped(
    model: "StructureLearner",
    data: "Table",
    fit_arguments: dict[str, Any],
    resamples: int | None,
    max_time: float | None,
    quiet: bool,
) -> "tuple[BootstrapResult | None, bool]":
    """Fit bootstrap resamples if requested, unless the fit itself was interrupted.

    A failure or an interruption of the resampling does not discard the fit. The second value is
    whether the fit or the resampling was interrupted.
    """
    if resamples is None or model.stopped_ == "interrupt":
        return None, model.stopped_ == "interrupt"
    from cosmodag.stability.bootstrap import BootstrapInterrupt, NoResampleError, bootstrap

    try:
        result = bootstrap(
            model,
            data,
            resamples,
            **fit_arguments,
            random_state=model.random_state,
            max_time=max_time,
            verbose=not quiet,
        )
    except NoResampleError as error:
        warnings.warn(str(error), InterruptedWarning, stacklevel=2)
        return None, False
    except BootstrapInterrupt as interrupt:
        done = len(interrupt.result.done)
        message = (
            f"{done or 'None'} of {resamples} resamples were fitted before the bootstrap was "
            "stopped."
        )
        warnings.warn(message, InterruptedWarning, stacklevel=2)
        return (interrupt.result if done else None), True
    return result, False


def print_arcs(arcs: "pd.DataFrame", limit: int, doubts: Sequence[str] = ()) -> None:
    """Print the arcs of largest standardised weight, at most ``limit``.

    An arc whose direction is a free choice is printed as a line. With resamples, the probabilities
    of edges and directions are printed too, or the reasons (``doubts``) why they are withheld.
    """
    from cosmodag.fit.dag.basis import FREE

    if not len(arcs):
        print_result("No arc found.")
        return
    numbers = {"standardised": "{:+.3f}", "weight": "{:+.4g}", "se": "{:.2g}", "t": "{:.1f}"}
    probabilities = {} if doubts else {"p_edge": "{:.2f}", "p_direction": "{:.2f}"}
    shown = {name: form for name, form in (numbers | probabilities).items() if name in arcs}
    head = ["cause", "", "effect", *shown, "basis of direction"]
    rows = [
        [
            str(arc["cause"]),
            "—" if arc["basis"] == FREE else "→",
            str(arc["effect"]),
            *["" if isnan(arc[name]) else form.format(arc[name]) for name, form in shown.items()],
            arc["basis"],
        ]
        for arc in arcs.head(limit).to_dict("records")
    ]
    title = (
        f"{counted(len(arcs), 'arc')}, {len(rows):,} shown, the largest standardised weight first"
    )
    print_table(head, rows, title=title)
    if doubts:
        print_result(f"Probabilities are withheld: {' '.join(doubts)}")


def print_targets(facts: dict[str, Any]) -> None:
    """Print the variables that change in each regime, the evidence, and findings about them."""
    targets = facts["targets"]
    if not targets:
        print_result("No variable changes between the regimes.")
    else:
        columns = ["regime", "variable", "stated", "evidence", "change"]
        print_table(columns, [[_cell(one[name]) for name in columns] for one in targets])
    for sentence in facts["findings"]:
        print_result(sentence)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "stated" if value else "found"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
