"""Regimes on the command line: options, reading, and what is printed of targets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cosmodag.cli.shared.knowledge import read_data
from cosmodag.cli.shared.output import print_result, print_table

if TYPE_CHECKING:
    from cosmodag.io.tables import Table

__all__ = ["FindTargetsOption", "RegimesOption", "print_targets", "read_experiments"]

RegimesOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the regime of each row, such as a treatment or a batch (empty: plain "
        "observations). The variables that change in a regime are found and printed.",
    ),
]
FindTargetsOption = Annotated[
    bool,
    typer.Option(
        "--find-targets/--stated-targets",
        help="With --regimes: whether variables that --interventions does not name may change.",
    ),
]


def read_experiments(
    path: Path, interventions: str | None, regimes: str | None, find_targets: bool, **reading: Any
) -> "tuple[Table, dict[str, Any]]":
    """Read a table, and what ``fit`` is told of its rows: targets and regimes."""
    from cosmodag.io.tables import read_apart

    if regimes is None:
        table, targets = read_data(path, interventions, **reading)
        return table, {"interventions": targets}
    apart = list(dict.fromkeys(one for one in (interventions, regimes) if one is not None))
    table, labels = read_apart(path, apart, **reading)
    targets = None if interventions is None else labels[interventions]
    told = {"interventions": targets, "regimes": labels[regimes], "find_targets": find_targets}
    return table, told


def print_targets(facts: dict[str, Any]) -> None:
    """Print the targets of regimes, with the evidence for each, and what is odd about them."""
    listed = facts["targets"]
    if not listed:
        print_result("No variable changes between the regimes.")
    else:
        columns = ["regime", "variable", "stated", "evidence", "change"]
        print_table(columns, [[_cell(one[name]) for name in columns] for one in listed])
    for sentence in facts["findings"]:
        print_result(sentence)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "stated" if value else "found"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
