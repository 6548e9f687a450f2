"""One trial: parts are searched, cheap ones first, their graphs judged, and the kept one tested."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import CosmodagWarning
from cosmodag.evidence.departures import Departure, departures
from cosmodag.evidence.held_out import HeldOut
from cosmodag.evidence.local_climb import LocalClimb
from cosmodag.evidence.verdict import NEAR, Verdict, lead, verdict
from cosmodag.fit.dag.score_equations import ScoreEquations, Scores
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.settle import turning_losses_of
from cosmodag.fit.steps import FitResult
from cosmodag.learners.referee.given_arcs import on_arcs
from cosmodag.learners.referee.parts import (
    CURVES,
    FAMILIES,
    GAUSSIAN,
    LINES,
    NETWORKS,
    PARTS,
    SCORED,
    SCORED_CURVES,
    SHAPES,
)
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.solve.watch import QuietWatch, Watch

if TYPE_CHECKING:
    from cosmodag.learners.auto import Auto

Bools = NDArray[np.bool_]

# Normality, lines and independence are tested at this level for each kind of departure.
_LEVEL = 0.01
# Level of the tests of what was kept: curves leave a little of true functions unexplained.
_LEVEL_KEPT = 0.001
_JOINT = "functions of all causes"
_ADDED_UP = ("lines", "curves")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A part that was searched, its result, and the seconds that it took."""

    part: str
    fit: FitResult
    scores: Scores | None
    seconds: float

    @property
    def arcs(self) -> Bools:
        """(d, d): the arcs of its graph."""
        return np.asarray(self.fit.dag.arcs.toarray(), np.bool_)


