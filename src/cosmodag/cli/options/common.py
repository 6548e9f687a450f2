"""Arguments and options that several commands share, one alias each.

A command declares an option as ``name: Alias = default``. Options that always occur together are a
dataclass, which the command receives as one parameter (`cosmodag.cli.terminal.shell.register`).
"""

from pathlib import Path
from typing import Annotated

import typer

TableArgument = Annotated[
    Path,
    typer.Argument(
        help="A .csv, .tsv, .txt (each also .gz), .xlsx, .parquet, .feather or .h5ad "
        "file; - is standard input."
    ),
]
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
