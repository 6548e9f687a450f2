"""The plan: an experiment as cells, stage by stage."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cosmodag.bench.cell import Cell, CellBatch, batched
from cosmodag.bench.methods import METHODS, draw, ranges_for
from cosmodag.bench.protocol import Experiment, Group

__all__ = ["TIMING", "CellPlan", "CellStage", "Results", "choose", "columns"]

Results = Mapping[str, Mapping[str, Any]]
"""Results by the keys of their cells."""

TIMING = "timing"
"""Name of the stage in which single fits are timed."""

# First seeds of graphs: searches, validations and timings have different graphs.
_SEARCHED, _VALIDATED, _TIMED = 1_000_000, 2_000_000, 3_000_000
_PER_SEED = 10_000_000

# The figure that is averaged over graphs and maximised, by rule.
_MAXIMISED = {"oracle": "auc", "score": "score"}


class CellStage(NamedTuple):
    """Batches that can be done once those of the stages before are."""

    name: str
    batches: tuple[CellBatch, ...]


@dataclass(frozen=True)
class CellPlan:
    """The cells of an experiment; passes over the data are timed on `device`."""

    experiment: Experiment
    device: str = "auto"
    _searches: dict[tuple[int, str, str], list[list[Cell]]] = field(default_factory=dict)

    def stages(self, results: Results) -> Iterator[CellStage]:
        """Yield the stages in order; `results` must hold those of a stage before the next is asked.

        Searches and validations come first, group by group, so that finished groups are complete.
        """
        groups = self.experiment.groups
        for group in groups:
            searched = (
                cell
                for data in group.data
                for method in group.methods
                if METHODS[method].like is None
                for cells in self.searched(group, method, data)
                for cell in cells
            )
            yield CellStage("search", tuple(batched(list(searched), group.batch)))
            validated = (
                cell
                for data in group.data
                for standardised, only in ((False, None), (True, group.standardised))
                for method, rule in columns(group, only)
                for cell in self.validated(group, method, data, rule, results, standardised)
            )
            yield CellStage("validation", tuple(batched(list(validated), group.batch)))
        for group in groups:
            yield CellStage("epochs", _singly(self._epochs(group)))
        for group in groups:
            timed = (
                cell
                for data in group.data
                for method in (*group.methods, *group.fixed)
                if METHODS[method].like is None
                for cell in self.timed(group, method, data, results)
            )
            yield CellStage(TIMING, _singly(timed))

    def searched(self, group: Group, method: str, data: str) -> list[list[Cell]]:
        """Cells of a search: for each configuration one for each graph."""
        place = (id(group), method, data)
        if place not in self._searches:
            first = self._first(_SEARCHED)
            self._searches[place] = [
                self._cells(
                    group,
                    method,
                    data,
                    first + number * group.graphs * group.fresh,
                    group.graphs,
                    self._drawn(method, data, number),
                )
                for number in range(group.configurations)
            ]
        return self._searches[place]

    def chosen(
        self, group: Group, method: str, data: str, rule: str, results: Results
    ) -> dict[str, float] | None:
        """Return the configuration that a rule chooses; None if none is eligible."""
        source = METHODS[method].like or method
        best = choose(self.searched(group, source, data), results, rule)
        return None if best is None else self._drawn(source, data, best)

    def validated(
        self,
        group: Group,
        method: str,
        data: str,
        rule: str | None,
        results: Results,
        standardised: bool = False,
    ) -> list[Cell]:
        """Cells that score a method on new graphs, with the configuration that the rule chooses."""
        settings = {} if rule is None else self.chosen(group, method, data, rule, results)
        first, count = self._first(_VALIDATED), group.validation
        return self._cells(group, method, data, first, count, settings, standardised)

    def timed(self, group: Group, method: str, data: str, results: Results) -> list[Cell]:
        """Cells that time single fits, with the configuration that the first rule chooses."""
        settings: Mapping[str, Any] | None = {}
        if method in group.methods:
            settings = self.chosen(group, method, data, group.select[0], results)
        return self._cells(
            group, method, data, self._first(_TIMED), group.timing, settings, kind="time"
        )

    def _epochs(self, group: Group) -> Iterator[Cell]:
        """Cells that time passes over the data."""
        first, where = self._first(_TIMED), self.device
        for data in group.data:
            for method in group.epochs:
                yield from self._cells(
                    group, method, data, first, 1, {}, kind="epoch", device=where
                )

    def _drawn(self, method: str, data: str, number: int) -> dict[str, float]:
        return draw(ranges_for(METHODS[method].space, data), data, number, self.experiment.seed)

    def _first(self, place: int) -> int:
        return _PER_SEED * self.experiment.seed + place

    def _cells(
        self,
        group: Group,
        method: str,
        data: str,
        first: int,
        count: int,
        settings: Mapping[str, Any] | None,
        standardised: bool = False,
        kind: str = "fit",
        device: str | None = None,
    ) -> list[Cell]:
        """Cells of consecutive graphs; none without settings."""
        if settings is None:
            return []
        own = group.parameters.get(method, {})
        parameters = {**settings, **METHODS[method].parameters, **own}
        return [
            Cell(kind, method, data, graph, parameters, standardised, device)
            for graph in range(first, first + count)
        ]


def choose(candidates: Sequence[Sequence[Cell]], results: Results, rule: str) -> int | None:
    """Choose the configuration with the best mean AUC (oracle) or held-out likelihood (score).

    A configuration is given by its cells, one for each graph, and is not eligible if one failed;
    None if none is eligible. The first of the best wins.
    """
    means = [
        _mean([results.get(cell.key, {}) for cell in cells], _MAXIMISED[rule])
        for cells in candidates
    ]
    best = int(np.argmax(means)) if means else 0
    return best if means and means[best] > -np.inf else None


def _mean(results: Sequence[Mapping[str, Any]], figure: str) -> float:
    if any(result.get("status") != "done" for result in results):
        return -np.inf
    mean = float(np.mean([float(result[figure]) for result in results]))
    return mean if np.isfinite(mean) else -np.inf


def columns(group: Group, only: Sequence[str] | None = None) -> list[tuple[str, str | None]]:
    """Pair each method of a group with each rule of its search, or with None."""
    searched = [(method, rule) for rule in group.select for method in group.methods]
    fixed = [(method, None) for method in group.fixed]
    return [pair for pair in (*searched, *fixed) if only is None or pair[0] in only]


def _singly(cells: Iterable[Cell]) -> tuple[CellBatch, ...]:
    return tuple(CellBatch((cell,)) for cell in {cell.key: cell for cell in cells}.values())
