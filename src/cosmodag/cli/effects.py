"""``cosmodag effect``: effects of one variable on another, in a saved fit or a given graph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cosmodag.cli.options.common import JsonOption
from cosmodag.cli.options.input_options import KindOptions, read_rows
from cosmodag.cli.options.saved_options import FittedTableOptions, rows_of_fit
from cosmodag.cli.terminal.output import print_json, print_result
from cosmodag.errors import DataError
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    from cosmodag.assess import Effects
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

# Number of rows after an impulse for which the responses of a time series are printed.
_HORIZON = 10

_MAX_PATHS = 10


def effect(
    source: Annotated[
        Path,
        typer.Argument(help="The folder that 'cosmodag fit' wrote to; with --graph, a table."),
    ],
    *,
    graph: Annotated[
        Path | None,
        typer.Option(
            help="Your own graph, in any format that 'cosmodag convert' reads; nothing is learnt."
        ),
    ] = None,
    of: Annotated[str, typer.Option(metavar="NAME", help="The cause.")],
    on: Annotated[str, typer.Option(metavar="NAME", help="The variable it acts on.")],
    direct: Annotated[
        bool,
        typer.Option(
            "--direct", help="Hold all other causes of the variable fixed: the direct effect."
        ),
    ] = False,
    start: Annotated[
        str | None, typer.Option("--from", help="Value or level of the cause before the change.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", help="Value or level of the cause after the change.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The table of the fit, to estimate the effect from it again; --bootstrap needs it."
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Fit N bootstrap resamples of the table, for an interval that includes the "
            "uncertainty of the graph; by default 100, if these take less than five seconds.",
        ),
    ] = None,
    reading: FittedTableOptions,
    kinds: KindOptions,
    json: JsonOption = False,
) -> None:
    """Estimate by how much one variable changes when another is set.

    Prints the effect with its interval, the variables adjusted for, the causal paths, and the range
    of effects over the graphs that fit equally well. Without --data, the effect is computed from
    the fitted equations. With --graph, it is estimated from a table by a graph of your own.
    """
    if (start is None) != (end is None):
        raise DataError("Give both --from and --to, or neither.")
    if graph is not None and data is not None:
        raise DataError("With --graph, the table is the first argument: leave --data out.")
    if graph is None and kinds != KindOptions():
        raise DataError("A saved fit has its kinds: give --kinds and the like only with --graph.")
    if data is None and graph is None and bootstrap is not None:
        raise DataError("--bootstrap fits resamples of the table: give the table by --data.")
    if data is None and graph is None and reading != FittedTableOptions():
        raise DataError("Options for reading a table have an effect only with --data: give both.")
    from cosmodag.assess import Effects, quick_resamples, refit_resamples
    from cosmodag.learners import load

    if graph is not None:
        model, table, targets = _given(graph, source, reading, kinds)
        fits = None if bootstrap is None else refit_resamples(model, bootstrap)
        effects = Effects.of(model, X=table, interventions=targets, resampled=fits)
        _print_effect(effects, of, on, direct, start, end, json)
        return
    folder, model = source, load(source)
    if model.lags:
        if data is not None or direct or start is not None:
            raise DataError(
                "The effect in a time series is printed row by row after an impulse: leave --data, "
                "--direct, --from and --to out."
            )
        _print_responses(folder, model, of, on, json)
        return
    if data is None:
        effects = Effects.of(model, rows=rows_of_fit(folder))
    else:
        table, targets = reading.read(data, model, folder)
        if bootstrap is None:
            fits = quick_resamples(model, X=table, interventions=targets)
        else:
            fits = refit_resamples(model, bootstrap, X=table, interventions=targets)
        effects = Effects.of(model, X=table, interventions=targets, resampled=fits)
    _print_effect(effects, of, on, direct, start, end, json)


def _given(
    graph: Path, path: Path, reading: FittedTableOptions, kinds: KindOptions
) -> "tuple[StructureLearner, Table, list[Any] | None]":
    """Fit the equations of a given graph to the columns of a table that it names."""
    from cosmodag.io import read_graph
    from cosmodag.learners import given

    stated = read_graph(graph)
    table, entries = read_rows(
        path,
        {"interventions": reading.interventions},
        missing="keep",
        declared=kinds.declared,
        columns=list(stated.names),
        **vars(reading.layout),
    )
    model = given(stated).set_params(
        kinds=kinds.among(table.names), missing=reading.missing or "error"
    )
    targets = entries.get("interventions")
    return model.fit(table, interventions=targets), table, targets


def _print_effect(
    effects: "Effects",
    of: str,
    on: str,
    direct: bool,
    start: str | None,
    end: str | None,
    json: bool,
) -> None:
    """Print one effect, with its paths."""
    names = effects.dag.names
    values = (
        None if start is None or end is None else (_number_or_label(start), _number_or_label(end))
    )
    found = effects.effect(_named(names, of), _named(names, on), direct=direct, values=values)
    if json:
        print_json(found.facts())
        return
    print_result(str(found))
    for path in found.paths[:_MAX_PATHS]:
        print_result(" → ".join(map(str, path)))
    if len(found.paths) > _MAX_PATHS:
        print_result(
            f"… and {counted(len(found.paths) - _MAX_PATHS, 'more path')} (--json lists all)"
        )


def _print_responses(folder: Path, model: "StructureLearner", of: str, on: str, json: bool) -> None:
    """Print the impulse response of one variable of a time series to another."""
    from cosmodag.assess.question_inputs import place_of

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
    print_result(
        f"Change of {names[v]} in the rows after {names[u]} was raised once by 1, from row 0, the "
        f"same row (row: change{note})"
    )
    lines = [f"{time}: {change:+.4g}" for time, change in enumerate(found)]
    if ends is not None:
        ranges = zip(lines, *ends, strict=True)
        lines = [f"{line}, {low:+.4g} to {high:+.4g}" for line, low, high in ranges]
    print_result("\n".join(lines))


def _intervals(
    folder: Path, model: "StructureLearner", u: int, v: int
) -> tuple[list[float], list[float]] | None:
    """Read the intervals of an impulse response, which the fit computed; None without any."""
    from cosmodag.report.saved_report import saved_answers

    curves = saved_answers(folder, model).effect_curves
    for pair in () if curves is None else curves["pairs"]:
        is_known = pair["low"] is not None and len(pair["low"]) == _HORIZON + 1
        if is_known and (pair["from"], pair["to"]) == (u, v):
            return pair["low"], pair["high"]
    return None


def _named(names: list[object], given: str) -> object:
    """Convert a number to the name of a column, for a table without names."""
    is_number = given.isdigit() and all(isinstance(name, int) for name in names)
    return int(given) if is_number else given


def _number_or_label(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
