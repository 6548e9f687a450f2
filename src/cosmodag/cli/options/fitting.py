"""Options of ``cosmodag fit`` that no other command has."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, cast, get_args

import typer

from cosmodag.cli.options.common import SeedOption
from cosmodag.cli.options.learners import Method, complete_setting
from cosmodag.graph.texts import GraphFormat

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
    lags: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="K",
            help="The rows are in time: also learn which variables act on a row from up to K rows "
            "before. Default: 0, independent rows.",
        ),
    ] = None
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

    scale: Annotated[
        Literal["center", "standardize", "none"] | None,
        typer.Option(
            help="Subtract column means (default), also standardise, or leave the columns as is."
        ),
    ] = None
    refine: Annotated[
        Literal["auto", "none", "prune", "order"],
        typer.Option(
            help="Keep the optimised weights, prune the learnt order by evidence, or also search "
            "for a better order; by default the learner decides."
        ),
    ] = "auto"
    noise: Annotated[
        Literal["auto", "gaussian", "equal-variance", "non-gaussian"] | None,
        typer.Option(help="Noise model that refinement assumes."),
    ] = None
    threshold: Annotated[
        float | None, typer.Option(min=0.0, help="Keep arcs whose absolute weight is above this.")
    ] = None
    epochs: Annotated[int | None, typer.Option(min=1, help="Number of passes over the data.")] = (
        None
    )
    trainings: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of trainings from different starts; the one with the best objective is "
            "kept.",
        ),
    ] = None
    restarts: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Maximum number of searches from perturbed copies of the best order (0: none); "
            "the best result is kept.",
        ),
    ] = None
    device: Annotated[
        Literal["auto", "cpu", "gpu"] | None, typer.Option(help="Device to compute on.")
    ] = None
    max_time: Annotated[
        float | None, typer.Option(help="Stop after this many seconds with the best graph so far.")
    ] = None
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
        return given | {"refine": None if self.refine == "auto" else self.refine}


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
