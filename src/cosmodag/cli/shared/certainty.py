"""What ``fit`` offers beside a fit: a choice of the learner, and how sure the answer is."""

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cosmodag.cli.shared.output import print_table
from cosmodag.errors import DataError, InterruptedWarning

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.selection import Choice
    from cosmodag.stability import BootstrapResult

__all__ = [
    "AutoOption",
    "BootstrapOption",
    "bootstrapped",
    "chosen",
    "command_of",
    "fitted",
    "print_arcs",
]

BootstrapOption = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Fit N resamples of the rows too, and write in how many of them each arc is found.",
    ),
]
AutoOption = Annotated[
    bool,
    typer.Option(
        "--auto", help="Choose learner, noise, penalties and refinement, and say why in a sentence."
    ),
]

# What a choice can be told; all else it decides.
_TOLD = ("knowledge", "missing", "max_time", "random_state")


def chosen(
    data: "Table",
    targets: Any,
    options: dict[str, tuple[str, Any]],
    settings: dict[str, Any],
    quiet: bool,
) -> "Choice":
    """Choose and fit a learner; options that it would decide itself are refused."""
    from cosmodag import selection

    given = {name: value for name, (_, value) in options.items() if value is not None}
    for name in given:
        if name not in _TOLD:
            raise DataError(f"--auto decides on {name} itself: leave {options[name][0]} out.")
    if settings:
        raise DataError("--auto decides on the learner's parameters itself: leave --set out.")
    given.setdefault("random_state", 0)
    return selection.auto(data, interventions=targets, verbose=not quiet, **given)


def fitted(model: "StructureLearner", data: "Table", targets: Any) -> "StructureLearner":
    """Fit a learner; after a first Ctrl-C, return it with the graph learnt so far."""
    try:
        return model.fit(data, interventions=targets)
    except KeyboardInterrupt:
        if getattr(model, "stopped_", None) != "interrupt":
            raise
        return model


def command_of(model: "StructureLearner") -> str:
    """Give the learner's name on the command line."""
    from cosmodag.learners.registry import LEARNERS

    return LEARNERS[type(model).__name__].command


def bootstrapped(
    model: "StructureLearner",
    data: "Table",
    targets: Any,
    resamples: int | None,
    max_time: float | None,
    quiet: bool,
) -> "tuple[BootstrapResult | None, bool]":
    """Fit resamples where that was asked for and the fit itself was not interrupted.

    Whatever ends the resampling, the fit is kept. The second value is whether the fit or the
    resampling was interrupted.
    """
    if resamples is None or model.stopped_ == "interrupt":
        return None, model.stopped_ == "interrupt"
    from cosmodag.stability.bootstrap import BootstrapInterrupt, NoResampleError, bootstrap

    try:
        result = bootstrap(
            model,
            data,
            resamples,
            interventions=targets,
            random_state=getattr(model, "random_state", 0),
            max_time=max_time,
            verbose=not quiet,
        )
    except NoResampleError as error:
        warnings.warn(str(error), InterruptedWarning, stacklevel=2)
        return None, False
    except BootstrapInterrupt as interrupt:
        done = len(interrupt.result.done)
        message = f"{done or 'None'} of {resamples} resamples were fitted before Ctrl-C."
        warnings.warn(message, InterruptedWarning, stacklevel=2)
        return (interrupt.result if done else None), True
    return result, False


def print_arcs(arcs: "list[tuple[Any, ...]]", sure: "BootstrapResult | None") -> None:
    """Print the strongest arcs, and in how many of the resamples each was found."""
    head = ["cause", "", "effect", "weight", "direction rests on"]
    rows = [[cause, "→", effect, f"{w:+.3f}", basis] for cause, effect, w, basis in arcs]
    if sure is not None:
        head.append(f"in {len(sure.done)} resamples")
        places = {name: place for place, name in enumerate(sure.names)}
        for row in rows:
            share = sure.arc_probabilities[places[row[0]], places[row[2]]]
            row.append(f"{100 * share:.0f} %")
    print_table(head, rows, title="strongest arcs")
