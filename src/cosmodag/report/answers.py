"""Answers in the report other than the arcs: effects, hidden causes, the verdict of tests."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.errors import CosmodagError

if TYPE_CHECKING:
    from cosmodag.fit.view.fitted import FittedGraph
    from cosmodag.graph.mixed.pag import PartialAncestralGraph

ANSWERS = "answers.json"
"""File of a saved fit that contains the answers."""

# Largest numbers of variables: every pair without an arc is a test.
_MOST_FOR_PAG, _MOST_FOR_TESTS = 100, 300
# Largest number of triangles of arcs for a PAG: the search tries to change the arcs of each. With
# 100 variables, 619 triangles took 3.6 s, 1,855 took 11 s, and 3,889 took 32 s, in a graph of 1,305
# arcs without refinement; the refined graph of the same table has 274 triangles and took .9 s.
_MOST_TRIANGLES = 1000
_COLUMNS = ("from", "to", "estimate", "low", "high", "least", "most", "identified", "adjustment")
_DIGITS = 5


@dataclass(frozen=True)
class Answers:
    """Answers as JSON-compatible values; None for those that were not computed.

    Variables are given by number.
    """

    # Total effects of an increase by one, as columns of equal length: from, to, estimate, low,
    # high, least, most, identified, adjustment (lists of variables). Other pairs have no effect.
    effects: dict[str, list[Any]] | None = None
    # The partial ancestral graph. edges: (variable, variable, mark at the first, mark at the
    # second), with 1 circle, 2 arrowhead, 3 tail; basis: text
    pag: dict[str, Any] | None = None
    # Whether the rows contradict the graph: sentence, rejected, tested (number of tests)
    verdict: dict[str, Any] | None = None
    # Effects that are not one number: see :func:`cosmodag.assess.effects.panel.effect_curves`
    effect_curves: dict[str, Any] | None = None

    @classmethod
    def of(cls, model: "FittedGraph") -> "Answers":
        """Compute the answers that take little time for the model's number of variables.

        After an interrupt, the program is to end soon: neither hidden causes nor the graph are
        examined.
        """
        has_data, d = hasattr(model, "residuals_"), model.n_features_in_
        is_interrupted = getattr(model, "stopped_", None) == "interrupt"
        may_examine = has_data and not is_interrupted
        return cls(
            effects=_or_none(_effects, model),
            pag=_or_none(_pag, model) if may_examine and not is_large_for_pag(model) else None,
            verdict=_or_none(_verdict, model) if may_examine and d <= _MOST_FOR_TESTS else None,
            effect_curves=_or_none(_effect_curves, model),
        )

    def facts(self) -> dict[str, Any]:
        """Return the content of ``answers.json``."""
        return asdict(self)

    def pag_among(self, names: Sequence[str]) -> "PartialAncestralGraph | None":
        """Return the partial ancestral graph of variables with these names."""
        from cosmodag.graph.mixed.pag import PartialAncestralGraph

        if self.pag is None:
            return None
        marks = np.zeros((len(names), len(names)), np.int8)
        for u, v, at_u, at_v in self.pag["edges"]:
            marks[v, u], marks[u, v] = at_u, at_v
        return PartialAncestralGraph(tuple(names), marks, self.pag["basis"])

    @classmethod
    def read(cls, facts: Any, variables: int) -> "Answers":
        """Convert the content of ``answers.json``; any exception means that it was changed."""
        names = ("effects", "pag", "verdict", "effect_curves")
        effects, pag, verdict, curves = (facts[name] for name in names)
        if effects is not None:
            columns = [effects[name] for name in _COLUMNS]
            _check(len({len(one) for one in columns}) == 1 and len(effects) == len(_COLUMNS))
            sets = [place for one in effects["adjustment"] for place in one]
            _check_places([*effects["from"], *effects["to"], *sets], variables)
            for name in ("estimate", "low", "high", "least", "most"):
                _check_numbers(effects[name])
        if pag is not None:
            _check_places([end for edge in pag["edges"] for end in edge[:2]], variables)
            _check(all(mark in (1, 2, 3) for _, _, *marks in pag["edges"] for mark in marks))
            pag = {"edges": [list(edge) for edge in pag["edges"]], "basis": str(pag["basis"])}
        if verdict is not None:
            verdict = {
                "sentence": str(verdict["sentence"]),
                "rejected": bool(verdict["rejected"]),
                "tested": int(verdict["tested"]),
            }
        if curves is not None:
            _check_curves(curves, variables)
        return cls(effects, pag, verdict, curves)


def is_large_for_pag(model: "FittedGraph") -> bool:
    """Whether a report leaves out the search for hidden causes, which would take long."""
    if model.n_features_in_ > _MOST_FOR_PAG:
        return True
    arcs = model.fitted_.arcs.astype(np.int64)
    return int((arcs @ arcs).multiply(arcs).sum()) > _MOST_TRIANGLES


def _or_none(
    answer: "Callable[[FittedGraph], dict[str, Any] | None]", model: "FittedGraph"
) -> dict[str, Any] | None:
    """Compute an answer; None if the model cannot give it, for instance with too few rows."""
    try:
        return answer(model)
    except CosmodagError:
        return None


def _effects(model: "FittedGraph") -> dict[str, list[Any]] | None:
    from cosmodag.assess.effects.panel import effects_panel

    listed = effects_panel(model)
    if listed is None:
        return None
    return {name: plain([one[name] for one in listed]) for name in _COLUMNS}


def _effect_curves(model: "FittedGraph") -> dict[str, Any] | None:
    from cosmodag.assess.effects.panel import effect_curves

    found = effect_curves(model)
    return None if found is None else {**found, "pairs": plain(found["pairs"])}


def _pag(model: "FittedGraph") -> dict[str, Any]:
    graph = model.pag_
    pairs = np.argwhere(np.triu(graph.marks != 0, 1)).tolist()
    edges = [[u, v, int(graph.marks[v, u]), int(graph.marks[u, v])] for u, v in pairs]
    return {"edges": edges, "basis": graph.basis}


def _verdict(model: "FittedGraph") -> dict[str, Any]:
    found = model.validate(shuffles=0)
    return {
        "sentence": found.verdict,
        "rejected": found.rejected,
        "tested": len(found.independences),
    }


def plain(value: Any) -> Any:
    """Convert data to JSON-compatible values: floats to five digits, NaN and infinity to None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)


def _check(is_right: bool) -> None:
    if not is_right:
        raise ValueError("the content of answers.json was changed")


def _check_places(places: list[Any], variables: int) -> None:
    _check(all(type(place) is int and 0 <= place < variables for place in places))


def _check_numbers(values: list[Any]) -> None:
    _check(all(value is None or isinstance(value, int | float) for value in values))


def _check_curves(curves: Any, variables: int) -> None:
    _check(curves["over"] in ("time", "value") and isinstance(curves["band"], str))
    _check(type(curves["variables"]) is int and 0 < curves["variables"] <= variables)
    for pair in curves["pairs"]:
        _check_places([pair["from"], pair["to"]], curves["variables"])
        points = len(pair["x"])
        for name in ("x", "y", "low", "high"):
            if name in ("x", "y") or pair[name] is not None:
                _check(len(pair[name]) == points)
                _check_numbers(pair[name])
        if pair["labels"] is not None:
            _check(len(pair["labels"]) == points)
            _check(all(isinstance(label, str) for label in pair["labels"]))
