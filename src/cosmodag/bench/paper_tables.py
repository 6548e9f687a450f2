"""Tables of the results in a store, beside the paper's."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cosmodag.bench.bench_plan import Case, Cell, CellPlan
from cosmodag.bench.protocol import METHODS, Experiment
from cosmodag.bench.store import Row
from cosmodag.simulate import parse_name

FLAG = "▲"  # marks a difference from the paper of more than two standard errors of the difference
PAPER = "the paper"  # name of the machine in the paper's times of passes

_TEXTS = tomllib.loads(files("cosmodag.bench").joinpath("paper", "tables.toml").read_text("utf-8"))
_NOISES = ("gauss", "exp", "gumbel")
_SCORES = {"nhd": "NHD", "tpr": "TPR", "auc": "AUC"}
_METRICS = {**_SCORES, "time_s": "time (s)"}
_RANKS = {name: rank for rank, name in enumerate(METHODS)}

Line = dict[str, str]


class Figure(NamedTuple):
    """Mean, sample standard deviation and standard error; nan for too few values."""

    mean: float
    sd: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Figure":
        """Summarise a sample."""
        series = pd.Series(values, dtype=float)
        return cls(*(float(series.agg(name, skipna=False)) for name in ("mean", "std", "sem")))


def compared(ours: Figure, theirs: Figure) -> float:
    """Difference of the means in units of its standard error; nan if unknown."""
    error = math.hypot(ours.error, theirs.error)
    return (ours.mean - theirs.mean) / error if error > 0 else math.nan


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry(Case):
    """A case with its results: one method on one data set."""

    graph: str  # kind and degree, such as "ER4"
    noise: str
    d: int
    results: dict[int, dict[str, Any]]  # by the seed of the graph
    failed: int  # number of graphs without results
    seconds: list[float]  # times of single fits
    settings: dict[str, float]  # parameters that the rule chose
    cells: list[Cell]  # the scored fits, one for each graph

    @property
    def is_tuned(self) -> bool:
        """Whether it was tuned by the oracle on unscaled tables, as the paper's rows were."""
        return self.rule == "oracle" and not self.standardised

    @property
    def label(self) -> str:
        """Name in tables."""
        chosen = {"oracle": " (oracle)", "score": " (held-out score)", None: ""}[self.rule]
        return METHODS[self.method].label + chosen + ", standardised" * self.standardised

    def figure(self, metric: str) -> Figure:
        """Summarise a metric over graphs; ``"time_s"`` is the time of single fits."""
        if metric == "time_s":
            return Figure.of(self.seconds)
        return Figure.of([result[metric] for result in self.results.values()])

    def paper(self, metric: str, table: str = "results") -> Figure:
        """Look up the metric, over 5 graphs, in the same row of one of the paper's tables."""
        place = (self.graph, self.noise, self.d, self.method)
        line = _paper_lines(table).get(place, {}) if self.is_tuned else {}
        sd = line.get(f"{metric}_sd", math.nan)
        return Figure(line.get(metric, math.nan), sd, sd / math.sqrt(5))


def entries_of(experiments: Iterable[Experiment], rows: Sequence[Row]) -> list[Entry]:
    """Collect the results of experiments; of equal cases, the one with most graphs is kept."""
    results = {row.key: row.result for row in rows}
    times = defaultdict[str, list[float]](list)
    for row in rows:
        if row.description["kind"] == "time" and row.result["status"] == "done":
            times[_fit_key(row.description)].append(row.result["seconds"])
    best: dict[object, Entry] = {}
    for plan in map(CellPlan, experiments):
        for case in chain.from_iterable(map(plan.cases, plan.experiment.groups)):
            cells = plan.validated(case, results)
            found = {cell.graph: results[cell.key] for cell in cells if cell.key in results}
            done = {graph: one for graph, one in found.items() if one["status"] == "done"}
            key = (case.data, case.method, case.rule, case.standardised)
            if found and (key not in best or len(done) > len(best[key].results)):
                name = parse_name(case.data)
                best[key] = Entry(
                    **vars(case),
                    graph=f"{name.kind}{name.degree}",
                    noise=name.mechanism,
                    d=name.nodes,
                    results=done,
                    failed=len(found) - len(done),
                    seconds=times[_fit_key(cells[0].description)],
                    settings=plan.chosen(case, results) or {},
                    cells=cells,
                )
    return list(best.values())


def _fit_key(description: Mapping[str, Any]) -> str:
    """Key of a fit, which the cells that score it and the cells that time it have in common."""
    parts = [description[name] for name in ("data", "method", "standardised")]
    return repr([*parts, sorted(description["parameters"].items())])