@dataclass(eq=False)
class Trial:
    """Candidates for one table, judged on held-out rows."""

    learner: "Auto"
    given: Prepared
    watch: Watch
    found: dict[str, Candidate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = self.given.known
        self.scores: Scores | None = None
        self.held_out = HeldOut(self.given.X, known.counted, self.given.without_equation)

    def search(self, part: str, near: str | None = None) -> Candidate | None:
        """Search with a part, unless the table is too large for it or the time is over.

        A part that climbs begins at its base and at the graph of the part `near`, if there is one.
        """
        own = PARTS[part]
        if part in self.found or len(self.given.names) > own.most_variables:
            return self.found.get(part)
        if self.found and self.watch.stop is not None:
            return None
        if own.base:
            return self._climbed(part, [near or own.base, own.base], own.family)
        given, scores = self.given, None
        if own.on_scores:
            given, scores = self._scored()
        self.watch.begin(1, f"Auto: {part}")
        begin = time.monotonic()
        with ignoring(CosmodagWarning):
            learner = own.make(**self.learner.for_parts(part))
            (outcome,) = fit_many(
                [FitTask(learner, given)], QuietWatch(self.watch), finish_stopped=True
            )
        if outcome.error is not None:
            return None
        found = Candidate(part, outcome.taken, scores, time.monotonic() - begin)
        self.found[part] = found
        return found

    def _climbed(self, part: str, near: list[str], family: str) -> Candidate | None:
        """Improve the graphs of other parts by a climb under a family that no search scores.

        Arcs are added only where one of these graphs has one: with those of all graphs found,
        errors on tables of multiplicative noise rose from .3 to 1.8.
        """
        start = self.search(near[-1])
        if start is None:
            return None
        self.watch.begin(1, f"Auto: {part}")
        begin, known = time.monotonic(), self.given.known
        graphs = list(_distinct([self.found[part] for part in near]).values())
        neighbours = np.logical_or.reduce([arcs | arcs.T for arcs in graphs])
        climb = LocalClimb(
            self.held_out,
            FAMILIES[family].density,
            neighbours,
            known.support,
            known.required,
            known.before,
        )
        arcs = climb.best(graphs, lambda: self.watch.stop is not None)
        dag = on_arcs(start.fit.dag, arcs, self.given, noise="uneven")
        fit = replace(start.fit, dag=dag)
        found = Candidate(part, fit, None, start.seconds + time.monotonic() - begin)
        self.found[part] = found
        return found

    def _scored(self) -> tuple[Prepared, Scores]:
        """Replace the columns of the table by their normal scores, about the same means."""
        given = self.given
        if self.scores is None:
            self.scores = Scores.of(given.X / given.preparation.unit)
        data = self.scores.scored(given.X / given.preparation.unit)
        X = data * given.preparation.unit
        return replace(given, X=X, data=np.ascontiguousarray(data, np.float32)), self.scores

    def departures_of_lines(self, found: Candidate) -> list[Departure]:
        """Test whether the table differs from a normal distribution with the graph of `found`."""
        dag, given = found.fit.dag, self.given
        residuals = given.data - dag.predict_prepared(given.data)
        if given.without_equation is not None:
            residuals[:, given.without_equation] = 0
        used = self._complete(given.known.counted)
        return departures(given.X[used], residuals[used], found.arcs, _LEVEL, linear=True)

    @staticmethod
    def _complete(counted: NDArray[Any] | None) -> Any:
        """Rows in which no entry was set or imputed."""
        return slice(None) if counted is None else np.all(counted > 0, axis=1)

    def judged(self, families: Sequence[str] = tuple(FAMILIES)) -> Verdict:
        """Judge all graphs under the families whose parts were searched."""
        d, graphs = len(self.given.names), _distinct(self.found.values())
        rows, own = {}, {}
        for name in families:
            family = FAMILIES[name]
            if d > family.most_variables or not self._is_plausible(family.parts):
                continue
            own[name] = next((self._same(graphs, p) for p in family.parts if p in self.found), "")
            for part, arcs in graphs.items():
                rows[name, part] = self.held_out.rows(arcs, family.density)
        return verdict(rows, list(FAMILIES), own)

    def _is_plausible(self, parts: Sequence[str]) -> bool:
        return any(part in self.found for part in parts)

    def _same(self, graphs: dict[str, Bools], part: str) -> str:
        """Name the first part with the same graph as `part`."""
        arcs = self.found[part].arcs
        return next(name for name, other in graphs.items() if np.array_equal(arcs, other))

    def climbs(self, family: str, near: str) -> bool:
        """Search with the part that climbs under a family, if it has one."""
        own = [part for part in FAMILIES[family].parts if PARTS[part].base]
        return bool(own) and self.search(own[0], near) is not None

    def own_part(self, family: str, graph: str) -> str:
        """Name the family's own part if it found the graph, else the part given."""
        arcs = self.found[graph].arcs
        own = [part for part in FAMILIES[family].parts if part in self.found]
        return next((part for part in own if np.array_equal(self.found[part].arcs, arcs)), graph)

    def departures_of(self, family: str, part: str) -> list[Departure]:
        """Test the held-out noise of a family on the graph of a part."""
        arcs, density = self.found[part].arcs, FAMILIES[family].density
        columns = self.held_out.columns(density.entering)
        noise = self.held_out.noise(arcs, density)
        used = self._complete(self.held_out.counted)
        return departures(columns[used], noise[used], arcs, _LEVEL_KEPT)

    def needs_networks(self, part: str) -> bool:
        """Whether functions of all neighbours jointly are clearly better than sums of curves.

        Neighbours are those in the graph of a part. Networks take 10 to 20 s at 10 variables; this
        test avoids them on tables without joint functions.
        """
        joined = self.found[part].arcs | self.found[part].arcs.T
        if joined.sum(axis=0).max(initial=0) < 2:
            return False
        jointly = self.held_out.rows(joined, FAMILIES[_JOINT].density)
        return all(
            lead(jointly, self.held_out.rows(joined, FAMILIES[name].density)) > NEAR
            for name in _ADDED_UP
        )

    def dag_of(self, part: str) -> FittedDAG:
        """Return the graph of a part, with equations in the units of the given table."""
        found = self.found[part]
        dag = found.fit.dag
        if found.scores is None:
            return dag
        given, scores = self._scored()
        losses = turning_losses_of(dag, given, lambda: self.watch.stop is not None)
        data = given.data.astype(np.float64)
        equations = ScoreEquations.of(
            dag.equations, scores, dag.adjacency, data, self.given.preparation
        )
        losses = dag.turning_losses if losses is None else losses
        return replace(dag, equations=equations, turning_losses=losses)


def _distinct(candidates: Any) -> dict[str, Bools]:
    """Graphs by the first part that found each."""
    graphs: dict[str, Bools] = {}
    for one in candidates:
        if not any(np.array_equal(one.arcs, other) for other in graphs.values()):
            graphs[one.part] = one.arcs
    return graphs


def cheap_first(trial: Trial) -> tuple[Verdict, list[Departure]]:
    """Search lines, then what refutes them suggests; return the verdict and what refutes it."""
    lines = trial.search(LINES)
    assert lines is not None
    doubts = trial.departures_of_lines(lines)
    if not doubts:
        return trial.judged(["lines"]), []
    further = (SHAPES, SCORED, CURVES, SCORED_CURVES)
    for part in further if lines.fit.dag.noise == "gaussian" else (GAUSSIAN, *further):
        trial.search(part)
    found = trial.judged()
    if trial.climbs(found.kept.density, found.kept.graph):
        found = trial.judged()
    refuted = trial.departures_of(found.kept.density, found.kept.graph)
    if refuted and trial.needs_networks(found.kept.graph) and trial.search(NETWORKS) is not None:
        found = trial.judged()
        refuted = trial.departures_of(found.kept.density, found.kept.graph)
    return found, refuted
