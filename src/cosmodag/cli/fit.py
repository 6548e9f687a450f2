"""``cosmodag fit``: a graph from a table."""

import time
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosmodag.cli._cache import keep_compiled_programs
from cosmodag.cli._knowledge import (
    InterventionsOption,
    KnowledgeOption,
    read_data,
    told_facts,
)
from cosmodag.cli._learners import Method, make_learner, read_settings
from cosmodag.cli._output import JsonOption, print_json, print_result, print_table
from cosmodag.cli._results import output_folder, strongest_arcs, write_results
from cosmodag.cli._shell import EXIT_INTERRUPTED
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

__all__ = ["fit"]

_COSMO = Method("cosmo")


class Missing(StrEnum):
    """What to do about missing values."""

    ERROR = "error"
    DROP = "drop"


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


def fit(
    table: Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet or .npy file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "cosmodag-out"
    ),
    method: Annotated[Method, typer.Option(help="The learner.")] = _COSMO,
    header: Annotated[
        bool, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = True,
    missing: Annotated[
        Missing, typer.Option(help="Refuse missing values, or drop rows that have one.")
    ] = Missing.ERROR,
    knowledge: KnowledgeOption = None,
    interventions: InterventionsOption = None,
    scale: Annotated[
        Scale | None,
        typer.Option(help="Subtract column means (the default), standardise too, or do neither."),
    ] = None,
    refine: Annotated[
        Refine,
        typer.Option(
            help="Keep the optimised weights, prune the learnt order by evidence, or also search "
            "for a better order; by default what the learner does by itself."
        ),
    ] = Refine.AUTO,
    noise: Annotated[
        Noise | None, typer.Option(help="What refinement assumes of the noise.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0.0, help="Weights up to this are not arcs.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the data.")] = None,
    restarts: Annotated[
        int | None, typer.Option(min=1, help="Starts, of which the best is kept.")
    ] = None,
    device: Annotated[Device | None, typer.Option(help="Where to compute.")] = None,
    max_time: Annotated[
        float | None, typer.Option(help="Stop after so many seconds with what there is.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same graph; 0 by default.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the learner."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost, and stop.")
    ] = False,
    top: Annotated[int, typer.Option(min=0, help="How many arcs to print.")] = 15,
    json: JsonOption = False,
) -> None:
    """Learn a graph from a table and write it to a folder.

    Writes graph.graphml, edges.csv (with what the direction of each arc rests on), adjacency.csv
    (the chosen arcs), weights.csv (all weights that agree with the causal order),
    model.safetensors and run.json, and prints the strongest arcs. W[u, v], row u and column v, is
    the arc u → v. Options that are left out have the learner's own defaults.
    """
    keep_compiled_programs()
    from cosmodag.knowledge import as_knowledge

    known = as_knowledge(knowledge)
    data, targets = read_data(table, header, missing.value, interventions)
    options = {
        "knowledge": ("--knowledge", known),
        "refine": ("--refine", _refinement(refine)),
        "noise": ("--noise", noise and noise.value),
        "threshold": ("--threshold", threshold),
        "scale": ("--scale", scale and scale.value),
        "epochs": ("--epochs", epochs),
        "restarts": ("--restarts", restarts),
        "device": ("--device", device and device.value),
        "max_time": ("--max-time", max_time),
        "random_state": ("--seed", seed),
    }
    model = make_learner(method, options, read_settings(setting or []))
    if refine is Refine.NONE:
        model.set_params(refine=None)
    if dry_run:
        _print_cost(model, data, json)
        return
    with output_folder(output):
        begin = time.monotonic()
        model.fit(data, interventions=targets)
        seconds = time.monotonic() - begin
    facts = {
        "table": str(table),
        "rows": len(data.X),
        "variables": len(data.names),
        "method": method.value,
        "parameters": {**model.get_params(deep=False), "knowledge": knowledge and str(knowledge)},
        **told_facts(model, interventions),
        "arcs": int(model.edges_.nnz),
        "was_cyclic": model.was_cyclic_,
        "stopped": model.stopped_,
        "backend": getattr(model, "backend_", None),
        "converged": getattr(model, "converged_", None),
        "noise": getattr(model, "noise_", None),
        "noise_reason": getattr(model, "noise_reason_", None),
        "starts": getattr(model, "refine_report_", None),
        "basis": dict(Counter(model.arrow_basis_)),
        "seconds": round(seconds, 3),
    }
    files = write_results(output, model, data.names, facts)
    arcs = strongest_arcs(model, data.names, top)
    if json:
        print_json({**facts, "strongest": arcs, "files": files})
    else:
        rows = [(cause, "→", effect, f"{w:+.3f}", basis) for cause, effect, w, basis in arcs]
        columns = ["cause", "", "effect", "weight", "direction rests on"]
        print_table(columns, rows, title="strongest arcs")
        if facts["noise_reason"]:
            print_result(facts["noise_reason"])
        if "interventions" in facts:
            print_result(facts["interventions"]["assumption"])
        print_result(
            f"{facts['arcs']} arcs among {facts['variables']} variables in {seconds:.1f} s; "
            f"written to {output}/"
        )
    if model.stopped_ == "interrupt":
        raise typer.Exit(EXIT_INTERRUPTED)


def _refinement(asked: Refine) -> str | None:
    """Turn ``--refine`` into the learner's parameter; None leaves the learner's own default."""
    return None if asked in (Refine.AUTO, Refine.NONE) else asked.value


def _print_cost(model: "StructureLearner", data: "Table", json: bool) -> None:
    """Print memory and expected time, from a few timed epochs."""
    if not hasattr(model, "estimate"):
        raise DataError(f"--dry-run cannot tell what {type(model).__name__} would cost.")
    cost = model.estimate(data)
    if json:
        print_json(cost.facts())
    else:
        print_result(f"{type(model).__name__} would take {cost}")
