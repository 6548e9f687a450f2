"""The first card of the page: what was found, what it rests on and what was assumed."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.dag.basis import BASES
from cosmodag.fit.view.arcs import standardised
from cosmodag.graph.texts import counted
from cosmodag.report.evidence import Evidence

if TYPE_CHECKING:
    from cosmodag.learners.base import StructureLearner

__all__ = ["bases_in_order", "story_of"]

_SUREST = 5
_ARROW, _TAIL = 2, 3
_NOISE = {
    "gaussian": "Noise is Gaussian, with a variance of its own for each variable.",
    "equal-variance": "Noise has the same variance for all variables.",
    "non-gaussian": "Noise is not Gaussian.",
}
_HIDDEN = (
    "Hidden common causes are not ruled out: something that was not measured can influence two "
    "variables, and an arc between them then shows an association, not a cause."
)


def story_of(
    model: "StructureLearner", evidence: Evidence, rows: int | None, warnings: int
) -> dict[str, Any]:
    """Write the first card; ``warnings`` is the number of warnings of the diagnosis.

    Returns
    -------
    dict
        ``found``: one sentence; ``surest``: arcs of ``edges_``, the surest first; ``points``: pairs
        of title and text.
    """
    verdict = evidence.answers.verdict
    said = counted(warnings, "warning")
    warned = f"The diagnosis below has {said}: read it before you use the graph."
    points = [
        ("What the directions rest on", _bases(model)),
        ("What was assumed", _assumed(model)),
        ("Hidden causes", _hidden(evidence)),
        ("Do tests contradict it?", verdict and verdict["sentence"]),
        ("Warnings", warned if warnings else ""),
    ]
    return {
        "found": _found(model, rows),
        "surest": _surest(model, evidence),
        "points": [(title, text) for title, text in points if text],
    }


def _found(model: "StructureLearner", rows: int | None) -> str:
    arcs, d = model.edges_.nnz, model.n_features_in_
    source = "" if rows is None else f" from {rows:,} rows"
    if not arcs:
        return (
            f"No arc was found among {d:,} variables{source}: the data give no evidence that one "
            "of them depends on another."
        )
    verb = "was" if arcs == 1 else "were"
    return f"{counted(arcs, 'arc')} among {d:,} variables {verb} learnt{source}."


def _surest(model: "StructureLearner", evidence: Evidence) -> list[int]:
    """Rank arcs by the share of resamples, if there are any; then by basis and size."""
    edges = model.edges_
    ranks = {name: number for number, name in enumerate(BASES)}
    basis = np.array([ranks.get(name, len(ranks)) for name in model.arrow_basis_])
    sizes = np.abs(np.nan_to_num(standardised(model)))
    if evidence.errors is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(edges.data / evidence.errors)
        sizes = np.where(np.isfinite(t), t, 0.0)
    keys: list[NDArray[Any]] = [-sizes, basis]
    for shares in (evidence.edge_probabilities, evidence.direction_probabilities):
        if shares is not None:
            keys.append(-np.nan_to_num(shares))
    return [int(arc) for arc in np.lexsort(tuple(keys))[:_SUREST]]


def bases_in_order(found: Iterable[str]) -> list[str]:
    """List distinct bases of directions: those of `BASES` in its order, then all others."""
    names = set(found)
    return [*(name for name in BASES if name in names), *sorted(names - BASES.keys())]


def _bases(model: "StructureLearner") -> str:
    counts = Counter(model.arrow_basis_)
    said = []
    for name in bases_in_order(model.arrow_basis_):
        meaning = f" ({BASES[name]})" if name in BASES else ""
        said.append(f"{counts[name]:,} on {name}{meaning}")
    return f"Of {counted(len(model.arrow_basis_), 'arrow')}: {'; '.join(said)}." if said else ""


def _assumed(model: "StructureLearner") -> str:
    form = model.fitted_.equations.form
    said = [
        f"Each variable is {form} of its direct causes plus noise of its own, and there are no "
        "cycles.",
        _NOISE.get(getattr(model, "noise_", None) or "", ""),
        "Rows are independent of each other."
        if model.fitted_.window is None
        else "A row depends on earlier ones only through these lags, the same way at all times.",
    ]
    return " ".join(part for part in said if part)


def _hidden(evidence: Evidence) -> str:
    pag = evidence.answers.pag
    if pag is None:
        return _HIDDEN
    ends = [sorted(edge[2:]) for edge in pag["edges"]]
    both = sum(pair == [_ARROW, _ARROW] for pair in ends)
    causes = sum(pair == [_ARROW, _TAIL] for pair in ends)
    shown = f"{counted(causes, 'edge')} of {len(ends):,} {_is(causes)} a cause all the same"
    also = f", and {counted(both, 'pair')} {_is(both)} joined by a hidden cause" if both else ""
    view = "choose “hidden causes allowed” above the graph."
    return f"{_HIDDEN} If they are allowed for, {shown}{also}: {view}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
