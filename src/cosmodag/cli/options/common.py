"""Arguments and options that several commands share, one alias each.

A command declares an option as ``name: Alias = default``. Options that always occur together are a
dataclass, which the command receives as one parameter (`cosmodag.cli.terminal.shell.register`).
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from cosmodag.cli.options.learners import Method
from cosmodag.graph.texts import GraphFormat

# An enumeration, because Typer does not accept a list of literals.
Format = StrEnum("Format", [(name.upper(), name) for name in get_args(GraphFormat)])  # type: ignore[misc]

TableArgument = Annotated[
    Path,
    typer.Argument(
        help="A .csv, .tsv, .txt (each also .gz), .xlsx, .parquet, .feather, .json, .jsonl, .h5ad "
        "or .npy file; - is standard input."
    ),
]
MissingOption = Annotated[
    Literal["error", "drop", "impute"],
    typer.Option(
        help="Refuse missing values, drop rows that have one, or impute them from the learnt graph."
    ),
]
KnowledgeOption = Annotated[
    Path | None,
    typer.Option(
        help="Background knowledge: a .yaml, .toml, .json or .csv file with forbidden and "
        "required arcs, tiers, exogenous variables, sinks."
    ),
]
InterventionsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that names the variables set by intervention in each row (empty: none; "
        "several: separated by semicolons). It is not a variable of the graph.",
    ),
]
MethodOption = Annotated[Method, typer.Option(help="Learner; 'cosmodag methods' describes them.")]
SeedOption = Annotated[
    int | None,
    typer.Option(min=0, help="Random seed; the same seed gives the same graph. Default: 0."),
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print only errors, and the result with --json: no notes, no progress.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
