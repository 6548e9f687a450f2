"""``cosmodag fit``: learn a graph from a table."""

from math import isnan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

from cosmodag.cli import fit_folder, fit_steps
from cosmodag.cli.options import common, fitting
from cosmodag.cli.options.input_options import TableOptions
from cosmodag.cli.options.learners import Method, make_learner, read_settings
from cosmodag.cli.terminal.cache_folder import keep_compiled_programs
from cosmodag.cli.terminal.output import (
    MOST_WARNINGS,
    first_part,
    noted_warnings,
    print_json,
    print_result,
    print_table,
    say,
)
from cosmodag.cli.terminal.signals import end_of_interrupt
from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.solve.plan import Cost

_DEFAULT = Method("auto")


def fit(
    table: common.TableArgument,
    *,
    output: common.OutputOption = Path("cosmodag-out"),
    method: fitting.LearnerOption = None,
    given: TableOptions,
    rows: fitting.RowOptions,
    learner: fitting.LearnerOptions,
    results: fitting.ResultOptions,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> None:
    """Learn a graph from a table and write it to a folder.

    Writes graph.graphml, edges.csv (arcs and the basis of each direction), adjacency.csv (the
    chosen arcs), weights.csv (all weights that agree with the causal order), report.html (an
    interactive page), answers.json (effects and tests that the page shows), graph.cyjs (for
    Cytoscape), model.safetensors and run.json, and prints the arcs of largest standardised weight.
    W[u, v], row u and column v, is the arc u → v. With --bootstrap, edges.csv also gives the
    probability of each edge and of its direction, and bootstrap.csv lists all pairs of variables
    with an edge in any resample. With --lags the graph is that of a window in time, and summary.csv
    lists which variable acts on which at which lag. Omitted options take the learner's defaults;
    files of an earlier fit in the same folder are replaced.
    """
    keep_compiled_programs()
    from cosmodag.data.time.window import lagged_names
    from cosmodag.io.graphs.write_graph import check_names_for_formats

    if rows.regimes is None and not rows.find_targets:
        raise DataError("--stated-targets has an effect only with --regimes: give both or neither.")
    noted: list[str] = []
    with noted_warnings(noted, quiet):
        columns = {"regimes": rows.regimes, "time": rows.time, "series": rows.series}
        data, fit_arguments, options = given.read(table, columns, is_in_time=bool(rows.lags))
    if rows.regimes is not None:
        fit_arguments["find_targets"] = rows.find_targets
    names = list(lagged_names(data.names, rows.lags or 0))
    check_names_for_formats(names, ["graphml", *results.formats])
    options |= {"lags": rows.lags, **learner.parameters()}
    settings = read_settings(learner.setting or [])
    model = make_learner(method or _DEFAULT, options, settings)
    if quiet:
        model.set_params(verbose=False)
    if results.dry_run:
        with noted_warnings(noted, quiet):
            cost = _cost_of(model, data, fit_arguments)
        if json:
            print_json(cost.facts())
        else:
            print_result(f"{type(model).__name__} would take {cost}")
        return
    files_to_write = fit_folder.file_names(
        results.formats, bootstrap=results.bootstrap is not None, summary=bool(rows.lags)
    )
    with fit_folder.output_folder(output, files_to_write, quiet), noted_warnings(noted, quiet):
        begin = monotonic()
        model = fit_steps.fitted(model, data, fit_arguments)
        seconds = monotonic() - begin
        resampled, is_interrupted = fit_steps.bootstrapped(
            model, data, fit_arguments, results.bootstrap, learner.max_time, quiet
        )
        total = monotonic() - begin
    knowledge = given.knowledge and str(given.knowledge)
    facts = {
        "table": str(table),
        "families": getattr(model, "family_rows_", None),
        "refuted": getattr(model, "refuted_", None),
        "parameters": {**model.get_params(deep=False), "knowledge": knowledge},
        **fit_folder.input_facts(model, given.interventions),
        "bootstrap": resampled and resampled.facts(),
        "warnings": noted,
        "seconds": round(seconds, 3),
        **fit_folder.facts_of(model),
        "time": rows.time,
        "series": rows.series,
    }
    files, arcs = fit_folder.write_results(output, model, data, facts, results.formats, resampled)
    if json:
        listed = arcs.to_dict("records")
        print_json(
            {**facts, "strongest": listed[: results.top], "arc_table": listed, "files": files}
        )
    elif not quiet:
        _print_arcs(arcs, results.top, resampled.note if resampled else "")
        if facts["directions"]:
            print_result(facts["directions"])
        if advice := fit_folder.advice_for(model, str(table)):
            print_result(advice)
        _print_reasons(facts)
        print_result(
            f"{counted(facts['arcs'], 'arc')} among {counted(facts['variables'], 'variable')} in "
            f"{total:.1f} s; results in {output}/, report in {output / 'report.html'}"
        )
    is_shortened = len(noted) > MOST_WARNINGS or any(first_part(one) != one for one in noted)
    if is_shortened and not (quiet or json):
        say(f"note: {counted(len(noted), 'warning')} with remedies in the report and in run.json.")
    if quiet and resampled is not None and resampled.doubts:
        say(f"note: shares of resamples are {resampled.note}.")
    if is_interrupted:
        raise typer.Exit(end_of_interrupt().code)


def _print_reasons(facts: dict[str, Any]) -> None:
    """Print the reasons for the choices, and what was found or assumed about interventions."""
    reason = str(facts["noise_reason"] or "")
    is_said = first_part(reason) in {first_part(one) for one in facts["warnings"]}
    if reason and not is_said:
        print_result(reason)
    if "regimes" in facts:
        _print_targets(facts["regimes"])
    if "interventions" in facts:
        print_result(facts["interventions"]["assumption"])


def _cost_of(model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]) -> "Cost":
    """Memory and expected time of the training of a fit, estimated from a few timed epochs."""
    if not hasattr(model, "estimate"):
        name = LEARNERS[type(model).__name__].command
        raise DataError(f"--dry-run cannot estimate the cost of {name}: leave --dry-run out.")
    cost: Cost = model.estimate(data, **fit_arguments)
    return cost


