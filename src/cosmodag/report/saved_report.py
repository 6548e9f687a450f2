"""The report of a saved fit, from the folder that ``cosmodag fit`` wrote."""

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import Finding
from cosmodag.errors import DataError
from cosmodag.fit.files.saved import MODEL
from cosmodag.graph.texts import counted
from cosmodag.io.files import read_text
from cosmodag.io.files.record import check_written
from cosmodag.learners import load
from cosmodag.report.answers import ANSWERS, Answers
from cosmodag.report.evidence_section import Evidence
from cosmodag.report.page import write_report

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.graph.mixed.pag import PartialAncestralGraph
    from cosmodag.learners.structure_learner import StructureLearner

RUN, EDGES = "run.json", "edges.csv"

_NUMBER = (int, float)
# Larger than any count, time or score: an integer in JSON may have any number of digits.
_HUGE = 1e100
_ENTRIES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("table", "data", "sha256", "date", "command"), (str,)),
    **dict.fromkeys(("rows", "seconds", "auc", "nhd", "tpr", "fdr"), _NUMBER),
    **dict.fromkeys(("versions", "stability"), (dict,)),
    **dict.fromkeys(("findings", "warnings"), (list,)),
}
"""Entries of ``run.json`` that the report uses, with their types."""


def report_folder(folder: Path, path: Path) -> "StructureLearner":
    """Write the report of a saved fit, with the diagnosis stored in it; return the model.

    `folder` contains ``model.safetensors``, ``run.json``, ``edges.csv`` and ``answers.json``. It
    can also be a file in such a folder, or a model that was saved alone.
    """
    home, file = _folder_and_model(folder)
    model = load(file)
    if home is None:
        write_report(path, model)
        return model
    run = read_run(home / RUN)
    columns = _columns(home / EDGES, model)
    answers = _answers(home / ANSWERS, model)
    try:
        evidence = _evidence(run, columns, model.n_features_in_, answers)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise _changed(home / RUN) from None
    write_report(path, model, evidence, run)
    return model


def _folder_and_model(given: Path) -> tuple[Path | None, Path]:
    """Find the folder of a fit (None for a model that was saved alone) and the path to load."""
    if not given.is_file():
        return given, given
    if (given.parent / MODEL).is_file():
        return given.parent, given.parent
    if given.suffix.lower() != Path(MODEL).suffix:
        raise DataError(
            f"'{given}' is not a saved fit: give the folder that 'cosmodag fit' wrote to. "
            f"To draw a graph alone, use 'cosmodag convert {given} graph.pdf'."
        )
    return None, given


def _evidence(
    run: dict[str, Any], columns: dict[str, NDArray[np.float64]], variables: int, answers: Answers
) -> Evidence:
    stored = run.get("findings")
    findings = None
    if stored is not None:
        findings = [Finding(**{**one, "columns": tuple(one["columns"])}) for one in stored]
        texts = [text for one in findings for text in (one.name, one.severity, one.sentence)]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("the texts of a finding must be strings")
    stability = run.get("stability") or {}
    missed = [(int(u), int(v), float(share)) for u, v, share in stability.get("missed", [])]
    doubts = stability.get("doubts", [])
    are_known = all(0 <= end < variables for u, v, _ in missed for end in (u, v))
    if not are_known or not all(isinstance(doubt, str) for doubt in doubts):
        raise ValueError("the resamples are those of another model")
    return Evidence(
        errors=columns.get("se"),
        findings=findings,
        edge_probabilities=columns.get("p_edge"),
        direction_probabilities=columns.get("p_direction"),
        resamples=stability.get("resamples"),
        doubts=doubts,
        missed=missed,
        answers=answers,
    )


def edge_list(model: "StructureLearner", names: list[str], table: "pd.DataFrame") -> str:
    """Write the arcs of `Evidence.table` as CSV."""
    columns = [name for name in table if name not in ("cause", "effect")]
    edges, lines = model.edges_, io.StringIO()
    # Quoted names keep their spaces and may contain any character.
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["cause", "effect", *columns])
    for arc, *facts in table[columns].itertuples():
        cells = [None if isinstance(fact, float) and np.isnan(fact) else fact for fact in facts]
        writer.writerow([names[edges.row[arc]], names[edges.col[arc]], *cells])
    return lines.getvalue()


