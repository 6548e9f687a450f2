"""Commands on a saved fit: ``report``, ``effect`` and ``validate``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cosmodag.cli.options.common import JsonOption, TableArgument
from cosmodag.cli.options.inputs import LayoutOptions, read_data
from cosmodag.cli.terminal.output import print_json, print_result, print_table, say
from cosmodag.errors import DataError
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

# Number of rows after an impulse for which the responses of a time series are printed.
_HORIZON = 10

_MAX_PATHS = 10

_MissingOption = Annotated[
    Literal["error", "drop", "impute"] | None,
    typer.Option(
        help="Refuse missing values in the table, drop rows that have one, or impute them from "
        "the learnt graph. Default: impute if the fit did, else error."
    ),
]

_InterventionsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that names the variables set by intervention in each row (empty: none; "
        "several: separated by semicolons). Default: that of the fit, if the table has it.",
    ),
]


def is_fit(path: Path) -> bool:
    """Whether a path is the folder of a fit, or a saved model."""
    from cosmodag.fit.files.saved import MODEL

    return (path / MODEL).is_file() or path.suffix.lower() == ".safetensors"


def read_for(
    model: "StructureLearner",
    folder: Path,
    path: Path,
    interventions: str | None,
    missing: str | None,
    layout: LayoutOptions,
) -> "tuple[Table, list[Any] | None]":
    """Read the columns of a model from a table, in the order of the model.

    Missing values are kept for the model, whose treatment of them is set to `missing` if given. By
    default, the column of interventions is that of the fit; nothing was set in a table without it.
    """
    if missing is not None:
        model.set_params(missing=missing)
    names = model.fitted_.texts
    kinds = zip(names, model.fitted_.kinds, strict=False)
    declared = [name for name, kind in kinds if kind.is_levels]
    if interventions in names:
        raise DataError(
            f"--interventions names {interventions!r}, which is a variable of the fit: name the "
            "column of targets."
        )
    column = interventions or _column_of_interventions(folder)
    table, labels = read_data(
        path,
        column,
        missing="keep",
        columns=names,
        declared=declared,
        may_lack=interventions is None,
        **vars(layout),
    )
    if interventions is None and labels is not None:
        say(f"note: column {column!r} names the variables that were set, as in the fit.")
    elif column is not None and labels is None:
        say(f"note: {path.name!r} has no column {column!r}: its rows count as observations.")
        labels = [""] * len(table.X)
    places = [table.names.index(name) for name in names]
    return table.of_columns(places), labels


def rows_of_fit(folder: Path) -> int | None:
    """Read the number of rows of the fitted table from ``run.json``; None if it is not there."""
    rows = _run(folder).get("rows")
    return rows if isinstance(rows, int) and 0 < rows < 2**63 else None


def _column_of_interventions(folder: Path) -> str | None:
    """Read from ``run.json`` which column named the variables set by intervention."""
    found = _run(folder).get("interventions")
    column = found.get("column") if isinstance(found, dict) else None
    return column if isinstance(column, str) else None


def is_table_of_fit(folder: Path, table: Path) -> bool:
    """Whether a file has the same bytes as the table of the fit."""
    from cosmodag.report.origin import file_hash

    return table.is_file() and _run(folder).get("sha256") == file_hash(table)


def _run(folder: Path) -> dict[str, Any]:
    """Read ``run.json``; return an empty dictionary if it is absent or damaged."""
    from cosmodag.io.files import read_text
    from cosmodag.report.saved import RUN

    try:
        found = json.loads(read_text(folder / RUN))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def report(
    folder: Annotated[
        Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to, or a saved model.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default report.html in the folder."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a saved fit as one HTML file.

    The page opens in any browser. It shows the graph, the arcs with standard errors, the diagnosis
    of the data, the training history, and the choices with their reasons. It neither needs nor
    contains the data themselves.
    """
    from cosmodag.report.saved import report_folder

    home = folder if folder.is_dir() else folder.parent
    page = home / "report.html" if output is None else output
    model = report_folder(folder, page)
    if json:
        print_json({"report": page, "arcs": int(model.edges_.nnz)})
    else:
        print_result(f"written to {page}")


def effect(
    folder: Annotated[Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to.")],
    *,
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
            "uncertainty of the graph.",
        ),
    ] = None,
    layout: LayoutOptions,
    missing: _MissingOption = None,
    interventions: _InterventionsOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate by how much one variable changes when another is set.

    Prints the effect with its interval, the variables adjusted for, the causal paths, and the range
    of effects over the graphs that fit equally well. Without --data, the effect is computed from
    the fitted equations.
    """
    if (start is None) != (end is None):
        raise DataError("Give both --from and --to, or neither.")
    if data is None and bootstrap is not None:
        raise DataError("--bootstrap fits resamples of the table: give the table by --data.")
    if data is None and not (missing is interventions is None and layout == LayoutOptions()):
        raise DataError("Options for reading a table have an effect only with --data: give both.")
    from cosmodag.assess import Effects, refit_resamples
    from cosmodag.learners import load

    model = load(folder)
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
        table, targets = read_for(model, folder, data, interventions, missing, layout)
        fits = None
        if bootstrap is not None:
            fits = refit_resamples(model, bootstrap, X=table, interventions=targets)
        effects = Effects.of(model, X=table, interventions=targets, resampled=fits)
    values = (
        None if start is None or end is None else (_number_or_label(start), _number_or_label(end))
    )
    found = effects.effect(
        _named(model.names_, of), _named(model.names_, on), direct=direct, values=values
    )
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
    from cosmodag.assess.inputs import place_of

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
    from cosmodag.report.saved import saved_answers

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


def validate(
    folder: Annotated[Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to.")],
    table: TableArgument,
    *,
    layout: LayoutOptions,
    missing: _MissingOption = None,
    level: Annotated[
        float, typer.Option(help="Probability with which a correct graph is rejected.")
    ] = 0.01,
    subsets: Annotated[
        int, typer.Option(min=0, help="Number of subsets of the columns to fit, for comparison.")
    ] = 5,
    max_time: Annotated[
        float, typer.Option(min=0, help="Maximum seconds for the comparisons.")
    ] = 60.0,
    interventions: _InterventionsOption = None,
    top: Annotated[int, typer.Option(min=0, help="Number of failed independences to print.")] = 10,
    json: JsonOption = False,
) -> None:
    """Test whether a table has the independences that a graph implies.

    Use rows that the graph was not learnt from: with the table of the fit itself the test is
    lenient, and the result says so. The exit code is 0 whatever the verdict.
    """
    from dataclasses import replace

    from cosmodag.fit.checks import refuse_lags
    from cosmodag.learners import load

    model = load(folder)
    refuse_lags(model, "validate", "fit to early rows, and score later ones")
    rows, targets = read_for(model, folder, table, interventions, missing, layout)
    found = model.validate(
        rows, interventions=targets, level=level, subsets=subsets, max_time=max_time
    )
    found = replace(found, same_rows=is_table_of_fit(folder, table))
    if json:
        print_json(found.facts())
        return
    print_result(str(found))
    failed = found.failed.head(top)
    if len(failed):
        print_table(
            ["first", "second", "given", "p", "p corrected"],
            [
                [
                    one["first"],
                    one["second"],
                    ", ".join(map(str, one["given"])),
                    f"{one['p']:.2g}",
                    f"{one['p_corrected']:.2g}",
                ]
                for one in failed.to_dict("records")
            ],
            title=f"failed independences: {len(found.failed)}, {len(failed)} shown",
        )