def _print_arcs(arcs: "pd.DataFrame", limit: int, note: str = "") -> None:
    """Print the arcs of largest standardised weight, at most ``limit``.

    An arc whose direction is open is printed as a line. With resamples, the shares of
    edges and directions are printed too, and the ``note`` whether they are probabilities.
    """
    from cosmodag.fit.dag.assertions import OPEN

    if not len(arcs):
        print_result("No arc found.")
        return
    numbers = {"standardised": "{:+.3f}", "weight": "{:+.4g}", "se": "{:.2g}", "t": "{:.1f}"}
    probabilities = {"p_edge": "{:.2f}", "p_direction": "{:.2f}"}
    shown = {name: form for name, form in (numbers | probabilities).items() if name in arcs}
    head = ["cause", "", "effect", *shown, "direction", "basis of direction"]
    rows = [
        [
            str(arc["cause"]),
            "—" if arc["grade"] == OPEN else "→",
            str(arc["effect"]),
            *["" if isnan(arc[name]) else form.format(arc[name]) for name, form in shown.items()],
            arc["grade"],
            arc["basis"],
        ]
        for arc in arcs.head(limit).to_dict("records")
    ]
    title = (
        f"{counted(len(arcs), 'arc')}, {len(rows):,} shown, the largest standardised weight first"
    )
    print_table(head, rows, title=title)
    if note:
        print_result(f"p_edge and p_direction are shares of resamples, {note}.")


def _print_targets(facts: dict[str, Any]) -> None:
    """Print the variables that change in each regime, the evidence, and findings about them."""
    targets = facts["targets"]
    if not targets:
        print_result("No variable changes between the regimes.")
    else:
        columns = ["regime", "variable", "stated", "evidence", "change"]
        print_table(columns, [[_cell(one[name]) for name in columns] for one in targets])
    for sentence in facts["findings"]:
        print_result(sentence)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "stated" if value else "found"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
