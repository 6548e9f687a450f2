"""What ``fit`` is told beside its table: knowledge, and which variables were set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

__all__ = ["InterventionsOption", "KnowledgeOption", "read_data", "told_facts"]

KnowledgeOption = Annotated[
    Path | None,
    typer.Option(
        help="What is known of the graph: a .yaml, .toml, .json or .csv file with forbidden and "
        "required arcs, tiers, exogenous variables, sinks."
    ),
]
InterventionsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that names, row by row, which variables were set from outside (empty for "
        "none, semicolons between several); it is no variable itself.",
    ),
]


def read_data(
    path: Path, interventions: str | None, **reading: Any
) -> "tuple[Table, list[Any] | None]":
    """Read a table, and apart from it the column that says what was set, if there is one."""
    from cosmodag.io.tables import read_table, read_with_labels

    if interventions is None:
        return read_table(path, **reading), None
    return read_with_labels(path, interventions, **reading)


def told_facts(model: "StructureLearner", interventions: str | None) -> dict[str, Any]:
    """Say for ``run.json`` what the learner was told, and what is assumed of it."""
    from cosmodag.data.interventions import ASSUMPTION

    known = model.knowledge_
    facts: dict[str, Any] = {"knowledge": None if known is None else known.facts()}
    sets = getattr(model, "target_sets_", None)
    if sets is not None:
        names = model.names_
        named = [[str(names[v]) for v in range(len(names)) if row[v]] for row in sets]
        facts["interventions"] = {
            "column": interventions,
            "targets": [one for one in named if one],
            "assumption": ASSUMPTION,
        }
    return facts
