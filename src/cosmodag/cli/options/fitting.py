"""Options of ``cosmodag fit`` that no other command has."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, cast, get_args

import typer

from cosmodag.cli.options.common import SeedOption
from cosmodag.cli.options.learners import Method, complete_setting, learner_option
from cosmodag.graph.texts import GraphFormat
from cosmodag.learners.parameters import Device, Noise, Scale

# An enumeration, because Typer does not accept a list of literals.
_Format = StrEnum("_Format", [(name.upper(), name) for name in get_args(GraphFormat)])  # type: ignore[misc]

LearnerOption = Annotated[
    Method | None,
    typer.Option(
        "--method", help="Learner; 'cosmodag methods' describes them.", show_default="auto"
    ),
]


@dataclass(frozen=True)
class RowOptions:
    """Options for rows in regimes and rows in time."""

    regimes: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the regime of each row, such as a treatment or a batch (empty: plain "
            "observations). The variables that change in a regime are found and printed.",
        ),
    ] = None
    find_targets: Annotated[
        bool,
        typer.Option(
            "--find-targets/--stated-targets",
            help="With --regimes: whether variables that --interventions does not name may change.",
        ),
    ] = True
    lags: Annotated[int | None, learner_option("lags", metavar="K")] = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --lags: column of numbers or dates that sorts the rows; no lag crosses a "
            "gap. It is not a variable of the graph.",
        ),
    ] = None
    series: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --lags: column that names the series of each row, such as a patient; no lag "
            "crosses from one series into another. It is not a variable of the graph.",
        ),
    ] = None


@dataclass(frozen=True)
class LearnerOptions:
    """Parameters of learners; None where an option is not given."""

    scale: Annotated[Scale | None, learner_option("scale")] = None
    refine: Annotated[
        Literal["auto", "none", "prune", "order"] | None, learner_option("refine")
    ] = None
    noise: Annotated[Noise | None, learner_option("noise")] = None
    threshold: Annotated[float | None, learner_option("threshold")] = None
    epochs: Annotated[int | None, learner_option("epochs")] = None
    trainings: Annotated[int | None, learner_option("trainings")] = None
    restarts: Annotated[int | None, learner_option("restarts")] = None
    device: Annotated[Device | None, learner_option("device")] = None
    max_time: Annotated[float | None, learner_option("max_time")] = None
    seed: SeedOption = None
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other learner parameter; 'cosmodag methods cosmo' lists those of cosmo.",
            autocompletion=complete_setting,
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the options by the names of the parameters of learners; None if not given."""
        given = {**vars(self), "random_state": self.seed}
        del given["seed"], given["setting"]
        return given


@dataclass(frozen=True)
class ResultOptions:
    """Options for what is computed and written besides the graph, and what is printed."""

    bootstrap: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Also fit N bootstrap resamples of the rows, and write for each arc the share of "
            "resamples that have an edge between its ends, and the share that fix its direction.",
        ),
    ] = None
    format: Annotated[
        list[_Format] | None,
        typer.Option(help="Also write the graph in this format. May be repeated."),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the expected cost and stop.")
    ] = False
    top: Annotated[int, typer.Option(min=0, help="Number of arcs to print.")] = 15

    @property
    def formats(self) -> list[GraphFormat]:
        """Further formats in which to write the graph."""
        return cast(list[GraphFormat], [one.value for one in self.format or []])
