"""``cosmodag fit``: learn a graph from a table."""

from collections import Counter
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

from cosmodag.cli import fit_steps
from cosmodag.cli.options import common, fitting
from cosmodag.cli.options.inputs import KindOptions, ReadingOptions, input_facts, read_rows
from cosmodag.cli.options.learners import Method, make_learner, read_settings
from cosmodag.cli.terminal.cache import keep_compiled_programs
from cosmodag.cli.terminal.output import noted_warnings, print_json, print_result
from cosmodag.cli.terminal.signals import end_of_interrupt
from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.selection import Choice

_COSMO = Method("cosmo")
_FORMAT = "cosmodag-fit-2"  # described in docs/schemas/fit.schema.json


def fit(
    table: common.TableArgument,
    *,
    output: common.OutputOption = Path("cosmodag-out"),
    method: fitting.LearnerOption = None,
    auto: fitting.AutoOption = False,
    reading: ReadingOptions,
    missing: common.MissingOption = "error",
    kinds: KindOptions,
    knowledge: common.KnowledgeOption = None,
    interventions: common.InterventionsOption = None,
    regimes: fitting.RegimesOption = None,
    find_targets: fitting.FindTargetsOption = True,
    lags: fitting.LagsOption = None,
    time: fitting.TimeOption = None,
    series: fitting.SeriesOption = None,
    learner: fitting.LearnerOptions,
    setting: fitting.SetOption = None,
    bootstrap: fitting.BootstrapOption = None,
    format: fitting.FormatOption = None,
    dry_run: fitting.DryRunOption = False,
    top: fitting.TopOption = 15,
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
    from cosmodag.data.knowledge import as_knowledge
    from cosmodag.data.time.window import lagged_names

    if regimes is None and not find_targets:
        raise DataError("--stated-targets has an effect only with --regimes: give both or neither.")
    known = as_knowledge(knowledge)
    noted: list[str] = []
    # The learner imputes missing values, and drops windows that have one.
    is_left_to_learner = missing == "impute" or bool(lags and missing == "drop")
    with noted_warnings(noted, quiet):
        data, fit_arguments = read_rows(
            table,
            {"interventions": interventions, "regimes": regimes, "time": time, "series": series},
            missing="keep" if is_left_to_learner else missing,
            declared=kinds.declared,
            **vars(reading),
        )
    if regimes is not None:
        fit_arguments["find_targets"] = find_targets
    fit_steps.check_names_for(format or [], list(lagged_names(data.names, lags or 0)))
    options = {
        "knowledge": known,
        "kinds": kinds.among(data.names),
        "missing": missing if is_left_to_learner else None,
        "lags": lags,
        **learner.parameters(),
    }
    settings = read_settings(setting or [])
    if auto and method is not None:
        raise DataError("--auto chooses the learner itself: leave --method out.")
    model = make_learner(method or _COSMO, {} if auto else options, {} if auto else settings)
    if quiet:
        model.set_params(verbose=False)
    if auto and lags:
        raise DataError("--auto is for independent rows: leave --lags out, or name a --method.")
    if dry_run and auto:
        raise DataError("--dry-run cannot predict what --auto would choose: leave one of them out.")
    if dry_run:
        _print_cost(model, fit_steps.windows_for(model, data, fit_arguments), json)
        return
    with fit_steps.output_folder(output, quiet), noted_warnings(noted, quiet):
        begin = monotonic()
        choice = None
        if auto:
            choice = fit_steps.choose_learner(data, fit_arguments, options, settings, quiet)
        model = fit_steps.fitted(model, data, fit_arguments) if choice is None else choice.model
        seconds = monotonic() - begin
        resampled, is_interrupted = fit_steps.bootstrapped(
            model, data, fit_arguments, bootstrap, learner.max_time, quiet
        )
        total = monotonic() - begin
    facts = {
        "table": str(table),
        "choice": choice and choice.reasons,
        "parameters": {**model.get_params(deep=False), "knowledge": knowledge and str(knowledge)},
        **input_facts(model, interventions),
        "bootstrap": resampled and resampled.facts(),
        "warnings": noted,
        "seconds": round(seconds, 3),
        **_facts_of(model),
        "lags": 0,
        "time": None,
        "series": None,
    }
    if (window := model.fitted_.window) is not None:
        facts |= {"lags": window.lags, "time": time, "series": series, "variables": window.d}
    files, arcs = fit_steps.write_results(output, model, data, facts, format or [], resampled)
    if json:
        listed = arcs.to_dict("records")
        print_json({**facts, "strongest": listed[:top], "arc_table": listed, "files": files})
    elif not quiet:
        fit_steps.print_arcs(arcs, top, resampled.doubts if resampled else ())
        _print_reasons(facts, choice)
        print_result(
            f"{counted(facts['arcs'], 'arc')} among {counted(facts['variables'], 'variable')} in "
            f"{total:.1f} s; results in {output}/, report in {output / 'report.html'}"
        )
    if is_interrupted:
        raise typer.Exit(end_of_interrupt().code)


def _facts_of(model: "StructureLearner") -> dict[str, Any]:
    """Describe a fitted learner and its graph for ``run.json``."""
    return {
        "format": _FORMAT,
        "rows": len(model.residuals_),
        "variables": model.n_features_in_,
        "method": LEARNERS[type(model).__name__].command,
        "missing": getattr(model, "missing_report_", None),
        "kinds": {
            str(name): kind.facts()
            for name, kind in zip(model.names_, model.kinds_, strict=True)
            if kind.kind != "continuous"
        },
        "arcs": int(model.edges_.nnz),
        "was_cyclic": model.was_cyclic_,
        "stopped": model.stopped_,
        "backend": getattr(model, "backend_", None),
        "converged": getattr(model, "converged_", None),
        "noise": getattr(model, "noise_", None),
        "noise_reason": getattr(model, "noise_reason_", None),
        "noise_scores": getattr(model, "noise_scores_", None),
        "starts": getattr(model, "refine_report_", None),
        "basis": dict(Counter(model.arrow_basis_)),
        "class": {
            "directed": len(model.cpdag_.directed),
            "undirected": len(model.cpdag_.undirected),
        },
    }


def _print_reasons(facts: dict[str, Any], choice: "Choice | None") -> None:
    """Print the reasons for the choices, and what was found or assumed about interventions."""
    if reason := choice or facts["noise_reason"]:
        print_result(str(reason))
    if "regimes" in facts:
        fit_steps.print_targets(facts["regimes"])
    if "interventions" in facts:
        print_result(facts["interventions"]["assumption"])


def _print_cost(model: "StructureLearner", data: "Table", json: bool) -> None:
    """Print the memory and the expected time of a fit, estimated from a few timed epochs."""
    if not hasattr(model, "estimate"):
        name = LEARNERS[type(model).__name__].command
        raise DataError(f"--dry-run cannot estimate the cost of {name}: leave --dry-run out.")
    model.set_params(lags=0)  # the rows of data are windows already
    cost = model.estimate(data)
    if json:
        print_json(cost.facts())
    else:
        print_result(f"{type(model).__name__} would take {cost}")
