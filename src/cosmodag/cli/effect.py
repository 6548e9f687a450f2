"""``cosmodag effect``: the effect of one variable on another in a saved fit."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosmodag.cli.fits.saved import read_for, rows_of_fit
from cosmodag.cli.options.common import InterventionsOption, JsonOption
from cosmodag.cli.terminal.output import print_json, print_result
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.learners import StructureLearner

__all__ = ["effect"]

# Rows after a pulse for which the changes of a time series are printed.
_HORIZON = 10
_MOST_PATHS = 10


def effect(
    folder: Annotated[Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to.")],
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="The cause.")],
    on: Annotated[str, typer.Option("--on", metavar="NAME", help="The variable it acts on.")],
    direct: Annotated[
        bool, typer.Option("--direct", help="Hold all other causes of the variable fixed.")
    ] = False,
    start: Annotated[
        str | None, typer.Option("--from", help="Value or level of the cause before the change.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Value or level after it.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The table of the fit: effects are then estimated from it again, and --bootstrap "
            "can be given."
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Fit N resamples of the table, for an interval that holds the uncertainty of the "
            "graph.",
        ),
    ] = None,
    interventions: InterventionsOption = None,
    json: JsonOption = False,
) -> None:
    """Say by how much one variable changes when another is set.

    With an interval, what is adjusted for, the paths, and the range of effects where graphs that
    fit equally well differ. Without --data the effect is that of the fitted equations.
    """
    if (start is None) != (end is None):
        raise DataError("Give both --from and --to, or neither.")
    if data is None and bootstrap is not None:
        raise DataError("--bootstrap fits resamples of the table: give it with --data.")
    from cosmodag.assess import Effects, refit_resamples
    from cosmodag.learners import load

    model = load(folder)
    if model.lags:
        if data is not None or direct or start is not None:
            raise DataError(
                "Of a time series the responses over time are printed: leave --data, --direct, "
                "--from and --to out."
            )
        _print_responses(folder, model, of, on, json)
        return
    if data is None:
        effects = Effects.of(model, rows=rows_of_fit(folder))
    else:
        table, targets = read_for(model, data, interventions)
        fits = None
        if bootstrap is not None:
            fits = refit_resamples(model, bootstrap, X=table, interventions=targets)
        effects = Effects.of(model, X=table, interventions=targets, resampled=fits)
    values = None if start is None or end is None else (_value(start), _value(end))
    found = effects.effect(
        _named(model.names_, of), _named(model.names_, on), direct=direct, values=values
    )
    if json:
        print_json(found.facts())
        return
    print_result(str(found))
    for path in found.paths[:_MOST_PATHS]:
        print_result(" → ".join(map(str, path)))
    if len(found.paths) > _MOST_PATHS:
        print_result(f"… and {len(found.paths) - _MOST_PATHS} more paths (--json lists all)")


def _print_responses(folder: Path, model: "StructureLearner", of: str, on: str, json: bool) -> None:
    """Print how one variable of a time series changes after another was raised once."""
    from cosmodag.assess.names import place_of

    names = list(model.window_.names)
    u, v = (place_of(names, name) for name in (of, on))
    responses = model.impulse_responses(_HORIZON)
    found = responses.to_numpy()[responses.index.get_loc((names[u], names[v]))].tolist()
    ends = _intervals(folder, model, u, v)
    if json:
        low, high = (None, None) if ends is None else ends
        facts = {"of": names[u], "on": names[v], "responses": found, "low": low, "high": high}
        print_json(facts)
        return
    note = "" if ends is None else ", 95 % interval"
    print_result(f"Raising {names[u]} once by 1 changes {names[v]} by (row after it: change{note})")
    lines = [f"{time}: {change:+.4g}" for time, change in enumerate(found)]
    if ends is not None:
        ranges = zip(lines, *ends, strict=True)
        lines = [f"{line}, {low:+.4g} to {high:+.4g}" for line, low, high in ranges]
    print_result("\n".join(lines))


def _intervals(
    folder: Path, model: "StructureLearner", u: int, v: int
) -> tuple[list[float], list[float]] | None:
    """Read the intervals that the fit computed from its table; None where there are none."""
    from cosmodag.report.saved import saved_answers

    curves = saved_answers(folder, model).effect_curves
    for pair in () if curves is None else curves["pairs"]:
        is_known = pair["low"] is not None and len(pair["low"]) == _HORIZON + 1
        if is_known and (pair["from"], pair["to"]) == (u, v):
            return pair["low"], pair["high"]
    return None


def _named(names: list[object], given: str) -> object:
    """Take a number for a column of a table without names."""
    is_number = given.isdigit() and all(isinstance(name, int) for name in names)
    return int(given) if is_number else given


def _value(text: str) -> float | str:
    """Read a number, or else the label of a level."""
    try:
        return float(text)
    except ValueError:
        return text
