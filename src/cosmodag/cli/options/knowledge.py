"""Inputs of ``fit`` beside its table: background knowledge, and what is known of its rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

__all__ = ["input_facts", "read_data", "read_rows"]


def read_data(
    path: Path, interventions: str | None, **reading: Any
) -> "tuple[Table, list[Any] | None]":
    """Read a table and split off the column of interventions, if there is one."""
    table, entries = read_rows(path, {"interventions": interventions}, **reading)
    return table, entries.get("interventions")


def read_rows(
    path: Path, labels: dict[str, str | None], **reading: Any
) -> "tuple[Table, dict[str, Any]]":
    """Read a table, and apart from it the columns that describe its rows.

    ``labels`` gives the column of each argument of ``fit``: interventions, regimes, time, series;
    None for none. Interventions and regimes may be one column. ``reading`` is as for `read_table`.
    Returns the table, and the entries of each argument that has a column.
    """
    from cosmodag.io.tables.read import read_with_columns

    named = {what: column for what, column in labels.items() if column is not None}
    apart = list(dict.fromkeys(named.values()))
    for column in apart:
        using = {what for what, one in named.items() if one == column}
        if len(using) > 1 and using != {"interventions", "regimes"}:
            raise DataError(f"The column {column!r} is named by two options: name another.")
    table, entries = read_with_columns(path, apart, **reading)
    return table, {what: entries[column] for what, column in named.items()}


def input_facts(model: "StructureLearner", interventions: str | None) -> dict[str, Any]:
    """Describe knowledge, interventions and their assumptions for ``run.json``."""
    from cosmodag.data.interventions import ASSUMPTION

    known = model.knowledge_
    facts: dict[str, Any] = {"knowledge": None if known is None else known.facts()}
    sets = getattr(model, "target_sets_", None)
    if hasattr(model, "regimes_"):
        facts["regimes"] = model.regimes_.facts([str(name) for name in model.names_])
    elif sets is not None:
        names = model.names_
        named = [[str(names[v]) for v in range(len(names)) if row[v]] for row in sets]
        facts["interventions"] = {
            "column": interventions,
            "targets": [one for one in named if one],
            "assumption": ASSUMPTION,
        }
    return facts
