"""What may be said of a fit: of directions, of the absence of an effect, and in one sentence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.dag.basis import FREE, SCALE, WEAK, basis_of_fit, stated_directions
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

DETERMINED, WEAKLY, OPEN = "determined", "weakly", "open"

GRADES = {
    DETERMINED: "determined under the stated assumptions",
    WEAKLY: "weakly: a graph that turns it scores nearly as well, or the table contradicts an "
    "assumption on which it rests",
    OPEN: "open: nothing but the units of the columns, or nothing at all, decides it",
}
"""Grades of a direction, the firmest first, and the meaning of each."""

# Findings that contradict the equations or the rows of the whole fit, in a few words.
_REFUTING = {
    "curved": "relations are curved",
    "uneven_noise": "noise depends on causes",
    "few_valued_noise": "noise takes few values",
    "family_refuted": "no family fits the table",
    "several_populations": "rows are of several populations",
    "rows_follow": "rows depend on one another",
    "few_rows": "there are few rows",
}
# Findings about columns that cannot carry a direction.
_ABOUT_COLUMNS = (
    "hidden_causes",
    "binary",
    "few_values",
    "levels_as_numbers",
    "near_duplicate",
    "collinear",
)


class Doubt(NamedTuple):
    """A finding on the fit that limits what may be said of it."""

    name: str
    columns: tuple[str, ...]

    @classmethod
    def among(cls, findings: Iterable[Any]) -> tuple["Doubt", ...]:
        """List the doubts among findings, each once."""
        known = {*_REFUTING, *_ABOUT_COLUMNS}
        found = [cls(f.name, tuple(f.columns)) for f in findings if f.name in known]
        return tuple(dict.fromkeys(found))


class Absence(NamedTuple):
    """That one variable has no effect on another, and what it rests on."""

    grade: str
    against: tuple[tuple[int, int], ...]  # arcs that are turned in nearby graphs with an effect
    bases: tuple[str, ...]  # of the arcs against it, or of those that exclude an effect


@dataclass(frozen=True, eq=False)
class Assertions:
    """Basis and grade of the direction of each arc, in the order of the ``edges`` of a fit.

    A direction is determined if it was stated, or if turning it costs the score at least
    `cosmodag.fit.dag.basis.FIRM` or an assumption about the noise decides it, no finding
    contradicts the assumptions (`contradicted`), and none concerns its ends.
    """

    tails: NDArray[Any]
    heads: NDArray[Any]
    bases: tuple[str, ...]
    grades: tuple[str, ...]
    contradicted: tuple[str, ...]  # reasons in words
    is_stated: bool

    @classmethod
    def of(cls, dag: "FittedDAG") -> "Assertions":
        """Grade the directions of a fit."""
        edges, bases = dag.edges, basis_of_fit(dag)
        if dag.is_stated:
            return cls(edges.row, edges.col, tuple(bases), (DETERMINED,) * len(bases), (), True)
        untested = _untested(dag)
        doubted = _doubted(dag)
        stated = stated_directions(dag)
        whole = tuple(_REFUTING[one.name] for one in dag.doubts if one.name in _REFUTING)
        grades = []
        for place, basis in enumerate(bases):
            if stated[place]:
                grade = DETERMINED
            elif basis in (FREE, SCALE):
                grade = OPEN
            else:
                is_weak = basis == WEAK or bool(whole) or untested[place] or doubted[place]
                grade = WEAKLY if is_weak else DETERMINED
            grades.append(grade)
        return cls(edges.row, edges.col, tuple(bases), tuple(grades), whole, False)

    @property
    def sentence(self) -> str:
        """State how many directions have each grade, and what contradicts the assumptions."""
        if not self.grades:
            return ""
        counts = Counter(self.grades)
        parts = [f"{counts[grade]:,} {_SHORT[grade]}" for grade in GRADES if counts[grade]]
        why = f" The table contradicts the fit: {'; '.join(self.contradicted)}."
        number = counted(len(self.grades), "direction")
        return f"Of {number}: {', '.join(parts)}.{why if self.contradicted else ''}"

    @property
    def are_determined(self) -> bool:
        """Whether every direction is."""
        return all(grade == DETERMINED for grade in self.grades)

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        ends = zip(self.tails.tolist(), self.heads.tolist(), strict=True)
        return {arc: place for place, arc in enumerate(ends)}

    def rests_on(self, arcs: Iterable[tuple[int, int]]) -> tuple[tuple[str, ...], str]:
        """Return the distinct bases of some arcs, and the least firm of their grades."""
        places = [self._places[arc] for arc in arcs]
        found = {self.bases[place] for place in places}
        grades = [grade for grade in GRADES if grade in {self.grades[place] for place in places}]
        return tuple(sorted(found)), grades[-1] if grades else DETERMINED

    def absence(self, x: int, y: int) -> Absence:
        """Tell what the absence of directed paths from x to y rests on.

        Arcs whose direction is not determined may point the other way in graphs that score nearly
        as well. If a path leads from x to y when as few of them as possible are turned, these count
        against the absence.
        """
        turned = _fewest_turned(self, x, y, self._may_turn)
        if turned is not None:
            return Absence(WEAKLY, turned, self.rests_on(turned)[0])
        excluding = _fewest_turned(self, x, y, [not self.is_stated] * len(self.grades))
        grade = WEAKLY if self.contradicted else DETERMINED
        return Absence(grade, (), self.rests_on(excluding or ())[0])

    @property
    def _may_turn(self) -> list[bool]:
        return [grade != DETERMINED for grade in self.grades]

    def parents(self, x: int) -> tuple[frozenset[int], frozenset[int]]:
        """List the certain parents of a variable, and the neighbours that may be parents."""
        into = {u: place for (u, v), place in self._places.items() if v == x}
        out = {v: place for (u, v), place in self._places.items() if u == x}
        certain = {u for u, place in into.items() if self.grades[place] == DETERMINED}
        open_children = {v for v, place in out.items() if self.grades[place] != DETERMINED}
        return frozenset(certain), frozenset(into.keys() - certain | open_children)


_SHORT = {DETERMINED: GRADES[DETERMINED], WEAKLY: "weakly supported", OPEN: "open"}


def _untested(dag: "FittedDAG") -> NDArray[np.bool_]:
    """(m,): whether a score decides the direction, and what turning it costs is not known."""
    edges, losses = dag.edges, dag.turning_losses
    if dag.noise not in (None, "gaussian"):
        return np.zeros(edges.nnz, np.bool_)
    if losses is None:
        return np.ones(edges.nnz, np.bool_)
    return np.isnan(losses[edges.row, edges.col])


def _doubted(dag: "FittedDAG") -> NDArray[np.bool_]:
    """(m,): whether a finding about columns concerns an end of the arc."""
    named = {name for one in dag.doubts if one.name in _ABOUT_COLUMNS for name in one.columns}
    is_named = np.array([text in named for text in dag.texts], np.bool_)
    return np.asarray(is_named[dag.edges.row] | is_named[dag.edges.col])


def _fewest_turned(
    found: Assertions, x: int, y: int, may_turn: Sequence[bool]
) -> tuple[tuple[int, int], ...] | None:
    """Find the fewest arcs to turn for a path from x to y; None if there is no such path."""
    steps: dict[int, list[tuple[int, int]]] = {}
    for (u, v), place in found._places.items():
        steps.setdefault(u, []).append((v, 0))
        if may_turn[place]:
            steps.setdefault(v, []).append((u, 1))
    queue: list[tuple[int, int, tuple[tuple[int, int], ...]]] = [(0, x, ())]
    done = set()
    while queue:
        cost, node, turned = heappop(queue)
        if node == y:
            return turned
        if node in done:
            continue
        done.add(node)
        for other, price in steps.get(node, ()):
            if other not in done:
                more = (*turned, (other, node)) if price else turned
                heappush(queue, (cost + price, other, more))
    return None
