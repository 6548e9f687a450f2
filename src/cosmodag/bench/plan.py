"""The plan: an experiment taken apart into cells, stage by stage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosmodag.bench.cell import Batch, Cell, batched
from cosmodag.bench.choice import Results, choose
from cosmodag.bench.methods import METHODS, Method
from cosmodag.bench.protocol import Experiment, Group
from cosmodag.bench.space import draw, ranges_for

__all__ = ["TIMING", "Plan", "Stage", "columns"]

TIMING = "timing"
"""Name of the stage in which single fits are timed."""

# Where the seeds of graphs begin: none that is searched on is ever validated on.
_SEARCHED, _VALIDATED, _TIMED = 1_000_000, 2_000_000, 3_000_000
_PER_SEED = 10_000_000


@dataclass(frozen=True)
class Stage:
    """Cells that can be done once those of the stages before are.

    Attributes
    ----------
    name
        For people.
    batches
        What is done.
    """

    name: str
    batches: tuple[Batch, ...]


@dataclass(frozen=True)
class Plan:
    """Which cells an experiment has.

    Attributes
    ----------
    experiment
        What it is the plan of.
    device
        On which passes over the data are timed.
    """

    experiment: Experiment
    device: str = "auto"
    _searches: dict[tuple[int, str, str], list[list[Cell]]] = field(default_factory=dict)

    def stages(self, results: Results) -> Iterator[Stage]:
        """Give the stages in order; `results` must hold those of a stage before the next is asked.

        Searches and validations come first, group by group, so that what is finished is whole.
        """
        for group in self.experiment.groups:
            yield Stage("search", self._batches(group, self._all_searched(group)))
            yield Stage("validation", self._batches(group, self._all_validated(group, results)))
        for group in self.experiment.groups:
            yield Stage("epochs", _singly(self._all_epochs(group)))
        for group in self.experiment.groups:
            yield Stage(TIMING, _singly(self._all_timed(group, results)))

    def searched(self, group: Group, method: str, data: str) -> list[list[Cell]]:
        """Cells of a search: for each configuration one for each graph."""
        place = (id(group), method, data)
        if place not in self._searches:
            self._searches[place] = self._search(group, method, data)
        return self._searches[place]

    def _search(self, group: Group, method: str, data: str) -> list[list[Cell]]:
        ranges = ranges_for(METHODS[method].space, data)
        first = self._first(_SEARCHED)
        return [
            [
                self._cell(
                    group,
                    METHODS[method],
                    data,
                    first + number * group.graphs * group.fresh + graph,
                    draw(ranges, data, number, self.experiment.seed),
                )
                for graph in range(group.graphs)
            ]
            for number in range(group.configurations)
        ]

    def chosen(
        self, group: Group, method: str, data: str, rule: str, results: Results
    ) -> dict[str, float] | None:
        """Give the configuration that a rule chooses; None where there is none to choose."""
        source = METHODS[method].like or method
        best = choose(self.searched(group, source, data), results, rule)
        if best is None:
            return None
        return draw(ranges_for(METHODS[source].space, data), data, best, self.experiment.seed)

    def validated(
        self,
        group: Group,
        method: str,
        data: str,
        rule: str | None,
        results: Results,
        standardised: bool = False,
    ) -> list[Cell]:
        """Cells that score a method on new graphs; without a rule, with what it has by default."""
        settings = {} if rule is None else self.chosen(group, method, data, rule, results)
        if settings is None:
            return []
        first = self._first(_VALIDATED)
        return [
            self._cell(group, METHODS[method], data, first + graph, settings, standardised)
            for graph in range(group.validation)
        ]

    def timed(self, group: Group, method: str, data: str, results: Results) -> list[Cell]:
        """Cells that time single fits, with the configuration that the first rule chooses."""
        settings: Mapping[str, Any] | None = {}
        if method in group.methods:
            settings = self.chosen(group, method, data, group.select[0], results)
        if settings is None:
            return []
        first = self._first(_TIMED)
        return [
            self._cell(group, METHODS[method], data, first + graph, settings, kind="time")
            for graph in range(group.timing)
        ]

    def epoch(self, group: Group, method: str, data: str) -> Cell:
        """Give the cell that times passes over the data."""
        return self._cell(
            group,
            METHODS[method],
            data,
            self._first(_TIMED),
            {},
            kind="epoch",
            device=self.device,
        )

    def _first(self, place: int) -> int:
        return _PER_SEED * self.experiment.seed + place

    def _cell(
        self,
        group: Group,
        method: Method,
        data: str,
        graph: int,
        settings: Mapping[str, Any],
        standardised: bool = False,
        kind: str = "fit",
        device: str | None = None,
    ) -> Cell:
        own = group.parameters.get(method.name, {})
        parameters = {**settings, **method.parameters, **own}
        return Cell(kind, method.name, data, graph, parameters, standardised, device)

    def _all_searched(self, group: Group) -> Iterator[Cell]:
        for data in group.data:
            for method in group.methods:
                if METHODS[method].like is None:
                    for cells in self.searched(group, method, data):
                        yield from cells

    def _all_validated(self, group: Group, results: Results) -> Iterator[Cell]:
        for data in group.data:
            for standardised in (False, True):
                only = group.standardised if standardised else None
                for method, rule in columns(group, only):
                    yield from self.validated(group, method, data, rule, results, standardised)

    def _all_timed(self, group: Group, results: Results) -> Iterator[Cell]:
        for data in group.data:
            for method in (*group.methods, *group.fixed):
                if METHODS[method].like is None:
                    yield from self.timed(group, method, data, results)

    def _all_epochs(self, group: Group) -> Iterator[Cell]:
        return (self.epoch(group, m, data) for data in group.data for m in group.epochs)

    def _batches(self, group: Group, cells: Iterator[Cell]) -> tuple[Batch, ...]:
        return tuple(batched(list(cells), group.batch))


def columns(group: Group, only: Sequence[str] | None = None) -> list[tuple[str, str | None]]:
    """Give each method of a group with each rule that chooses for it, None where none does."""
    searched = [(method, rule) for rule in group.select for method in group.methods]
    fixed = [(method, None) for method in group.fixed]
    return [pair for pair in (*searched, *fixed) if only is None or pair[0] in only]


def _singly(cells: Iterator[Cell]) -> tuple[Batch, ...]:
    return tuple(Batch((cell,)) for cell in {cell.key: cell for cell in cells}.values())
