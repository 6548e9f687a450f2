"""Arguments and options of commands, one alias each: its type, its spelling and its help line.

A command declares an option as ``name: Alias = default``, so its signature is a list of its
options, and commands that share an option share its help text.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from cosmodag.cli.options.learners import Method, complete_setting
from cosmodag.graph.texts import GraphFormat

Device = Literal["auto", "cpu", "gpu"]


# An enumeration, because Typer takes no list of literals.
Format = StrEnum("Format", [(name.upper(), name) for name in get_args(GraphFormat)])  # type: ignore[misc]

# Reading the table.
TableArgument = Annotated[
    Path,
    typer.Argument(
        help="A .csv, .tsv, .txt (each also .gz), .xlsx, .parquet, .feather, .json, .jsonl, .h5ad "
        "or .npy file; - is standard input."
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAME,...",
        help="Use only these columns; patterns such as 'gene_*' work. May be repeated.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="NAME,...",
        help="Leave out these columns, for example --drop id,date. May be repeated.",
    ),
]
HeaderOption = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
]
DecimalOption = Annotated[
    Literal["auto", ".", ","],
    typer.Option("--decimal", help="Decimal mark of a text file; decimal commas are recognised."),
]
TransposeOption = Annotated[
    bool,
    typer.Option("--transpose", help="The file has a variable per row, named by its first column."),
]
FillingOption = Annotated[
    Literal["error", "drop", "impute"],
    typer.Option(
        "--missing",
        help="Refuse missing values, drop rows that have one, or draw them from the learnt graph.",
    ),
]

# What the columns and the rows hold.
KindsOption = Annotated[
    Path | None,
    typer.Option(
        "--kinds",
        metavar="FILE",
        help="A .yaml, .toml or .json file with what columns hold, such as 'region: categorical' "
        "or 'size: [small, medium, large]', levels from low to high.",
    ),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="NAME,...",
        help="Columns whose values name categories, although they may be numbers.",
    ),
]
OrdinalOption = Annotated[
    list[str] | None,
    typer.Option("--ordinal", metavar="NAME,...", help="Columns whose numbers are ordered levels."),
]
CountOption = Annotated[
    list[str] | None, typer.Option("--count", metavar="NAME,...", help="Columns of counts.")
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
LagsOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="K",
        help="The rows are in time: also learn which variables act on a row from up to K rows "
        "before. Default: 0, independent rows.",
    ),
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --lags: column of numbers or dates that sorts the rows; no lag crosses a gap. "
        "It is not a variable of the graph.",
    ),
]
SeriesOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --lags: column that names the series of each row, such as a patient; no lag "
        "crosses from one series into another. It is not a variable of the graph.",
    ),
]

# The learner, and the parameters that have their own option.
MethodOption = Annotated[Method, typer.Option(help="Learner; 'cosmodag methods' describes them.")]
AutoOption = Annotated[
    bool,
    typer.Option(
        "--auto", help="Choose learner, noise, penalties and refinement, and print the reasons."
    ),
]
ScaleOption = Annotated[
    Literal["center", "standardize", "none"] | None,
    typer.Option(
        help="Subtract column means (default), also standardise, or leave the columns as is."
    ),
]
RefineOption = Annotated[
    Literal["auto", "none", "prune", "order"],
    typer.Option(
        help="Keep the optimised weights, prune the learnt order by evidence, or also search for a "
        "better order; by default the learner decides."
    ),
]
NoiseOption = Annotated[
    Literal["auto", "gaussian", "equal-variance", "non-gaussian"] | None,
    typer.Option(help="Noise model that refinement assumes."),
]
ThresholdOption = Annotated[
    float | None, typer.Option(min=0.0, help="Keep arcs whose absolute weight is above this.")
]
EpochsOption = Annotated[int | None, typer.Option(min=1, help="Number of passes over the data.")]
RestartsOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Searches from perturbed copies of the best order, at most; 0 for none. The best is "
        "kept.",
    ),
]
TrainingsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Trainings from different starts; that of the best objective is kept."
    ),
]
DeviceOption = Annotated[Device | None, typer.Option(help="Where to compute.")]
MaxTimeOption = Annotated[
    float | None, typer.Option(help="Stop after this many seconds with the best graph so far.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(min=0, help="Random seed; the same seed gives the same graph. Default: 0."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other learner parameter; 'cosmodag methods cosmo' lists those of cosmo.",
        autocompletion=complete_setting,
    ),
]
BootstrapOption = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Also fit N resamples of the rows, and write the share of them in which each arc's "
        "ends are joined and its direction is fixed.",
    ),
]

# Output.
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")]
FormatOption = Annotated[
    list[Format] | None,
    typer.Option("--format", help="Also write the graph in this format. May be repeated."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the expected cost and stop.")]
TopOption = Annotated[int, typer.Option(min=0, help="Number of arcs to print.")]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print only errors, and the result with --json: no notes, no progress.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
