"""The plan of an experiment: its cells, in stages and batches."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from cosmodag.bench.protocol import METHODS, RULES, Experiment, Group, draw

Results = Mapping[str, Mapping[str, Any]]  # by key of the cell
Settings = dict[str, float]

TIMING = "timing"  # name of the stage in which single fits are timed

# Version of the protocol, part of every key; to be increased when a change alters the figures.
_PROTOCOL = 1

# Batch size of cells that are fitted one by one: they gain nothing from a larger batch.
_FEW = 2

# First seeds of the graphs of searches, validations and timings, and offset per seed of the
# experiment: no two of these share a graph.
_SEARCHED, _VALIDATED, _TIMED = 1_000_000, 2_000_000, 3_000_000
_PER_SEED = 10_000_000


@dataclass(frozen=True)
class Cell:
    """The smallest unit of work, determined by its description; its result is one row."""

    kind: str  # "fit": score a fit; "time": time a fit on one thread; "epoch": time passes
    method: str
    data: str
    graph: int  # seed of the graph and its rows, and of the fit
    parameters: Mapping[str, Any] = field(default_factory=dict)  # parameters other than defaults
    standardised: bool = False  # whether columns are divided by their standard deviations first
    device: str | None = None  # None if the figures do not depend on it

    @property
    def description(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {"protocol": _PROTOCOL, **asdict(self)}

    @cached_property
    def key(self) -> str:
        """Hash of the description; the same work has the same key in every experiment."""
        return _hash(json.dumps(self.description, sort_keys=True, separators=(",", ":")))


CellBatch = tuple[Cell, ...]
"""Cells that are computed together and stored in one transaction.

The composition of batches does not depend on which results exist already, so an interrupted run
gives the same rows, bit for bit, as an uninterrupted one.
"""


def batched(cells: Iterable[Cell], size: int) -> list[CellBatch]:
    """Divide cells into batches that one compiled program can compute, without duplicates."""
    groups: dict[object, dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        rows, variables, *_ = cell.data.split("_")
        groups[cell.kind, cell.method, rows, variables, cell.device][cell.key] = cell
    batches: list[CellBatch] = []
    for group in groups.values():
        members = tuple(group.values())
        limit = size if METHODS[members[0].method].is_raw else min(size, _FEW)
        batches += [members[i : i + limit] for i in range(0, len(members), limit)]
    return batches


def batch_key(batch: CellBatch) -> str:
    """Hash of the keys of a batch's cells."""
    return _hash("".join(cell.key for cell in batch))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Case:
    """One method on one data set, with its way of choosing a configuration."""

    group: Group
    data: str
    method: str
    rule: str | None = None  # a name in `RULES`; None for methods without a search
    standardised: bool = False


@dataclass(frozen=True)
class CellPlan:
    """The cells of an experiment; passes over the data are timed on `device`."""

    experiment: Experiment
    device: str = "auto"
    _searches: dict[tuple[int, str, str], list[list[Cell]]] = field(default_factory=dict)

    def stages(self, results: Results) -> Iterator[tuple[str, list[CellBatch]]]:
        """Yield the name of each stage and its batches, in order.

        `results` must contain the results of a stage before the next stage is requested. Searches
        and validations come first, group by group, so that groups are finished one after another.
        """
        groups = self.experiment.groups
        for group in groups:
            pairs = [(data, method) for data in group.data for method in group.methods]
            cases = [Case(group, data, m) for data, m in pairs if not METHODS[m].like]
            cells = [cell for one in cases for cells in self.searched(one) for cell in cells]
            yield "search", batched(cells, group.batch)
            cells = [cell for one in self.cases(group) for cell in self.validated(one, results)]
            yield "validation", batched(cells, group.batch)
        for group in groups:
            cases = [Case(group, data, method) for data in group.data for method in group.epochs]
            cells = [cell for one in cases for cell in self._cells(one, _TIMED, 1, {}, "epoch")]
            yield "epochs", batched(cells, 1)
        for group in groups:
            cells = [cell for one in self.cases(group) for cell in self.timed(one, results)]
            yield TIMING, batched(cells, 1)

    def cases(self, group: Group) -> list[Case]:
        """List the cases of a group: methods with a search once for each rule."""
        searched = [(method, rule) for rule in group.select for method in group.methods]
        scored = [*searched, *((method, None) for method in group.fixed)]
        return [
            Case(group, data, method, rule, standardised)
            for data in group.data
            for standardised in (False, True)
            for method, rule in scored
            if not standardised or method in group.standardised
        ]

    def searched(self, case: Case) -> list[list[Cell]]:
        """Cells of a search: a list for each configuration, with a cell for each graph."""
        group = case.group
        place = (id(group), case.method, case.data)
        if place not in self._searches:
            step = group.graphs * group.fresh
            self._searches[place] = [
                self._cells(case, _SEARCHED + k * step, group.graphs, self._configuration(case, k))
                for k in range(group.configurations)
            ]
        return self._searches[place]

    def chosen(self, case: Case, results: Results) -> Settings | None:
        """Return the configuration that the rule chooses; None if none is eligible."""
        if case.rule is None:
            return {}
        source = replace(case, method=METHODS[case.method].like or case.method)
        best = choose(self.searched(source), results, case.rule)
        return None if best is None else self._configuration(source, best)

    def validated(self, case: Case, results: Results) -> list[Cell]:
        """Cells that score a method on new graphs, with the configuration that the rule chooses."""
        chosen = self.chosen(case, results)
        return self._cells(case, _VALIDATED, case.group.validation, chosen)

    def timed(self, case: Case, results: Results) -> list[Cell]:
        """Cells that time single fits, once for each method with its own search or without one."""
        is_first = case.rule in (None, *case.group.select[:1]) and not case.standardised
        is_timed = is_first and METHODS[case.method].like is None
        chosen = self.chosen(case, results) if is_timed else None
        return self._cells(case, _TIMED, case.group.timing, chosen, "time")

    def _configuration(self, case: Case, number: int) -> Settings:
        return draw(METHODS[case.method].space, case.data, number, self.experiment.seed)

    def _cells(
        self, case: Case, first: int, count: int, settings: Settings | None, kind: str = "fit"
    ) -> list[Cell]:
        """Make the cells of consecutive graphs; no cells without settings."""
        if settings is None:
            return []
        own = case.group.parameters.get(case.method, {})
        parameters = {**settings, **METHODS[case.method].parameters, **own}
        device = self.device if kind == "epoch" else None
        first += _PER_SEED * self.experiment.seed
        return [
            Cell(kind, case.method, case.data, graph, parameters, case.standardised, device)
            for graph in range(first, first + count)
        ]


def choose(candidates: Sequence[Sequence[Cell]], results: Results, rule: str) -> int | None:
    """Choose the configuration with the best mean AUC (oracle) or held-out likelihood (score).

    A configuration is given by its cells, one for each graph, and is eligible only if none of them
    failed. Returns the first of the best, or None if no configuration is eligible.
    """
    figures = [[results.get(cell.key, {}).get(RULES[rule]) for cell in one] for one in candidates]
    means = np.array(figures, np.float64).mean(axis=1)
    means[~np.isfinite(means)] = -np.inf
    return int(means.argmax()) if np.isfinite(means).any() else None
