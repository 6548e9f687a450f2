"""Sentences of the report: what was found, the evidence for it, and the choices of the fit."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.dag.assertions import GRADES
from cosmodag.fit.dag.basis import BASES
from cosmodag.fit.view.arcs import standardised_weights
from cosmodag.graph.mixed.marks import ARROW, TAIL
from cosmodag.graph.texts import counted
from cosmodag.learners.registry import LEARNERS
from cosmodag.report.answers import is_large_for_pag
from cosmodag.report.evidence_section import Evidence

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

_STRONGEST = 5  # number of arcs on the first card
_SHOWN = 12  # largest number of names in a list, of starts or of variables
_NOISE = {
    "gaussian": "Gaussian, with its own variance for each variable",
    "equal-variance": "of the same variance for all variables",
    "non-gaussian": "not Gaussian",
    "uneven": "of a size that depends on the causes",
}
_HIDDEN = (
    "Hidden common causes are not ruled out: a variable that was not measured can influence two "
    "others, and an arc between these then shows an association, not a causal effect."
)
_LEFT_OUT = (
    "The search for them was left out, because it takes long with so many variables or arcs: "
    "pag_ of the model, or 'cosmodag pag', searches for them."
)

_REFINED = {
    "prune": "The learnt order was kept; arcs that agree with it were chosen by evidence.",
    "order": "Orders near several starting orders were searched; the order with the best score was "
    "kept, and its arcs were chosen by evidence.",
}


def story_of(
    model: "StructureLearner", evidence: Evidence, rows: int | None, warnings: int
) -> dict[str, Any]:
    """Write the first card of the page.

    `warnings` is the number of warnings in the diagnosis. In the result, ``found`` is one sentence,
    ``strongest`` are numbers of arcs of ``edges_``, ``title`` is what they may be called, and
    ``points`` are pairs of title and text.
    """
    verdict, assertions = evidence.answers.verdict, model.fitted_.assertions
    number = counted(warnings, "warning")
    warned = f"The diagnosis below has {number}: read it before you use the graph."
    points = [
        ("What may be said of the directions", assertions.sentence),
        ("What the directions rest on", _bases(model)),
        ("What was assumed", _assumed(model)),
        ("Hidden causes", _hidden(model, evidence)),
        ("Do tests contradict the graph?", verdict and verdict["sentence"]),
        ("Warnings", warned if warnings else ""),
    ]
    return {
        "found": _count_of_arcs(model, rows),
        "strongest": _strongest(model, evidence),
        "title": "The surest arcs" if assertions.are_determined else "The strongest associations",
        "points": [(title, text) for title, text in points if text],
    }


def _count_of_arcs(model: "StructureLearner", rows: int | None) -> str:
    arcs, window = model.edges_.nnz, model.fitted_.window
    if window is None:
        variables = counted(model.n_features_in_, "variable")
    else:
        variables = f"{counted(window.d, 'variable')} at {window.lags + 1} times"
    source = "" if rows is None else f" from {counted(rows, 'row')}"
    if not arcs:
        return (
            f"No arc was found among {variables}{source}: the data give no evidence that any of "
            "them depends on another."
        )
    verb = "was" if arcs == 1 else "were"
    return f"{counted(arcs, 'arc')} among {variables} {verb} learnt{source}."


def _strongest(model: "StructureLearner", evidence: Evidence) -> list[int]:
    """Rank arcs by their shares of resamples, if there are any, then by grade and size."""
    edges = model.edges_
    ranks = {name: number for number, name in enumerate(GRADES)}
    grade = np.array([ranks[name] for name in model.fitted_.assertions.grades])
    sizes = np.abs(np.nan_to_num(standardised_weights(model)))
    if evidence.errors is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(edges.data / evidence.errors)
        sizes = np.where(np.isfinite(t), t, 0.0)
    keys: list[NDArray[Any]] = [-sizes, grade]
    for shares in (evidence.edge_probabilities, evidence.direction_probabilities):
        if shares is not None:
            keys.append(-np.nan_to_num(shares))
    return [int(arc) for arc in np.lexsort(tuple(keys))[:_STRONGEST]]


def bases_in_order(found: Iterable[str]) -> list[str]:
    """List the distinct bases of directions: those in `BASES`, in its order, then all others."""
    names = set(found)
    return [*(name for name in BASES if name in names), *sorted(names - BASES.keys())]


def _bases(model: "StructureLearner") -> str:
    counts = Counter(model.arrow_basis_)
    parts = []
    for name in bases_in_order(model.arrow_basis_):
        meaning = f" ({BASES[name]})" if name in BASES else ""
        parts.append(f"{counts[name]:,} on {name}{meaning}")
    return f"Of {counted(len(model.arrow_basis_), 'arrow')}: {'; '.join(parts)}." if parts else ""


def _assumed(model: "StructureLearner") -> str:
    form = model.fitted_.equations.form
    noise = _NOISE.get(getattr(model, "noise_", None) or "")
    sentences = [
        f"Each variable is {form} of its direct causes plus its own noise. There are no cycles.",
        f"Noise is {noise}." if noise else "",
        "Rows are independent of each other."
        if model.fitted_.window is None
        else "A row depends on earlier rows only through the lags of the graph, in the same way at "
        "all times.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _hidden(model: "StructureLearner", evidence: Evidence) -> str:
    pag = evidence.answers.pag
    if pag is None:
        is_left_out = model.fitted_.window is None and is_large_for_pag(model)
        return f"{_HIDDEN} {_LEFT_OUT}" if is_left_out else _HIDDEN
    ends = [sorted(edge[2:]) for edge in pag["edges"]]
    both = sum(pair == [ARROW, ARROW] for pair in ends)
    causes = sum(pair == [ARROW, TAIL] for pair in ends)
    still = f"{causes:,} of {counted(len(ends), 'edge')} {_shows(causes)} a cause"
    also = f", and {both:,} {_shows(both)} a hidden common cause" if both else ""
    view = "choose “hidden causes allowed” above the graph."
    return f"{_HIDDEN} If they are allowed, {still}{also}: {view}"


def _shows(number: int) -> str:
    return "shows" if number == 1 else "show"


def choices_of(model: "StructureLearner", run: dict[str, Any]) -> list[dict[str, str]]:
    """List the choices of the fit and the reasons, each with ``title`` and ``text``."""
    entry = LEARNERS.get(type(model).__name__)
    thresholded = (
        "Arcs are those whose learnt weight exceeds "
        f"{model.raw_threshold:g} in magnitude and that agree with the order."
    )
    found = [
        ("Learner", type(model).__name__ + (f": {entry.summary}." if entry else ".")),
        ("Family", getattr(model, "family_reason_", "")),
        ("Against the family", ". ".join(getattr(model, "refuted_", ()))),
        ("Knowledge", _knowledge(model)),
        ("Interventions", _interventions(model)),
        ("Regimes", _regimes(model)),
        ("Missing values", _missing(model)),
        ("Order and arcs", _REFINED.get(model.refinement_ or "", thresholded)),
        ("Starts", _starts(getattr(model, "refine_report_", None))),
    ]
    noise = getattr(model, "noise_", None)
    if noise is not None:
        reason = getattr(model, "noise_reason_", None) or ""
        found.append(("Noise", f"Assumed to be {_NOISE.get(noise, noise)}. {reason}".strip()))
        found.append(("Noise, scores compared", _noise_scores(model)))
    settings = getattr(model, "settings_", None)
    if settings:
        listed = ", ".join(f"{name} = {value:g}" for name, value in settings.items())
        found.append(("Settings", f"Values that were used: {listed}."))
    backend = getattr(model, "backend_", None)
    if backend is not None:
        rounds = getattr(model, "n_iter_", None)
        length = "" if rounds is None else f", {rounds:,} rounds or iterations"
        found.append(("Computed by", f"{backend}{length}."))
    return [{"title": title, "text": str(text)} for title, text in found if text]


def problems_of(model: "StructureLearner") -> list[str]:
    """List the problems of the fit that limit trust in the graph, one sentence each."""
    found = []
    if getattr(model, "stopped_", None) == "time":
        found.append("The fit reached its time limit: the graph is a DAG, but less converged.")
    elif getattr(model, "stopped_", None):
        found.append("The fit was interrupted: the graph is a DAG, but less converged.")
    elif getattr(model, "converged_", None) is False:
        found.append("Training ended at a limit before its method had converged.")
    if getattr(model, "was_cyclic_", False) and model.refinement_ is None:
        dropped = counted(int(getattr(model, "dropped_arcs_", 0) or 0), "arc")
        found.append(f"The optimised weights had cycles, so {dropped} had to be dropped.")
    return found


def _join_first(names: list[str], between: str) -> str:
    return between.join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


def _knowledge(model: "StructureLearner") -> str | None:
    """Count the items of background knowledge by kind."""
    known = getattr(model, "knowledge_", None)
    if known is None:
        return None
    stated = {name.replace("_", " "): value for name, value in known.facts().items() if value}
    listed = ", ".join(f"{name}: {len(value)}" for name, value in stated.items())
    return f"Only graphs that satisfy the knowledge were considered ({listed})." if listed else None


def _interventions(model: "StructureLearner") -> str | None:
    """Name the variables that were intervened on."""
    sets = getattr(model, "target_sets_", None)
    if sets is None or hasattr(model, "regimes_"):
        return None
    names = [str(model.names_[v]) for v in sets.any(axis=0).nonzero()[0]]
    shown = _join_first(names, ", ")
    return f"Variables set by intervention in some rows, which their equations exclude: {shown}."


def _regimes(model: "StructureLearner") -> str | None:
    """Name the variables that changed in each regime, with the evidence."""
    regimes = getattr(model, "regimes_", None)
    if regimes is None:
        return None
    targets = regimes.table([str(name) for name in model.names_])
    listed = [
        f"{regime}: "
        + ", ".join(
            f"{one['variable']} ({'stated, ' if one['stated'] else ''}{one['change']}, evidence "
            f"{one['evidence']:.1f})"
            for one in rows.to_dict("records")
        )
        for regime, rows in targets.groupby("regime", sort=False)
    ]
    if not listed:
        return "No variable changes between the regimes."
    return f"Variables whose equations differ between regimes. {'. '.join(listed)}."


def _missing(model: "StructureLearner") -> str | None:
    """Describe how much was missing and how it was treated."""
    report = getattr(model, "missing_report_", None)
    if report is None:
        return None
    treatment = {"drop": "their rows were dropped", "impute": "they were imputed from the others"}
    treated = treatment.get(str(getattr(model, "missing", "")), "")
    return f"{counted(report['entries'], 'entry', 'entries')} ({report['share']:.1%}); {treated}."


def _noise_scores(model: "StructureLearner") -> str | None:
    """Report the scores that decided the noise model, if it was chosen."""
    scores: dict[str, float] = getattr(model, "noise_scores_", None) or {}
    found = []
    if "margin" in scores:
        found.append(
            f"Score of the best graph: {scores['equal_variance']:,.1f} with equal variances, "
            f"{scores['gaussian']:,.1f} with one variance per variable; the margin is "
            f"{scores['margin']:,.1f}, and {scores['margin_needed']:,.1f} is required."
        )
    if "non_gaussian_gain" in scores:
        found.append(
            "Gain in log-likelihood by non-Gaussian noise: "
            f"{scores['non_gaussian_gain']:,.1f}; by chance it would be at most "
            f"{scores['gain_by_chance']:,.1f}."
        )
    if "arcs_refuted" in scores:
        share = scores["arcs_refuted"]
        found.append(f"Share of arcs that contradict independent noise: {share:.0%}.")
    if "arcs_bent" in scores:
        bent = scores["arcs_bent"]
        found.append(f"Share of arcs that a curve explains far better than a line: {bent:.0%}.")
    return " ".join(found) or None


def _starts(report: list[dict[str, Any]] | None) -> str | None:
    """Name the starts of the refinement and the one that led to the best graph."""
    scored = [start for start in report or [] if "after" in start and "before" in start]
    if not scored:
        return None
    # The last search decided; earlier ones may have used another score.
    chosen = [start for start in scored if start.get("chosen")][-1:] or scored[:1]
    names = list(dict.fromkeys(str(start["start"]) for start in scored))
    shown = _join_first(names, "; ")
    before, after = float(chosen[0]["before"]), float(chosen[0]["after"])
    moves = f" in {counted(chosen[0]['moves'], 'move')}" if chosen[0].get("moves") else ""
    is_gain = after - before > 1e-9 * abs(after)  # not only rounding
    rose = f", whose score rose by {after - before:.4g}{moves}" if is_gain else ""
    return (
        f"{counted(len(names), 'starting order')}: {shown}. The best graph was found from "
        f"“{chosen[0]['start']}”{rose}."
    )
