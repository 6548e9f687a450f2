"""The cases of the record: fits, questions to them, and calls of the command line.

A case is a function without arguments that returns plain values. Only public names are used, so
that the record outlives any change of the modules behind them.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from golden_digests import (
    of_fit,
    of_graph,
    of_matrix,
    of_number,
    of_output,
    of_page,
    of_table,
    of_text,
    shortened,
)
from golden_tables import TABLES, Sample

import cosmodag
from cosmodag import metrics, simulate
from cosmodag.bench import stochastic_learners

Case = Callable[[], Any]

SEEDED = {"random_state": 0, "verbose": False}
BRIEF = {"epochs": 60, **SEEDED}
NETWORKS = {"epochs": 10, "hidden": (3,), **SEEDED}
TRAINED = {"epochs": 5, **SEEDED}

# Label: class and settings. Learners that train networks, or mini-batches, train briefly: equality
# is what counts, not the quality of the graph.
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "cosmo": ("Cosmo", BRIEF),
    "cosmo unrefined": ("Cosmo", {**BRIEF, "refine": None}),
    "cosmo pruned": ("Cosmo", {**BRIEF, "refine": "prune"}),
    "cosmo of three trainings": ("Cosmo", {**BRIEF, "epochs": 10, "trainings": 3}),
    "cosmo by default": ("Cosmo", SEEDED),
    "cosmo-mlp": ("CosmoMLP", NETWORKS),
    "cosmo-mlp unrefined": ("CosmoMLP", {**NETWORKS, "refine": None}),
    "order-search": ("OrderSearch", SEEDED),
    "order-search gaussian": ("OrderSearch", {**SEEDED, "noise": "gaussian"}),
    "order-search equal-variance": ("OrderSearch", {**SEEDED, "noise": "equal-variance"}),
    "order-search non-gaussian": ("OrderSearch", {**SEEDED, "noise": "non-gaussian"}),
    "order-search without restarts": ("OrderSearch", {**SEEDED, "restarts": 0}),
    "block-search": ("BlockSearch", SEEDED),
    "block-search curved": ("BlockSearch", {**SEEDED, "curves": True}),
    "notears": ("Notears", {"verbose": False}),
    "notears-mlp": ("NotearsMLP", {"max_iter": 1, "hidden": (3,), **SEEDED}),
    "dagma": ("Dagma", {"max_iter": 2000, "verbose": False}),
    "dagma-mlp": ("DagmaMLP", {"max_iter": 100, "hidden": (3,), **SEEDED}),
    "nocurl": ("NoCurl", {"verbose": False}),
    "nocurl-u": ("NoCurlU", TRAINED),
    "stochastic-notears": ("StochasticNotears", {**TRAINED, "max_iter": 2}),
    "stochastic-dagma": ("StochasticDagma", TRAINED),
    "stochastic-nocurl": ("StochasticNoCurl", TRAINED),
    "equal-variance": ("EqualVariance", {"verbose": False}),
    "variance-sort": ("VarianceSort", {"verbose": False}),
    "r2-sort": ("R2Sort", {"verbose": False}),
    "random-sort": ("RandomSort", SEEDED),
    "empty-graph": ("EmptyGraph", {"verbose": False}),
}

FITS: dict[str, Sequence[str]] = {
    **dict.fromkeys(LEARNERS, ("numbers",)),
    "cosmo": (
        *("numbers", "equal variances", "skewed", "mixed", "counts", "categories", "time"),
        *("interventions", "regimes", "holes", "knowledge", "standardised", "strange"),
    ),
    "cosmo by default": ("proteins",),
    "cosmo-mlp": ("curves", "mixed", "interventions", "knowledge", "time"),
    "order-search": (
        *("numbers", "equal variances", "skewed", "mixed", "counts", "categories", "time"),
        *("interventions", "regimes", "holes", "dropped rows", "knowledge", "proteins", "strange"),
    ),
    "order-search without restarts": ("wide",),
    "block-search": ("curves", "mixed", "time", "interventions", "regimes", "holes", "knowledge"),
    "block-search curved": ("curves",),
    "notears": ("numbers", "interventions", "knowledge", "time"),
    "dagma": ("numbers", "knowledge"),
    "nocurl": ("numbers", "knowledge"),
    "equal-variance": ("numbers", "wide"),
    "variance-sort": ("numbers", "interventions", "knowledge"),
}


def fitted(learner: str, table: str) -> tuple[Any, Sample]:
    """A fitted learner, and the table that it was fitted on."""
    name, settings = LEARNERS[learner]
    sample = TABLES[table]()
    kind = getattr(stochastic_learners, name, None) or getattr(cosmodag, name)
    model = kind(**{**settings, **sample.settings})
    return model.fit(sample.table, **sample.options), sample


def a_fit(learner: str, table: str) -> Any:
    return of_fit(*fitted(learner, table))


def a_bootstrap(learner: str, table: str) -> Any:
    model, sample = fitted(learner, table)
    options = {"n": 6, "random_state": 0, "verbose": False, **sample.options}
    result = model.bootstrap(sample.table, **options)
    return {
        "text": of_text(repr(result)),
        "seeds": shortened(result.seeds),
        "edges": of_table(result.edges()),
        "arc_probabilities": of_matrix(result.arc_probabilities),
        "order_probabilities": of_matrix(result.order_probabilities),
        "consensus": of_matrix(result.consensus(0.5)),
    }


def effects(learner: str, table: str, *pairs: tuple[str, str]) -> Any:
    model, _ = fitted(learner, table)
    found = {
        f"{cause} on {effect}": str(model.effect(cause, effect, bootstrap=None))
        for cause, effect in pairs
    }
    cause, effect = pairs[0]
    return {
        **{pair: of_text(text) for pair, text in found.items()},
        "direct": of_text(str(model.effect(cause, effect, direct=True, bootstrap=None))),
        "effects_": of_table(model.effects_),
    }


def a_resampled_effect() -> Any:
    model, _ = fitted("order-search", "numbers")
    return of_text(str(model.effect("v2", "v5", bootstrap=5)))


def an_adjustment() -> Any:
    model, _ = fitted("order-search", "skewed")
    found = {}
    for cause in model.names_:
        for effect in model.names_:
            if cause != effect:
                try:
                    answer = ", ".join(map(str, model.adjustment_set(cause, effect)))
                except ValueError as error:
                    answer = str(error)
                found[f"{cause} on {effect}"] = answer
    return found


def a_validation(learner: str, table: str) -> Any:
    model, _ = fitted(learner, table)
    result = model.validate(shuffles=20)
    return {"text": of_text(str(result)), "independences": of_table(result.independences)}


def a_pag() -> Any:
    model, _ = fitted("order-search gaussian", "hidden")
    return {"pag_": of_text(str(model.pag_)), "cpdag_": of_text(str(model.cpdag_))}


def a_summary(learner: str, table: str) -> Any:
    model, _ = fitted(learner, table)
    return of_text(str(model.summary()))


def responses() -> Any:
    model, sample = fitted("order-search", "time")
    table = sample.table[sample.table["house"] == "north"]
    return {
        "impulse_responses": of_table(model.impulse_responses(3)),
        "lagged_weights_": of_matrix(model.lagged_weights_),
        "forecast": of_matrix(model.forecast(table, steps=3)),
        "summary_graph_": sorted(f"{u} > {v}" for u, v in model.summary_graph_.edges),
    }


def a_regime() -> Any:
    model, _ = fitted("order-search", "regimes")
    return {"targets_": of_table(model.targets_), "evidence": of_table(model.regime_evidence_)}


def a_report(learner: str, table: str) -> Any:
    model, _ = fitted(learner, table)
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        page = Path(folder) / "report.html"
        model.report(page)
        return of_page(page.read_text("utf-8"))


def a_saved_model() -> Any:
    model, sample = fitted("cosmo", "numbers")
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path, residuals=True)
        loaded = cosmodag.load(path)
    return {**of_graph(loaded), "predictions": of_matrix(loaded.predict(sample.table))}


def a_refinement(method: str) -> Any:
    start, sample = fitted("variance-sort", "numbers")
    return of_graph(cosmodag.refine(start, sample.table, method=method, random_state=3))


def a_start() -> Any:
    sample = TABLES["numbers"]()
    order = list(sample.table)[::-1]
    model = cosmodag.OrderSearch(**SEEDED).fit_from(sample.table, order, "prune")
    return of_graph(model)


def a_choice(table: str) -> Any:
    sample = TABLES[table]()
    model = cosmodag.learn(sample.table, **sample.settings, **SEEDED)
    reasons = {"family": model.family_, "reason": model.family_reason_, "refuted": model.refuted_}
    return {**reasons, "model": of_graph(model)}


def an_evaluation() -> Any:
    data = simulate.load("n300_d8_ER2_gauss", seed=1)
    model = cosmodag.OrderSearch(**SEEDED).fit(data.X)
    found = metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)
    return {name: of_number(value) for name, value in found.items()}


def simulations() -> Any:
    found = {}
    for kind in ("ER", "SF", "BP"):
        for mechanism in (*simulate.NOISES, *simulate.NONLINEAR):
            data = simulate.load(f"n20_d10_{kind}1_{mechanism}", seed=5)
            found[f"{kind} {mechanism}"] = of_matrix(np.asarray(data.X))
    return found


def a_score() -> Any:
    sample = TABLES["numbers"]()
    model = cosmodag.Cosmo(**BRIEF).fit(sample.table.iloc[:200])
    held_out = sample.table.iloc[200:]
    return {
        "score": of_number(model.score(held_out)),
        "log_likelihoods": of_matrix(model.log_likelihoods(held_out)),
        "predictions": of_matrix(model.predict(held_out)),
        "drawn": of_matrix(model.sample(20, random_state=4)),
    }


def commands(*calls: str, table: str = "numbers", files: Sequence[str] = ()) -> Any:
    """Exit code, output and messages of some calls, one after the other in one folder.

    Prints the head of `files` too. ``table.csv`` is in the folder.
    """
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        sample = TABLES[table]()
        sample.table.to_csv(Path(folder) / "table.csv", index=False)
        for name, content in sample.settings.items():
            (Path(folder) / f"{name}.json").write_text(json.dumps(content), "utf-8")
        for call in calls:
            done = subprocess.run(
                [sys.executable, "-m", "cosmodag", *call.split()],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=300,
                env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
            )
            found[f"cosmodag {call}"] = {
                "exit code": done.returncode,
                "output": of_output(done.stdout),
                "messages": of_text(done.stderr),
            }
        for name in files:
            found[name] = of_text((Path(folder) / name).read_text("utf-8"))
        written = (path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file())
        found["files"] = sorted(map(str, written))
    return found


SEARCH = "fit table.csv -o out --method order-search --quiet"
QUESTIONS: dict[str, Case] = {
    "bootstrap: order-search, numbers": partial(a_bootstrap, "order-search", "numbers"),
    "bootstrap: order-search, interventions": partial(a_bootstrap, "order-search", "interventions"),
    "bootstrap: order-search, regimes": partial(a_bootstrap, "order-search", "regimes"),
    "bootstrap: order-search, time": partial(a_bootstrap, "order-search", "time"),
    "bootstrap: cosmo, numbers": partial(a_bootstrap, "cosmo", "numbers"),
    "bootstrap: block-search, mixed": partial(a_bootstrap, "block-search", "mixed"),
    "effect: order-search, numbers": partial(
        effects, "order-search", "numbers", ("v2", "v5"), ("v5", "v2"), ("v0", "v7")
    ),
    "effect: order-search, skewed": partial(
        effects, "order-search", "skewed", ("v0", "v3"), ("v1", "v2")
    ),
    "effect: block-search, curves": partial(
        effects, "block-search", "curves", ("a", "c"), ("b", "e")
    ),
    "effect: block-search, mixed": partial(
        effects, "block-search", "mixed", ("age", "pressure"), ("smokes", "visits")
    ),
    "effect: cosmo, interventions": partial(
        effects, "cosmo", "interventions", ("x0", "x1"), ("x2", "x3")
    ),
    "effect with resamples": a_resampled_effect,
    "adjustment sets": an_adjustment,
    "validate: order-search, numbers": partial(a_validation, "order-search", "numbers"),
    "validate: block-search, curves": partial(a_validation, "block-search", "curves"),
    "pag of hidden causes": a_pag,
    "summary: cosmo, numbers": partial(a_summary, "cosmo", "numbers"),
    "summary: block-search, mixed": partial(a_summary, "block-search", "mixed"),
    "responses in time": responses,
    "evidence of regimes": a_regime,
    "report: cosmo, numbers": partial(a_report, "cosmo", "numbers"),
    "report: block-search, mixed": partial(a_report, "block-search", "mixed"),
    "report: order-search, regimes": partial(a_report, "order-search", "regimes"),
    "report: order-search, time": partial(a_report, "order-search", "time"),
    "report: order-search, proteins": partial(a_report, "order-search", "proteins"),
    "saved and loaded": a_saved_model,
    "refine: order": partial(a_refinement, "order"),
    "refine: prune": partial(a_refinement, "prune"),
    "fit_from an order": a_start,
    "auto: numbers": partial(a_choice, "equal variances"),
    "auto: mixed": partial(a_choice, "mixed"),
    "evaluate": an_evaluation,
    "simulators": simulations,
    "held-out rows": a_score,
}
COMMANDS: dict[str, Case] = {
    "fit, report, effect, validate, convert": partial(
        commands,
        "fit table.csv -o out --method order-search",
        "report out -o again.html --json",
        "effect out --of v2 --on v5",
        "effect out --of v2 --on v5 --data table.csv --json",
        "validate out table.csv",
        "convert out graph.dot",
        "effect out --of v2 --on nothing",
        files=("out/edges.csv", "graph.dot"),
    ),
    "fit by default": partial(commands, "fit table.csv --json", table="skewed"),
    "fit with knowledge": partial(
        commands, f"{SEARCH} --knowledge knowledge.json --json", table="knowledge"
    ),
    "fit in time": partial(
        commands, f"{SEARCH} --lags 1 --time day --series house --json", table="time"
    ),
    "fit with interventions": partial(
        commands, f"{SEARCH} --interventions target --json", table="interventions"
    ),
    "fit with regimes and bootstrap": partial(
        commands, f"{SEARCH} --regimes group --bootstrap 5 --json", table="regimes"
    ),
    "fit with holes": partial(
        commands, SEARCH, f"{SEARCH} --missing drop", f"{SEARCH} --missing impute", table="holes"
    ),
    "fit of mixed columns": partial(
        commands, "fit table.csv --method notears", f"{SEARCH} --json", table="mixed"
    ),
    "fit planned": partial(commands, "fit table.csv --dry-run", "fit table.csv --dry-run --json"),
    "diagnose": partial(commands, "diagnose table.csv", table="strange"),
    "pag": partial(commands, "pag table.csv -o out", table="hidden", files=("out/pag.txt",)),
    "simulate and evaluate": partial(
        commands,
        "simulate n50_d5_ER1_gauss -o data --quiet",
        "evaluate data/graph.csv data/graph.csv --json",
    ),
    "wrong usage": partial(
        commands,
        "fit",
        "fit absent.csv",
        "fit table.csv --method unknown",
        "fit table.csv --set unknown=1",
        "fit table.csv --set lambda1=-1",
        "fit table.csv --drop absent",
        "effect absent --of v0 --on v1",
        "bench unknown",
    ),
    "methods": partial(commands, "methods", "methods cosmo"),
}


@cache
def cases() -> dict[str, Case]:
    """All cases by name, in the order in which they are recorded."""
    return {
        **{
            f"{learner}, {table}": partial(a_fit, learner, table)
            for learner, tables in FITS.items()
            for table in tables
        },
        **QUESTIONS,
        **{f"command: {name}": case for name, case in COMMANDS.items()},
    }
