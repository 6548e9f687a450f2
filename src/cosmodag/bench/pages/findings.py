"""What a store says about experiments: for each method and data set its figures, graph by graph."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.bench.cell import Cell
from cosmodag.bench.choice import Results
from cosmodag.bench.methods import METHODS
from cosmodag.bench.plan import Plan, columns
from cosmodag.bench.protocol import Experiment, Group
from cosmodag.simulate import parse_name

__all__ = ["Entry", "Figure", "compared", "entries_of", "merged", "paper_figures"]

METRICS = ("nhd", "tpr", "auc")

# Graphs behind each mean of the paper.
_PAPER_GRAPHS = 5


@dataclass(frozen=True)
class Figure:
    """A mean over graphs.

    Attributes
    ----------
    mean, sd, count
        The sample standard deviation is nan for a single graph.
    """

    mean: float
    sd: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[Any]) -> "Figure | None":
        """Mean and sample standard deviation; None where there are no values."""
        array = np.asarray(values, float)
        if not array.size:
            return None
        sd = float(array.std(ddof=1)) if array.size > 1 else float("nan")
        return cls(float(array.mean()), sd, array.size)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / float(np.sqrt(self.count))


@dataclass(frozen=True, eq=False)
class Entry:
    """One method on one data set.

    Attributes
    ----------
    data, method, rule, standardised
        Which; the rule is None where nothing was chosen.
    results
        What came of each graph, by its seed; those without figures are left out.
    failed
        How many were left out.
    seconds
        Times of single fits.
    parameters
        Of the learner.
    settings
        The configuration that was chosen.
    configurations
        Out of how many.
    """

    data: str
    method: str
    rule: str | None
    standardised: bool
    results: dict[int, dict[str, Any]]
    failed: int
    seconds: tuple[float, ...]
    parameters: dict[str, Any]
    settings: dict[str, float]
    configurations: int

    @property
    def key(self) -> tuple[str, str, str | None, bool]:
        """What tells it from others."""
        return (self.data, self.method, self.rule, self.standardised)

    @property
    def family(self) -> tuple[str, str, int]:
        """Graph, noise and number of variables."""
        parts = parse_name(self.data)
        return f"{parts.kind}{parts.degree}", parts.mechanism, parts.nodes

    @property
    def label(self) -> str:
        """Name in tables."""
        name = METHODS[self.method].label
        chosen = {"oracle": " (oracle)", "score": " (held-out score)", None: ""}[self.rule]
        return f"{name}{chosen}{', standardised' if self.standardised else ''}"

    def figure(self, metric: str) -> Figure | None:
        """Give the mean of a metric; ``"time_s"`` is that of single fits."""
        if metric == "time_s":
            return Figure.of(self.seconds)
        return Figure.of([result[metric] for result in self.results.values()])

    @property
    def paper(self) -> dict[str, Figure]:
        """The paper's figures for the same row, by metric; a tuned one on tables as they are."""
        if self.standardised or self.rule != "oracle":
            return {}
        return paper_figures("results").get((*self.family, self.method), {})


def entries_of(experiment: Experiment, results: Results) -> Iterator[Entry]:
    """Give every row that an experiment has figures for."""
    plan = Plan(experiment)
    for group in experiment.groups:
        for data in group.data:
            for method, rule in columns(group):
                yield from _entry(plan, group, data, method, rule, False, results)
            for method, rule in columns(group, group.standardised):
                yield from _entry(plan, group, data, method, rule, True, results)


def merged(entries: Iterable[Entry]) -> list[Entry]:
    """Of entries for the same thing, from several experiments, keep the one with most graphs.

    Where it was not timed, the times of another with the same parameters are its own.
    """
    best: dict[object, Entry] = {}
    times: dict[object, tuple[float, ...]] = {}
    for entry in entries:
        fit = _fit(entry)
        times[fit] = max(times.get(fit, ()), entry.seconds, key=len)
        before = best.get(entry.key)
        if before is None or len(entry.results) > len(before.results):
            best[entry.key] = entry
    return [replace(entry, seconds=times[_fit(entry)]) for entry in best.values()]


def _fit(entry: Entry) -> tuple[object, ...]:
    """Tell fits that take the same time from others."""
    return (*entry.key, *sorted((name, str(value)) for name, value in entry.parameters.items()))


def compared(ours: Figure | None, theirs: Figure | None) -> float | None:
    """Difference in standard errors of the difference; None where it cannot be told.

    Examples
    --------
    >>> compared(Figure(0.98, 0.01, 10), Figure(0.96, 0.03, 5)).__round__(2)
    1.45
    """
    if ours is None or theirs is None:
        return None
    error = float(np.hypot(ours.error, theirs.error))
    return (ours.mean - theirs.mean) / error if error > 0 else None


@cache
def paper_figures(name: str) -> dict[tuple[Any, ...], dict[str, Figure]]:
    """Read the paper's figures: (graph, noise, d, algorithm) → metric → figure."""
    text = files("cosmodag.bench").joinpath("paper", f"{name}.csv").read_text("utf-8")
    found = {}
    for line in csv.DictReader(text.splitlines()):
        key = (line["graph"], line.get("noise", "gauss"), int(line["d"]), line["algorithm"])
        found[key] = {
            metric: Figure(float(line[metric]), float(line[f"{metric}_sd"]), _PAPER_GRAPHS)
            for metric in (*METRICS, "time_s")
            if line.get(metric)
        }
    return found


def _entry(
    plan: Plan,
    group: Group,
    data: str,
    method: str,
    rule: str | None,
    standardised: bool,
    results: Results,
) -> Iterator[Entry]:
    """Collect one entry; none where nothing was done yet."""
    cells = plan.validated(group, method, data, rule, results, standardised)
    found = [(cell, dict(results[cell.key])) for cell in cells if cell.key in results]
    if not found:
        return
    done = {cell.graph: result for cell, result in found if result["status"] == "done"}
    chosen = plan.chosen(group, method, data, rule, results) if rule else {}
    timed = (
        []
        if standardised or rule not in (None, group.select[0])
        else _times(plan.timed(group, method, data, results), results)
    )
    yield Entry(
        data,
        method,
        rule,
        standardised,
        done,
        len(found) - len(done),
        tuple(timed),
        dict(cells[0].parameters),
        chosen or {},
        group.configurations if rule else 0,
    )


def _times(cells: Sequence[Cell], results: Results) -> list[float]:
    found = [results.get(cell.key, {}) for cell in cells]
    return [result["seconds"] for result in found if result.get("status") == "done"]
