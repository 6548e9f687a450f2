"""The referee's ruling: the graph of the kept family, the table of families, and the reason."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosmodag.data.diagnose.findings import Finding
from cosmodag.evidence.departures import Departure
from cosmodag.evidence.verdict import Judged, Verdict
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitResult
from cosmodag.learners.referee.parts import (
    CURVED_KINDS,
    EQUAL,
    FAMILIES,
    GAUSSIAN,
    KINDS,
    LINES,
    SHAPES,
)
from cosmodag.learners.referee.trial import Trial, cheap_first
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.auto import Auto

# Largest number of variables, and of rows times variables, whose lines are judged.
_MOST_VARIABLES, _MOST_ENTRIES = 1_000, 20_000_000
# Lines with one noise model, which repeat the decision of a fit.
_LINES_OF = {"equal-variance": EQUAL, "gaussian": GAUSSIAN, "non-gaussian": SHAPES}


@dataclass(frozen=True, eq=False)
class Ruling:
    """The kept graph, and what is reported about the choice."""

    dag: FittedDAG
    fit: FitResult
    noise_reason: str
    attributes: dict[str, Any]
    doubt: Finding | None = None


def ruled(learner: "Auto", given: Prepared, watch: Watch, *, by_kind: bool) -> Ruling:
    """Choose a family and its graph for a prepared table."""
    trial = Trial(learner, given, watch)
    if learner.asked is not None:
        return _as_asked(trial, learner.asked)
    n, d = given.X.shape
    if by_kind:
        return _alone(trial, CURVED_KINDS, "The table has categories or counts.")
    if given.regimes is not None:
        return _alone(trial, LINES, "Regimes are compared by lines.")
    if d > _MOST_VARIABLES or n * d > _MOST_ENTRIES:
        return _alone(trial, LINES, f"Other families are not compared on {d:,} columns.")
    verdict, refuted = cheap_first(trial)
    return _compared(trial, verdict, refuted)


def _as_asked(trial: Trial, parts: tuple[str, ...]) -> Ruling:
    """Fit one part, or compare the graphs of several."""
    if len(parts) == 1:
        return _alone(trial, parts[0], f"{parts[0].capitalize()} were requested.")
    for part in parts:
        trial.search(part)
    verdict = trial.judged()
    return _compared(trial, verdict, trial.departures_of(verdict.kept.density, verdict.kept.graph))


def _alone(trial: Trial, part: str, why: str) -> Ruling:
    """Rule for one part without a comparison."""
    found = trial.search(part)
    assert found is not None
    record = {"family": part, "part": part, "seconds": found.seconds, "kept": True, "why": why}
    attributes = {
        "family_": part,
        "family_reason_": why,
        "part_": _repeated(part, found.fit.dag),
        "family_rows_": [record],
        "refuted_": [],
    }
    dag = trial.dag_of(part)
    return Ruling(dag, found.fit, f"{why} {dag.noise_reason}", attributes, found.fit.doubt)


def _compared(trial: Trial, verdict: Verdict, refuted: list[Departure]) -> Ruling:
    """Rule by a comparison of families on held-out rows."""
    kept, names = verdict.kept, trial.given.names
    part = trial.own_part(kept.density, kept.graph)
    fit = trial.found[part].fit
    reason = _reason(verdict)
    sentences = [one.sentence(names) for one in refuted]
    attributes = {
        "family_": kept.density,
        "family_reason_": reason,
        "part_": _repeated(part, fit.dag),
        "family_rows_": [_record(trial, verdict, one) for one in verdict.judged],
        "refuted_": sentences,
    }
    dag = trial.dag_of(part)
    doubt = _refuted(kept.density, refuted, sentences, names) if refuted else None
    if part == LINES:  # its learner chose the noise
        reason = f"{reason} {dag.noise_reason}"
    return Ruling(dag, fit, reason, attributes, doubt)


def _repeated(part: str, dag: FittedDAG) -> str:
    """Name the part that repeats the decisions of a fit."""
    if part == LINES:
        return _LINES_OF[str(dag.noise)]
    if part in (KINDS, CURVED_KINDS):
        return CURVED_KINDS if dag.equations.is_curved else KINDS
    return part


def _reason(verdict: Verdict) -> str:
    """State the choice in one sentence."""
    kept, best, compared = verdict.kept, verdict.best, len(verdict.judged)
    if compared == 1:
        return "Lines with normal noise are not contradicted, so that nothing else was tried."
    simplest = verdict.judged[0]
    among = f"among {compared} families"
    if kept == best and kept != simplest:
        return (
            f"{kept.density.capitalize()} have the highest log density on held-out rows {among}, "
            f"{simplest.behind:.3f} ± {simplest.behind_error:.3f} per row above "
            f"{simplest.density}."
        )
    if kept == best:
        return f"{kept.density.capitalize()} have the highest log density on held-out rows {among}."
    return (
        f"{kept.density.capitalize()} are the simplest {among} within two standard errors of the "
        f"best on held-out rows ({best.density}: {kept.behind:.3f} ± {kept.behind_error:.3f} more "
        "log density per row)."
    )


def _record(trial: Trial, verdict: Verdict, one: Judged) -> dict[str, Any]:
    """One row of the table of families."""
    own = [p for p in FAMILIES[one.density].parts if p in trial.found]
    if one == verdict.kept:
        why = "simplest within two standard errors of the best"
    elif one.behind > 2 * one.behind_error:
        why = "behind the best"
    else:
        why = "no better than a simpler one"
    return {
        "family": one.density,
        "part": one.graph,
        "log_density": round(one.mean, 6),
        "error": round(one.error, 6),
        "behind": round(one.behind, 6),
        "behind_error": round(one.behind_error, 6),
        "seconds": round(sum(trial.found[part].seconds for part in own), 3),
        "kept": one == verdict.kept,
        "why": why,
    }


def _refuted(
    family: str, refuted: list[Departure], sentences: list[str], names: list[str]
) -> Finding:
    """Report what contradicts the kept family."""
    worst = max(refuted, key=lambda one: one.size / one.limit)
    sentence = (
        f"No family that was compared fits the table: under the kept one ({family}), "
        f"{'; '.join(sentences)}. Directions that rest on it are not determined."
    )
    columns = tuple(dict.fromkeys((names[worst.tail], names[worst.head])))
    return Finding("family_refuted", columns, worst.size, "warning", sentence)