def paper_table(name: str) -> pd.DataFrame:
    """Read one of the paper's tables."""
    with files("cosmodag.bench").joinpath("paper", f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


@cache
def _paper_lines(name: str) -> dict[Any, dict[Any, float]]:
    return paper_table(name).set_index(["graph", "noise", "d", "algorithm"]).to_dict("index")


class ResultTable(NamedTuple):
    """A table of text, with the name of its files, its title and its note."""

    name: str
    title: str
    note: str
    cells: pd.DataFrame

    @property
    def markdown(self) -> str:
        """The table as Markdown, with its title and its note."""
        lines = [[*self.cells], ["---"] * self.cells.shape[1], *self.cells.to_numpy()]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"## {self.title}\n\n{body}\n" + f"\n{self.note}\n" * bool(self.note)


def all_tables(entries: Sequence[Entry], rows: pd.DataFrame) -> list[ResultTable]:
    """Make the tables for which there are results."""
    differences = [(e, m, compared(e.figure(m), e.paper(m))) for e in entries for m in _SCORES]
    known = [difference for difference in differences if math.isfinite(difference[2])]
    tables = [
        _table("main", _main(entries)),
        *_appendix(entries),
        _table("ablation", _ablation(entries)),
        _table("differences", _differences(known), count=len(known)),
        _table("defaults", _defaults(entries)),
        _table("chosen", _chosen(entries)),
        _table("epoch-time", _pass_times(rows)),
        _table("failures", _failures(rows)),
    ]
    return [table for table in tables if not table.cells.empty]


def _table(kind: str, lines: Iterable[Line], name: str = "", **values: object) -> ResultTable:
    """Make a table with the title and the note of its kind, omitting empty columns."""
    title, note = (_TEXTS[kind].get(part, "").format(**values) for part in ("title", "note"))
    cells = pd.DataFrame(lines).fillna("")
    return ResultTable(name or kind, title, note, cells.loc[:, (cells != "").any()])


def _main(entries: Sequence[Entry]) -> Iterable[Line]:
    """Make the paper's main table: AUC and time of the tuned methods on ER4, by noise."""
    tuned = [e for e in entries if e.is_tuned and e.graph == "ER4" and e.noise in _NOISES]
    lines: dict[object, Line] = {}
    for e in sorted(tuned, key=lambda e: (e.d, _RANKS[e.method], _NOISES.index(e.noise))):
        line = lines.setdefault((e.d, e.method), {"d": f"{e.d}", "method": METHODS[e.method].label})
        pairs = _pairs(e, ("auc", "time_s"))
        line |= {f"{e.noise}: {name}": text for name, text in pairs.items()}
    return lines.values()


def _appendix(entries: Sequence[Entry]) -> Iterator[ResultTable]:
    """Make the tables of the paper's appendix, one for each kind of graph and noise."""
    groups = defaultdict(list)
    for e in sorted(entries, key=lambda e: (e.d, e.standardised, _RANKS[e.method], str(e.rule))):
        of = f" of {len(e.results) + e.failed}" if e.failed else ""
        line = {"d": f"{e.d}", "method": e.label, **_pairs(e, _METRICS)}
        groups[e.graph, e.noise].append({**line, "graphs": f"{len(e.results)}{of}"})
    for (graph, noise), lines in sorted(groups.items()):
        words = {"graph": graph, "noise": _TEXTS["noises"].get(noise, noise)}
        yield _table("appendix", lines, f"{graph}-{noise}".lower(), **words)


def _ablation(entries: Sequence[Entry]) -> Iterator[Line]:
    """Make the paper's ablation: with and without the penalty on priorities."""
    tuned = [e for e in entries if e.method in ("cosmo", "cosmo-np") and e.is_tuned]
    with_both = {e.data for e in tuned if e.method == "cosmo-np"}
    for e in sorted(tuned, key=lambda e: (e.graph, e.noise, e.d, e.method)):
        if e.data in with_both:
            line = {"graph": e.graph, "noise": e.noise, "d": f"{e.d}"}
            yield {**line, "method": METHODS[e.method].label, **_pairs(e, _SCORES, "ablation")}


def _differences(known: Iterable[tuple[Entry, str, float]]) -> Iterator[Line]:
    """List the figures that differ from the paper's by more than two standard errors."""
    for entry, metric, difference in known:
        if abs(difference) > 2:
            line = {"data": entry.data, "method": entry.label, "metric": _SCORES[metric]}
            line["ours"] = written(entry.figure(metric), metric)
            line["paper"] = written(entry.paper(metric), metric)
            line["standard errors"] = f"{difference:+.1f}"
            line["better"] = "ours" if (difference > 0) != (metric == "nhd") else "the paper's"
            yield line


def _defaults(entries: Sequence[Entry]) -> Iterator[Line]:
    """Compare the default settings with the tuned configuration, graph by graph."""
    tuned = {(e.data, f"{e.method}-default"): e for e in entries if e.is_tuned}
    means: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for entry in sorted(entries, key=lambda e: (e.d, e.data)):
        other = tuned.get((entry.data, entry.method))
        graphs = sorted(entry.results.keys() & other.results.keys()) if other else []
        if other is None or entry.standardised or not graphs:
            continue
        line = {"data": entry.data, "graphs": f"{len(graphs)}"}
        for metric, name in (("auc", "AUC"), ("nhd", "NHD")):
            rule, best = (np.array([e.results[g][metric] for g in graphs]) for e in (entry, other))
            difference = Figure.of(rule - best)
            line |= {f"{name} rule": f"{rule.mean():.3f}", f"{name} tuned": f"{best.mean():.3f}"}
            line[f"{name} rule − tuned"] = f"{difference.mean:+.4f} ± {difference.error:.4f}"
            means[entry.d][f"{name} rule − tuned"].append(difference.mean)
        yield line
    for d, columns in sorted(means.items()):
        mean = {column: f"**{np.mean(values):+.4f}**" for column, values in columns.items()}
        yield {"data": f"**mean, d = {d}**", **mean}


def _chosen(entries: Sequence[Entry]) -> Iterator[Line]:
    """List the configurations that the searches chose."""
    for e in entries:
        if e.settings and not e.standardised:
            settings = {name: f"{value:.2e}" for name, value in e.settings.items()}
            of = f"{e.group.configurations}"
            yield {"data": e.data, "method": e.label, "of": of, **settings}


def pass_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Seconds per pass over the data, by machine, method and number of variables.

    The paper's times of the same methods are included as those of the machine `PAPER`.
    """
    timed = rows[(rows["kind"] == "epoch") & (rows["status"] == "done")]
    ours = timed.assign(d=[parse_name(name).nodes for name in timed["data"]])
    theirs = paper_table("epoch_time").rename(columns={"algorithm": "method"})
    theirs = theirs[theirs["method"].isin(timed["method"])].assign(machine=PAPER)
    both = pd.concat([ours, theirs]).reindex(columns=["d", "machine", "method", "epoch_seconds"])
    return both.drop_duplicates(["d", "machine", "method"], keep="last")


def _pass_times(rows: pd.DataFrame) -> Iterator[Line]:
    """List seconds per pass over the data, by number of variables and machine."""
    times = pass_times(rows).sort_values("method", key=lambda names: names.map(_RANKS))
    for (d, machine), group in times.groupby(["d", "machine"]):
        pairs = zip(group["method"], group["epoch_seconds"], strict=True)
        cells = {METHODS[method].label: f"{seconds:.3g}" for method, seconds in pairs}
        yield {"d": f"{d:,}", "machine": str(machine), **cells}


def _failures(rows: pd.DataFrame) -> Iterator[Line]:
    """Count the cells without figures, by method, data set and status."""
    failed = rows[rows["status"] != "done"].groupby(["method", "data", "status"], as_index=False)
    for method, data, status, number in failed.size().to_numpy():
        yield {"method": method, "data": data, "what": status, "cells": f"{number}"}


def written(figure: Figure, metric: str) -> str:
    """Format a figure as the paper does, long times with fewer digits; "" if it is unknown."""
    if math.isnan(figure.mean):
        return ""
    digits, sd_digits = (3, 2) if metric != "time_s" else (2, 2) if figure.mean < 10 else (0, 0)
    deviation = f" ± {figure.sd:.{sd_digits}f}" if math.isfinite(figure.sd) else ""
    return f"{figure.mean:.{digits}f}{deviation}"


def _pairs(entry: Entry, metrics: Iterable[str], paper: str = "results") -> Line:
    """Format our figures beside those of one of the paper's tables, and flag differences."""
    cells = {}
    for metric in metrics:
        ours, theirs = entry.figure(metric), entry.paper(metric, paper)
        is_flagged = metric != "time_s" and abs(compared(ours, theirs)) > 2
        cells[_METRICS[metric]] = written(ours, metric) + f" {FLAG}" * is_flagged
        cells[f"paper's {_METRICS[metric]}"] = written(theirs, metric)
    return cells
