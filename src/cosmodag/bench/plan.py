"""The plan: an experiment as cells, stage by stage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cosmodag.bench.cell import Cell, CellBatch, batched
from cosmodag.bench.methods import METHODS, draw, ranges_for
from cosmodag.bench.protocol import RULES, Experiment, Group

__all__ = ["TIMING", "CellPlan", "Column", "Results", "choose"]

Results = Mapping[str, Mapping[str, Any]]
"""Results by the keys of their cells."""

TIMING = "timing"
"""Name of the stage in which single fits are timed."""

# First seeds of graphs: searches, validations and timings have different graphs.
_SEARCHED, _VALIDATED, _TIMED = 1_000_000, 2_000_000, 3_000_000
_PER_SEED = 10_000_000


@dataclass(frozen=True)
class Column:
    """One method on one data set; the rule that chooses its configuration is None without one."""

    group: Group
    data: str
    method: str
    rule: str | None = None
    standardised: bool = False


@dataclass(frozen=True)
class CellPlan:
    """The cells of an experiment; passes over the data are timed on `device`."""

    experiment: Experiment
    device: str = "auto"
    _searches: dict[tuple[int, str, str], list[list[Cell]]] = field(default_factory=dict)

    def stages(self, results: Results) -> Iterator[tuple[str, tuple[CellBatch, ...]]]:
        """Yield the name of each stage and its batches, in order.

        `results` must hold those of a stage before the next is asked. Searches and validations come
        first, group by group, so that finished groups are complete.
        """
        groups = self.experiment.groups
        for group in groups:
            pairs = [(data, method) for data in group.data for method in group.methods]
            searches = [self.searched(group, m, data) for data, m in pairs if not METHODS[m].like]
            cells = [cell for search in searches for one in search for cell in one]
            yield "search", batched(cells, group.batch)
            cells = [cell for one in self.columns(group) for cell in self.validated(one, results)]
            yield "validation", batched(cells, group.batch)
        for group in groups:
            alone = [Column(group, data, method) for data in group.data for method in group.epochs]
            passes = [self._cells(one, _TIMED, 1, {}, "epoch", self.device) for one in alone]
            yield "epochs", batched([cell for (cell,) in passes], 1)
        for group in groups:
            cells = [cell for one in self.columns(group) for cell in self.timed(one, results)]
            yield TIMING, batched(cells, 1)

    def columns(self, group: Group) -> list[Column]:
        """Pair each method with each data set and each rule of its search, or with None."""
        searched = [(method, rule) for rule in group.select for method in group.methods]
        scored = [*searched, *((method, None) for method in group.fixed)]
        return [
            Column(group, data, method, rule, standardised)
            for data in group.data
            for standardised in (False, True)
            for method, rule in scored
            if not standardised or method in group.standardised
        ]

    def searched(self, group: Group, method: str, data: str) -> list[list[Cell]]:
        """Cells of a search: for each configuration one for each graph."""
        place = (id(group), method, data)
        if place not in self._searches:
            column, step = Column(group, data, method), group.graphs * group.fresh
            drawn = [self._drawn(method, data, number) for number in range(group.configurations)]
            self._searches[place] = [
                self._cells(column, _SEARCHED + number * step, group.graphs, settings)
                for number, settings in enumerate(drawn)
            ]
        return self._searches[place]

    def chosen(self, column: Column, results: Results) -> dict[str, float] | None:
        """Return the configuration that the rule chooses; None if none is eligible."""
        if column.rule is None:
            return {}
        source = METHODS[column.method].like or column.method
        best = choose(self.searched(column.group, source, column.data), results, column.rule)
        return None if best is None else self._drawn(source, column.data, best)

    def validated(self, column: Column, results: Results) -> list[Cell]:
        """Cells that score a method on new graphs, with the configuration that the rule chooses."""
        chosen = self.chosen(column, results)
        return self._cells(column, _VALIDATED, column.group.validation, chosen)

    def timed(self, column: Column, results: Results) -> list[Cell]:
        """Cells that time single fits, once for each method that is searched or fixed."""
        is_first = column.rule in (None, *column.group.select[:1]) and not column.standardised
        is_timed = is_first and METHODS[column.method].like is None
        chosen = self.chosen(column, results) if is_timed else None
        return self._cells(column, _TIMED, column.group.timing, chosen, "time")

    def _drawn(self, method: str, data: str, number: int) -> dict[str, float]:
        return draw(ranges_for(METHODS[method].space, data), data, number, self.experiment.seed)

    def _cells(
        self,
        column: Column,
        first: int,
        count: int,
        settings: Mapping[str, Any] | None,
        kind: str = "fit",
        device: str | None = None,
    ) -> list[Cell]:
        """Cells of consecutive graphs; none without settings."""
        if settings is None:
            return []
        own = column.group.parameters.get(column.method, {})
        parameters = {**settings, **METHODS[column.method].parameters, **own}
        first += _PER_SEED * self.experiment.seed
        return [
            Cell(kind, column.method, column.data, graph, parameters, column.standardised, device)
            for graph in range(first, first + count)
        ]


def choose(candidates: Sequence[Sequence[Cell]], results: Results, rule: str) -> int | None:
    """Choose the configuration with the best mean AUC (oracle) or held-out likelihood (score).

    A configuration is given by its cells, one for each graph, and is not eligible if one failed;
    None if none is eligible. The first of the best wins.
    """
    means = {}
    for number, cells in enumerate(candidates):
        found = [results.get(cell.key, {}) for cell in cells]
        if all(result.get("status") == "done" for result in found):
            mean = float(np.mean([float(result[RULES[rule]]) for result in found]))
            if np.isfinite(mean):
                means[number] = mean
    return max(means, key=means.__getitem__, default=None)
