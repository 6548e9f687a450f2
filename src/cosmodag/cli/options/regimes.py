"""Regimes on the command line: options, and what is printed of targets."""

from typing import Annotated, Any

import typer

from cosmodag.cli.terminal.output import print_result, print_table

__all__ = ["FindTargetsOption", "RegimesOption", "print_targets"]

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


def print_targets(facts: dict[str, Any]) -> None:
    """Print the targets of regimes, with the evidence for each, and findings about them."""
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
