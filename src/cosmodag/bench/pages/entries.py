"""Results of a store by method, data set and graph, and the paper's figures for them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from cosmodag.bench.methods import METHODS
from cosmodag.bench.plan import CellPlan, Column, Results
from cosmodag.bench.protocol import Experiment
from cosmodag.simulate import parse_name

__all__ = ["Entry", "Figure", "compared", "entries_of", "merged", "paper_figures", "paper_lines"]


@dataclass(frozen=True)
class Figure:
    """Mean and sample standard deviation over a number of graphs; nan where they are too few."""

    mean: float
    sd: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Figure":
        """Summarise values."""
        series = pd.Series(values, dtype=float)
        return cls(float(series.mean(skipna=False)), float(series.std(skipna=False)), len(series))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.count) if self.count else math.nan


def compared(ours: Figure, theirs: Figure) -> float:
    """Difference in units of its standard error; nan if unknown."""
    error = math.hypot(ours.error, theirs.error)
    return (ours.mean - theirs.mean) / error if error > 0 else math.nan


NOTHING = Figure.of(())


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry(Column):
    """The results of one method on one data set."""

    graph: str  # kind and degree, such as "ER4"
    noise: str
    d: int
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

    def figure(self, metric: str) -> Figure:
        """Summarise a metric; ``"time_s"`` is the time of single fits."""
        if metric == "time_s":
            return Figure.of(self.seconds)
        return Figure.of([result[metric] for result in self.results.values()])

    def paper(self, metric: str, table: str = "results") -> Figure:
        """Look up a metric in the same row of one of the paper's tables."""
        place = (self.graph, self.noise, self.d, self.method, metric)
        return paper_figures(table).get(place, NOTHING) if self.is_tuned else NOTHING


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
            graph=f"{name.kind}{name.degree}",
            noise=name.mechanism,
            d=name.nodes,
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
        other = best.get(entry.key, entry)
        best[entry.key] = max(other, entry, key=lambda e: len(e.results))
    return [replace(entry, seconds=times[fit(entry)]) for entry in best.values()]


def paper_lines(name: str) -> list[dict[Any, Any]]:
    """Read one of the paper's tables."""
    with files("cosmodag.bench").joinpath("paper", f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file).to_dict("records")


@cache
def paper_figures(name: str) -> dict[tuple[Any, ...], Figure]:
    """Read the paper's figures, of 5 graphs: (graph, noise, d, algorithm, metric) → figure."""
    return {
        (line["graph"], line.get("noise", "gauss"), line["d"], line["algorithm"], metric): Figure(
            line[metric], line[f"{metric}_sd"], 5
        )
        for line in paper_lines(name)
        for metric in ("nhd", "tpr", "auc", "time_s")
        if pd.notna(line.get(metric))
    }
