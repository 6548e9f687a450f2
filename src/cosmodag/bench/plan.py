"""The plan: an experiment as cells, in stages and batches."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from cosmodag.bench.protocol import METHODS, RULES, Experiment, Group, draw

Results = Mapping[str, Mapping[str, Any]]  # by the keys of their cells
Settings = dict[str, float]

TIMING = "timing"  # name of the stage in which single fits are timed

# Version of the meaning of cells; increased by a change that would give other figures.
_PROTOCOL = 1

# Batch size of cells that are fitted one by one: they gain nothing from a larger batch.
_FEW = 2

# First seeds of graphs: searches, validations and timings have different graphs.
_SEARCHED, _VALIDATED, _TIMED = 1_000_000, 2_000_000, 3_000_000
_PER_SEED = 10_000_000


@dataclass(frozen=True)
class Cell:
    """The smallest unit of work, determined by its description; it gives one row."""

    kind: str  # "fit" is scored, "time" is one fit timed on one thread, "epoch" times passes
    method: str
    data: str
    graph: int  # seed of the graph and its rows, and of the fit
    parameters: Mapping[str, Any] = field(default_factory=dict)  # all that are not defaults
    standardised: bool = False  # whether columns are divided by their standard deviations first
    device: str | None = None  # given if the figures depend on it

    @property
    def description(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {"protocol": _PROTOCOL, **asdict(self)}

    @cached_property
    def key(self) -> str:
        """Hash of the description: the same work has the same key in every experiment."""
        return _hash(json.dumps(self.description, sort_keys=True, separators=(",", ":")))


CellBatch = tuple[Cell, ...]
"""Cells that are done together, all or none.

The plan composes batches independently of earlier results, so that an interrupted run gives the
same rows, bit for bit, as an uninterrupted one.
"""


def batched(cells: Iterable[Cell], size: int) -> list[CellBatch]:
    """Put cells that one program can do into batches; a cell that occurs twice is done once."""
    groups: dict[object, dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        rows, variables, *_ = cell.data.split("_")
        groups[cell.kind, cell.method, rows, variables, cell.device][cell.key] = cell
    batches: list[CellBatch] = []
    for group in groups.values():
        members = tuple(group.values())
        most = size if METHODS[members[0].method].is_raw else min(size, _FEW)
        batches += [members[i : i + most] for i in range(0, len(members), most)]
    return batches


def batch_key(batch: CellBatch) -> str:
    """Hash of the keys of its cells."""
    return _hash("".join(cell.key for cell in batch))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


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

    def stages(self, results: Results) -> Iterator[tuple[str, list[CellBatch]]]:
        """Yield the name of each stage and its batches, in order.

        `results` must hold those of a stage before the next is asked. Searches and validations come
        first, group by group, so that finished groups are complete.
        """
        groups = self.experiment.groups
        for group in groups:
            pairs = [(data, method) for data in group.data for method in group.methods]
            columns = [Column(group, data, m) for data, m in pairs if not METHODS[m].like]
            cells = [cell for one in columns for cells in self.searched(one) for cell in cells]
            yield "search", batched(cells, group.batch)
            cells = [cell for one in self.columns(group) for cell in self.validated(one, results)]
            yield "validation", batched(cells, group.batch)
        for group in groups:
            alone = [Column(group, data, method) for data in group.data for method in group.epochs]
            cells = [cell for one in alone for cell in self._cells(one, _TIMED, 1, {}, "epoch")]
            yield "epochs", batched(cells, 1)
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

    def searched(self, column: Column) -> list[list[Cell]]:
        """Cells of a search: for each configuration one for each graph."""
        group = column.group
        place = (id(group), column.method, column.data)
        if place not in self._searches:
            step = group.graphs * group.fresh
            self._searches[place] = [
                self._cells(column, _SEARCHED + k * step, group.graphs, self._drawn(column, k))
                for k in range(group.configurations)
            ]
        return self._searches[place]

    def chosen(self, column: Column, results: Results) -> Settings | None:
        """Return the configuration that the rule chooses; None if none is eligible."""
        if column.rule is None:
            return {}
        source = replace(column, method=METHODS[column.method].like or column.method)
        best = choose(self.searched(source), results, column.rule)
        return None if best is None else self._drawn(source, best)

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

    def _drawn(self, column: Column, number: int) -> Settings:
        return draw(METHODS[column.method].space, column.data, number, self.experiment.seed)

    def _cells(
        self, column: Column, first: int, count: int, settings: Settings | None, kind: str = "fit"
    ) -> list[Cell]:
        """Cells of consecutive graphs; none without settings."""
        if settings is None:
            return []
        own = column.group.parameters.get(column.method, {})
        parameters = {**settings, **METHODS[column.method].parameters, **own}
        device = self.device if kind == "epoch" else None
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
    figures = [[results.get(cell.key, {}).get(RULES[rule]) for cell in one] for one in candidates]
    means = np.array(figures, np.float64).mean(axis=1)
    means[~np.isfinite(means)] = -np.inf
    return int(means.argmax()) if np.isfinite(means).any() else None
