"""The page again, from the folder that ``cosmodag fit`` wrote."""

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.diagnose import Finding
from cosmodag.errors import DataError
from cosmodag.io.files import read_text
from cosmodag.learners import load
from cosmodag.report.evidence import Evidence
from cosmodag.report.page import write_report

if TYPE_CHECKING:
    from cosmodag.learners.base import StructureLearner

__all__ = ["EDGES", "MODEL", "RUN", "edge_list", "report_folder", "run_facts"]

MODEL, RUN, EDGES = "model.safetensors", "run.json", "edges.csv"


def report_folder(folder: Path, path: Path) -> "StructureLearner":
    """Write the report of a saved fit, with all that the fit knew of its data.

    Parameters
    ----------
    folder : Path
        With ``model.safetensors``, ``run.json`` and ``edges.csv``.
    path : Path
        The page to make or replace.

    Returns
    -------
    fitted learner
        The one that was saved.
    """
    if not (folder / MODEL).is_file():
        raise DataError(
            f"'{folder}' holds no {MODEL}: give the folder that 'cosmodag fit' wrote to."
        )
    model = load(folder / MODEL)
    run = _run(folder / RUN)
    columns = _columns(folder / EDGES, model.edges_.nnz)
    told = run.get("findings")
    stability = run.get("stability") or {}
    evidence = Evidence(
        errors=columns.get("standard_error"),
        findings=None if told is None else [_finding(one) for one in told],
        probabilities=columns.get("probability"),
        resamples=stability.get("resamples"),
        missed=[(int(u), int(v), float(share)) for u, v, share in stability.get("missed", [])],
    )
    write_report(path, model, evidence, run)
    return model


def edge_list(model: "StructureLearner", names: list[str], evidence: Evidence) -> str:
    """List the arcs and what is known of them; an isolated node has a line to itself."""
    edges = model.edges_
    columns: dict[str, Any] = {"weight": edges.data.tolist(), "basis": model.arrow_basis_}
    for name, values in (
        ("standard_error", evidence.errors),
        ("probability", evidence.probabilities),
    ):
        if values is not None:
            columns[name] = [None if np.isnan(value) else float(value) for value in values]
    lines = io.StringIO()
    # Quoted names keep their blanks, and may hold anything.
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["cause", "effect", *columns])
    for u, v, *facts in zip(edges.row, edges.col, *columns.values(), strict=True):
        writer.writerow([names[u], names[v], *facts])
    ends = {*edges.row.tolist(), *edges.col.tolist()}
    alone = (name for node, name in enumerate(names) if node not in ends)
    writer.writerows((name, "", *[""] * len(columns)) for name in alone)
    return lines.getvalue()


def run_facts(evidence: Evidence) -> dict[str, Any]:
    """Give what ``run.json`` must hold of the evidence, beside the columns of the arcs."""
    facts: dict[str, Any] = {}
    if evidence.findings is not None:
        facts["findings"] = [
            {
                "name": one.name,
                "columns": list(one.columns),
                "value": float(one.value),
                "severity": one.severity,
                "sentence": one.sentence,
            }
            for one in evidence.findings
        ]
    if evidence.resamples is not None:
        facts["stability"] = {"resamples": evidence.resamples, "missed": evidence.missed}
    return facts


def _run(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        run = json.loads(read_text(path))
    except json.JSONDecodeError:
        raise DataError(f"'{path}' is not JSON, or it is damaged.") from None
    if not isinstance(run, dict):
        raise DataError(f"'{path}' was not written by cosmodag.")
    return run


def _finding(told: dict[str, Any]) -> Finding:
    return Finding(**{**told, "columns": tuple(told["columns"])})


def _columns(path: Path, arcs: int) -> dict[str, NDArray[np.float64]]:
    """Read the numbers beside the arcs, in the order of ``edges_``, as the fit wrote them."""
    if not path.is_file():
        return {}
    rows = [row for row in csv.DictReader(io.StringIO(read_text(path))) if row.get("effect")]
    if len(rows) != arcs:
        raise DataError(f"'{path}' has {len(rows)} arcs, the saved model {arcs}: fit again.")
    return {
        name: np.array([float(row[name] or "nan") for row in rows])
        for name in ("standard_error", "probability")
        if rows and rows[0].get(name) is not None
    }
