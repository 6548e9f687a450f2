"""A folder that ``fit`` wrote, read again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag.cli.options.inputs import read_data

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

__all__ = ["is_fit", "is_table_of_fit", "read_for", "rows_of_fit"]


def is_fit(path: Path) -> bool:
    """Whether a path is the folder of a fit, or the model in it."""
    from cosmodag.fit.files.saved import MODEL

    return (path / MODEL).is_file() or path.suffix.lower() == ".safetensors"


def read_for(
    model: "StructureLearner", path: Path, interventions: str | None
) -> "tuple[Table, list[Any] | None]":
    """Read the columns of a model from a table, in the order of the model."""
    names = model.fitted_.texts
    held = zip(names, model.fitted_.kinds, strict=False)
    declared = [name for name, kind in held if kind.is_levels]
    table, labels = read_data(path, interventions, missing="keep", columns=names, declared=declared)
    places = [table.names.index(name) for name in names]
    return table.of_columns(places), labels


def rows_of_fit(folder: Path) -> int | None:
    """Read how many rows the table of a fit had; None where the folder does not say."""
    rows = _run(folder).get("rows")
    return rows if isinstance(rows, int) and 0 < rows < 2**63 else None


def is_table_of_fit(folder: Path, table: Path) -> bool:
    """Whether a file is the one that was fitted, byte for byte."""
    from cosmodag.report.origin import file_hash

    return table.is_file() and _run(folder).get("sha256") == file_hash(table)


def _run(folder: Path) -> dict[str, Any]:
    """Read ``run.json``; return an empty dict where it is absent or damaged."""
    from cosmodag.io.files import read_text
    from cosmodag.report.saved import RUN

    try:
        found = json.loads(read_text(folder / RUN))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
