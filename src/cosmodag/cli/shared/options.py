"""Arguments and options of commands, one alias each: its type, its spelling and its help line.

A command takes an option as ``name: Alias = default``, so that its signature reads as a list of
what it does, and two commands that share an option describe it in the same words.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.shared.completion import complete_setting
from cosmodag.cli.shared.learners import Method

__all__ = [
    "ColumnsOption",
    "Device",
    "DeviceOption",
    "DropOption",
    "DryRunOption",
    "EpochsOption",
    "Filling",
    "FillingOption",
    "Format",
    "FormatOption",
    "HeaderOption",
    "JsonOption",
    "MaxTimeOption",
    "MethodOption",
    "Missing",
    "MissingOption",
    "Noise",
    "NoiseOption",
    "OutputOption",
    "QuietOption",
    "Refine",
    "RefineOption",
    "RestartsOption",
    "Scale",
    "ScaleOption",
    "SeedOption",
    "SetOption",
    "TableArgument",
    "ThresholdOption",
    "TopOption",
]


class Missing(StrEnum):
    """What to do about missing values."""

    ERROR = "error"
    DROP = "drop"


class Filling(StrEnum):
    """What a fit does about missing values."""

    ERROR = "error"
    DROP = "drop"
    IMPUTE = "impute"


class Scale(StrEnum):
    """What to do to the columns first."""

    CENTER = "center"
    STANDARDIZE = "standardize"
    NONE = "none"


class Refine(StrEnum):
    """What to do with the learnt order."""

    AUTO = "auto"
    NONE = "none"
    PRUNE = "prune"
    ORDER = "order"


class Noise(StrEnum):
    """What refinement assumes of the noise."""

    AUTO = "auto"
    GAUSSIAN = "gaussian"
    EQUAL_VARIANCE = "equal-variance"
    NON_GAUSSIAN = "non-gaussian"


class Device(StrEnum):
    """Where to compute."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


class Format(StrEnum):
    """How a graph is written."""

    GRAPHML = "graphml"
    GML = "gml"
    DOT = "dot"
    DAGITTY = "dagitty"
    EDGES = "edges"
    ADJACENCY = "adjacency"
    JSON = "json"


# The table, and how to read it.
TableArgument = Annotated[
    Path,
    typer.Argument(
        help="A .csv, .tsv (both also .gz), .parquet or .npy file; - is standard input."
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAME,...",
        help="Use only these columns; patterns such as 'gene_*' too. May be repeated.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="NAME,...",
        help="Leave these columns out, such as --drop id,date. May be repeated.",
    ),
]
HeaderOption = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
]
MissingOption = Annotated[
    Missing, typer.Option(help="Refuse missing values, or drop rows that have one.")
]
FillingOption = Annotated[
    Filling,
    typer.Option(
        "--missing",
        help="Refuse missing values, drop rows that have one, or draw them from the learnt graph.",
    ),
]

# The learner, and its parameters that have an option of their own.
MethodOption = Annotated[
    Method, typer.Option(help="The learner: 'cosmodag methods' says what each is.")
]
ScaleOption = Annotated[
    Scale | None,
    typer.Option(help="Subtract column means (the default), standardise too, or do neither."),
]
RefineOption = Annotated[
    Refine,
    typer.Option(
        help="Keep the optimised weights, prune the learnt order by evidence, or also search for a "
        "better order; by default what the learner does by itself."
    ),
]
NoiseOption = Annotated[Noise | None, typer.Option(help="What refinement assumes of the noise.")]
ThresholdOption = Annotated[
    float | None, typer.Option(min=0.0, help="Weights up to this are not arcs.")
]
EpochsOption = Annotated[int | None, typer.Option(min=1, help="Passes over the data.")]
RestartsOption = Annotated[
    int | None, typer.Option(min=1, help="Starts, of which the best is kept.")
]
DeviceOption = Annotated[Device | None, typer.Option(help="Where to compute.")]
MaxTimeOption = Annotated[
    float | None, typer.Option(help="Stop after so many seconds with what there is.")
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="The same seed gives the same graph; 0 by default.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter of the learner: 'cosmodag methods cosmo' lists those of cosmo.",
        autocompletion=complete_setting,
    ),
]

# What comes out, and where.
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")]
FormatOption = Annotated[
    list[Format] | None,
    typer.Option("--format", help="Write the graph in this format too. May be repeated."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and stop.")]
TopOption = Annotated[int, typer.Option(min=0, help="How many arcs to print.")]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print errors only, and with --json the result: no notes, no progress.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, for another program to read.")
]
