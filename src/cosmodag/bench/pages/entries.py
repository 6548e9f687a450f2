"""Results of a store by method, data set and graph, and the paper's figures for them."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.bench.methods import METHODS
from cosmodag.bench.plan import CellPlan, Column, Results
from cosmodag.bench.protocol import Experiment
from cosmodag.simulate import parse_name

__all__ = ["Entry", "Figure", "compared", "entries_of", "merged", "paper_figures", "paper_lines"]


@dataclass(frozen=True)
class Figure:
    """Mean and sample standard deviation (nan for one graph) over a number of graphs."""

    mean: float
    sd: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[Any]) -> "Figure | None":
        """Summarise values; None where there are none."""
        if not len(values):
            return None
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        return cls(float(np.mean(values)), sd, len(values))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / float(np.sqrt(self.count))


def compared(ours: Figure | None, theirs: Figure | None) -> float | None:
    """Difference in units of its standard error; None if unknown."""
    if ours is None or theirs is None:
        return None
    error = float(np.hypot(ours.error, theirs.error))
    return (ours.mean - theirs.mean) / error if error > 0 else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry(Column):
    """The results of one method on one data set."""

    family: tuple[str, str, int]  # graph, noise and number of variables
    results: dict[int, dict[str, Any]]  # by the seed of the graph
    failed: int  # number of graphs without results
    seconds: tuple[float, ...]  # times of single fits
    parameters: dict[str, Any]  # all parameters of the learner
    settings: dict[str, float]  # those that the rule chose

    @property
    def key(self) -> tuple[str, str, str | None, bool]:
        """The identity of an entry."""
        return (self.data, self.method, self.rule, self.standardised)

    @property
    def is_tuned(self) -> bool:
        """Whether it is tuned by the oracle on unscaled tables, like the paper's rows."""
        return self.rule == "oracle" and not self.standardised

    @property
    def label(self) -> str:
        """Name in tables."""
        chosen = {"oracle": " (oracle)", "score": " (held-out score)", None: ""}[self.rule]
        return METHODS[self.method].label + chosen + ", standardised" * self.standardised

    def figure(self, metric: str) -> Figure | None:
        """Summarise a metric; ``"time_s"`` is the time of single fits."""
        if metric == "time_s":
            return Figure.of(self.seconds)
        return Figure.of([result[metric] for result in self.results.values()])

    def paper(self, metric: str, name: str = "results") -> Figure | None:
        """Look up a metric in the same row of one of the paper's tables."""
        row = paper_figures(name).get((*self.family, self.method), {})
        return row.get(metric) if self.is_tuned else None


def entries_of(experiment: Experiment, results: Results) -> Iterator[Entry]:
    """Yield every entry that an experiment has figures for."""
    plan = CellPlan(experiment)
    for column in (column for group in experiment.groups for column in plan.columns(group)):
        cells = plan.validated(column, results)
        found = {cell.graph: dict(results[cell.key]) for cell in cells if cell.key in results}
        if not found:
            continue
        name = parse_name(column.data)
        done = {graph: result for graph, result in found.items() if result["status"] == "done"}
        times = [results.get(cell.key, {}) for cell in plan.timed(column, results)]
        yield Entry(
            **vars(column),
            family=(f"{name.kind}{name.degree}", name.mechanism, name.nodes),
            results=done,
            failed=len(found) - len(done),
            seconds=tuple(one["seconds"] for one in times if one.get("status") == "done"),
            parameters=dict(cells[0].parameters),
            settings=plan.chosen(column, results) or {},
        )


def merged(entries: Iterable[Entry]) -> list[Entry]:
    """Merge entries of several experiments: for equal keys, keep the one with most graphs.

    If it was not timed, it takes the times of another entry with the same parameters.
    """

    def fit(entry: Entry) -> object:
        """Key of fits that take the same time."""
        return entry.key, repr(sorted(entry.parameters.items()))

    best: dict[object, Entry] = {}
    times: dict[object, tuple[float, ...]] = {}
    for entry in entries:
        times[fit(entry)] = max(times.get(fit(entry), ()), entry.seconds, key=len)
        if entry.key not in best or len(entry.results) > len(best[entry.key].results):
            best[entry.key] = entry
    return [replace(entry, seconds=times[fit(entry)]) for entry in best.values()]


def paper_lines(name: str) -> list[dict[str, str]]:
    """Read one of the paper's tables."""
    text = files("cosmodag.bench").joinpath("paper", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def paper_figures(name: str) -> dict[tuple[Any, ...], dict[str, Figure]]:
    """Read the paper's figures, of 5 graphs: (graph, noise, d, algorithm) → metric → figure."""
    return {
        (line["graph"], line.get("noise", "gauss"), int(line["d"]), line["algorithm"]): {
            metric: Figure(float(line[metric]), float(line[f"{metric}_sd"]), 5)
            for metric in ("nhd", "tpr", "auc", "time_s")
            if line.get(metric)
        }
        for line in paper_lines(name)
    }