def node_list(model: "StructureLearner", names: list[str]) -> str:
    """Write the nodes as CSV: kind, place in the causal order, number of causes and effects."""
    edges, lines = model.edges_, io.StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["node", "kind", "place", "causes", "effects"])
    places = np.argsort(model.order_).tolist()
    degrees = [np.bincount(ends, minlength=len(names)).tolist() for ends in (edges.col, edges.row)]
    kinds = [kind.kind for kind in model.kinds_]
    writer.writerows(zip(names, kinds, places, *degrees, strict=True))
    return lines.getvalue()


def run_facts(evidence: Evidence) -> dict[str, Any]:
    """Collect the evidence that is stored in ``run.json`` rather than in ``edges.csv``."""
    facts: dict[str, Any] = {}
    if evidence.findings is not None:
        facts["findings"] = [
            {**asdict(one), "value": float(one.value)} for one in evidence.findings
        ]
    if evidence.resamples is not None:
        facts["stability"] = evidence.stability
    return facts


def saved_answers(folder: Path, model: "StructureLearner") -> Answers:
    """Read the answers of a saved fit; for a model saved alone, compute those that need no data."""
    home, _ = _folder_and_model(folder)
    return Answers.of(model) if home is None else _answers(home / ANSWERS, model)


def saved_pag(folder: Path, model: "StructureLearner") -> "PartialAncestralGraph":
    """Read the partial ancestral graph of a saved fit, whose model may not have its rows."""
    if model.fitted_.residuals is not None:
        return model.pag_
    names = [str(name) for name in model.names_]
    found = saved_answers(folder, model).pag_among(names)
    if found is None:
        raise DataError(
            f"'{folder}' has no partial ancestral graph, because it has too many columns or arcs, "
            "or is a model alone: run 'cosmodag fit --format pag', or 'cosmodag pag data.csv'."
        )
    return found


def _answers(path: Path, model: "StructureLearner") -> Answers:
    """Read the answers; beside a model saved alone, compute those that need no data."""
    if not path.is_file():
        return Answers.of(model)
    check_written(path)
    try:
        return Answers.read(json.loads(read_text(path)), model.n_features_in_)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
        raise _changed(path) from None


def read_run(path: Path) -> dict[str, Any]:
    """Read ``run.json``; return an empty dictionary if there is none."""
    if not path.is_file():
        return {}
    try:
        run = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise DataError(f"'{path}' is not JSON, or it is damaged: fit again.") from None
    if not isinstance(run, dict):
        raise DataError(f"'{path}' was not written by cosmodag: fit again.")
    run = {name: value for name, value in run.items() if value is not None}
    known = [(run[name], types) for name, types in _ENTRIES.items() if name in run]
    if not all(isinstance(value, types) for value, types in known):
        raise _changed(path)
    are_small = all(abs(value) < _HUGE for value, types in known if types is _NUMBER)
    sentences = run.get("warnings", [])
    if not are_small or not all(isinstance(sentence, str) for sentence in sentences):
        raise _changed(path)
    return run


def _changed(path: Path) -> DataError:
    return DataError(f"'{path}' was changed or damaged after cosmodag wrote it: fit again.")


def _columns(path: Path, model: "StructureLearner") -> dict[str, NDArray[np.float64]]:
    """Read the numeric columns of ``edges.csv``, in the order of ``edges_``."""
    if not path.is_file():
        return {}
    check_written(path)
    try:
        rows = [row for row in csv.DictReader(io.StringIO(read_text(path))) if row.get("effect")]
    except csv.Error:
        raise _changed(path) from None
    edges, names = model.edges_, [str(name) for name in model.names_]
    if len(rows) != edges.nnz:
        raise DataError(
            f"'{path}' has {counted(len(rows), 'arc')}, but the saved model has {edges.nnz:,}: fit "
            "again."
        )
    written = {(row.get("cause"), row["effect"]): row for row in rows}
    try:
        ranked = [written[names[u], names[v]] for u, v in zip(edges.row, edges.col, strict=True)]
        return {
            name: np.array([float(row[name] or "nan") for row in ranked])
            for name in ("se", "p_edge", "p_direction")
            if rows and rows[0].get(name) is not None
        }
    except (KeyError, ValueError):
        raise _changed(path) from None
