"""The paper's tables beside ours, and others: defaults, choices, times, failures."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.entries import Entry, Figure, compared, paper_pass_times, pass_times
from cosmodag.bench.store import Row

__all__ = ["FLAG", "ResultTable", "all_tables", "written"]

FLAG = "▲"
"""Marks a difference from the paper of more than two standard errors of the difference."""

_MANY = 2.0
_SCORES = {"nhd": "NHD", "tpr": "TPR", "auc": "AUC"}
_METRICS = {**_SCORES, "time_s": "time (s)"}
_NOISES = {"gauss": "Gaussian", "exp": "exponential", "gumbel": "Gumbel"}
_NETWORKS = {"mlp": "networks, Gaussian"}
_ORDER = {name: place for place, name in enumerate(METHODS)}
_TIMES = "Times are processor seconds of single fits on one thread; machines differ."
_APPENDIX = (
    "Mean ± sample standard deviation over graphs. *Oracle*: the configuration with the best mean "
    "AUC, which requires the truth; *held-out score*: the one with the best likelihood of held-out "
    f"rows. Methods with neither label were not tuned. {_TIMES} {FLAG}: more than two standard "
    "errors of the difference apart."
)

# For each tuned method, the method that uses the default settings.
_RULES = {"cosmo": "cosmo-default", "cosmo-mlp": "cosmo-mlp-default"}

Line = dict[str, str]


class ResultTable(NamedTuple):
    """A table of text: name of its files, title, text by column for each row, a note."""

    name: str
    title: str
    lines: Sequence[Mapping[str, str]]
    note: str = ""

    @property
    def columns(self) -> list[str]:
        """Names of columns, without those that are empty in all rows."""
        return [name for name in self.lines[0] if any(line.get(name) for line in self.lines)]

    @property
    def rows(self) -> list[list[str]]:
        """Text of each row, by column."""
        return [[line.get(name, "") for name in self.columns] for line in self.lines]

    @property
    def csv(self) -> str:
        """The table as CSV."""
        frame = pd.DataFrame(self.rows, columns=self.columns)
        return frame.to_csv(index=False, lineterminator="\n")

    @property
    def markdown(self) -> str:
        """The table as Markdown, with its title and note."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        note = f"\n{self.note}\n" if self.note else ""
        return f"## {self.title}\n\n{body}\n{note}"


def all_tables(entries: Sequence[Entry], rows: Sequence[Row]) -> list[ResultTable]:
    """Make every table for which there are results."""
    made = (
        _main(entries),
        *_appendix(entries),
        _ablation(entries),
        _differences(entries),
        _defaults(entries),
        _chosen(entries),
        _pass_times(rows),
        _failures(rows),
    )
    return [table for table in made if table.lines]


def _main(entries: Sequence[Entry]) -> ResultTable:
    """Make the main table of the paper: ER4, AUC and time by noise, for tuned methods."""
    ours = {(*e.family, e.method): e for e in entries if e.is_tuned}
    found = {(d, method) for graph, noise, d, method in ours if graph == "ER4" and noise in _NOISES}
    lines = []
    for d, method in sorted(found, key=lambda row: (row[0], _ORDER[row[1]])):
        line = {"d": f"{d}", "method": METHODS[method].label}
        for noise in _NOISES:
            entry = ours.get(("ER4", noise, d, method))
            for metric, unit, theirs in (("auc", "AUC", "paper"), ("time_s", "s", "paper s")):
                line[f"{noise}: {unit}"] = written(entry and entry.figure(metric), metric)
                line[f"{noise}: {theirs}"] = written(entry and entry.paper().get(metric), metric)
        lines.append(line)
    return ResultTable("main", "ER4: AUC and time, tuned by the oracle", lines, _TIMES)


def _appendix(entries: Sequence[Entry]) -> Iterator[ResultTable]:
    """Make a table for each kind of graph and noise, as in the appendix, also without oracle."""
    groups = defaultdict(list)
    for e in sorted(
        entries, key=lambda e: (e.family, e.standardised, _ORDER[e.method], str(e.rule))
    ):
        graph, noise, d = e.family
        of = f" of {len(e.results) + e.failed}" if e.failed else ""
        line = {"d": f"{d}", "method": e.label} | _pairs(e, e.paper(), _METRICS)
        groups[graph, noise].append(line | {"graphs": f"{len(e.results)}{of}"})
    for (graph, noise), lines in groups.items():
        title = f"{graph}, {(_NOISES | _NETWORKS).get(noise, noise)} noise"
        yield ResultTable(f"{graph}-{noise}".lower(), title, lines, _APPENDIX)


def _ablation(entries: Sequence[Entry]) -> ResultTable:
    """Make the paper's ablation: with and without the penalty on priorities."""
    tuned = [e for e in entries if e.method in ("cosmo", "cosmo-np") and e.is_tuned]
    with_both = {e.data for e in tuned if e.method == "cosmo-np"}
    lines = [
        dict(zip(("graph", "noise", "d"), map(str, e.family), strict=True))
        | {"method": METHODS[e.method].label}
        | _pairs(e, e.paper("ablation"), _SCORES)
        for e in sorted(tuned, key=lambda e: (e.family, e.method))
        if e.data in with_both
    ]
    note = "COSMO-NP has λ_p = 0 and otherwise COSMO's configuration, on the same graphs."
    return ResultTable("ablation", "Ablation: no penalty on priorities", lines, note)


def _differences(entries: Sequence[Entry]) -> ResultTable:
    """List what differs from the paper by more than two standard errors of the difference."""
    lines, count = [], 0
    for entry in entries:
        for metric, name in _SCORES.items():
            ours, theirs = entry.figure(metric), entry.paper().get(metric)
            apart = compared(ours, theirs)
            count += apart is not None
            if apart is not None and abs(apart) > _MANY:
                line = {"data": entry.data, "method": entry.label, "metric": name}
                line |= {"ours": written(ours, metric), "paper": written(theirs, metric)}
                line["standard errors"] = f"{apart:+.1f}"
                line["better"] = "ours" if (apart > 0) != (metric == "nhd") else "the paper's"
                lines.append(line)
    note = (
        f"{count} figures were compared; by chance alone about 5 in 100 would "
        "differ by more than two standard errors, and more with only 5 graphs each."
    )
    return ResultTable("differences", "Where ours and the paper's differ", lines, note)


def _defaults(entries: Sequence[Entry]) -> ResultTable:
    """Compare default settings with the tuned configuration, graph by graph."""
    tuned = {(e.data, _RULES[e.method]): e for e in entries if e.method in _RULES and e.is_tuned}
    lines: list[Line] = []
    means: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for entry in sorted(entries, key=lambda e: (e.family[2], e.data)):
        other = tuned.get((entry.data, entry.method))
        graphs = sorted(entry.results.keys() & other.results.keys()) if other else []
        if other is None or entry.standardised or not graphs:
            continue
        line = {"data": entry.data, "graphs": f"{len(graphs)}"}
        for metric in ("auc", "nhd"):
            rule, best = (np.array([e.results[g][metric] for g in graphs]) for e in (entry, other))
            apart, column = Figure.of(rule - best), f"{_SCORES[metric]} rule − tuned"
            line[f"{_SCORES[metric]} rule"] = f"{rule.mean():.3f}"
            line[f"{_SCORES[metric]} tuned"] = f"{best.mean():.3f}"
            line[column] = f"{apart.mean:+.4f} ± {apart.error:.4f}"
            means[entry.family[2]][column].append(apart.mean)
        lines.append(line)
    for d, columns in sorted(means.items()):
        mean = {column: f"**{np.mean(values):+.4f}**" for column, values in columns.items()}
        lines.append({"data": f"**mean, d = {d}**", **mean})
    return ResultTable(
        "defaults",
        "Default settings compared with the configuration tuned for each data set",
        lines,
        "Raw weights, on the same fresh graphs; ± is the standard error of the paired difference.",
    )


def _chosen(entries: Sequence[Entry]) -> ResultTable:
    """List the configurations that searches chose."""
    searched = [e for e in entries if e.settings and not e.standardised]
    names = sorted({name for entry in searched for name in entry.settings})
    lines = [
        {"data": e.data, "method": e.label, "of": f"{e.group.configurations}"}
        | {n: f"{e.settings[n]:.2e}" if n in e.settings else "" for n in names}
        for e in searched
    ]
    return ResultTable("chosen", "Configurations that were chosen", lines)


def _pass_times(rows: Sequence[Row]) -> ResultTable:
    """List seconds per pass over the data, by number of variables, beside the paper's."""
    found, theirs = pass_times(rows), paper_pass_times()
    methods = [method for method in METHODS if any(key[1] == method for key in found)]
    lines = []
    for machine, d in sorted({(key[0], key[2]) for key in found}):
        line = {"machine": machine, "d": f"{d:,}"}
        for method in methods:
            ours, paper = found.get((machine, method, d)), theirs.get((method, d))
            line[METHODS[method].label] = f"{ours:.3g}" if ours else ""
            line[f"paper's {METHODS[method].label}"] = f"{paper:.3g}" if paper else ""
        lines.append(line)
    note = "The paper's times were measured on a CPU and include its framework's data loader."
    return ResultTable("epoch-time", "Seconds per pass over the data", lines, note)


def _failures(rows: Sequence[Row]) -> ResultTable:
    """Count cells without results, by method and error."""
    counts = Counter(
        (row.description["method"], row.description["data"], row.result["status"])
        for row in rows
        if row.result["status"] != "done"
    )
    lines = [
        {"method": method, "data": data, "what": status, "cells": f"{number}"}
        for (method, data, status), number in sorted(counts.items())
    ]
    return ResultTable("failures", "Cells without figures", lines)


def written(figure: Figure | None, metric: str) -> str:
    """Format a figure as in the paper.

    Examples
    --------
    >>> written(Figure(0.9837, 0.0211, 5), "auc"), written(None, "auc")
    ('0.984 ± 0.02', '')
    """
    if figure is None:
        return ""
    digits, sd_digits = (2 if metric == "time_s" else 3), 2
    if metric == "time_s" and figure.mean >= 10:
        digits = sd_digits = 0
    deviation = f" ± {figure.sd:.{sd_digits}f}" if np.isfinite(figure.sd) else ""
    return f"{figure.mean:.{digits}f}{deviation}"


def _pairs(entry: Entry, paper: Mapping[str, Figure], metrics: Iterable[str]) -> Line:
    """Our figures and the paper's for several metrics, flagged if they differ."""
    cells = {}
    for metric in metrics:
        ours, theirs = entry.figure(metric), paper.get(metric)
        apart = compared(ours, theirs) if metric != "time_s" else None
        flag = f" {FLAG}" if apart is not None and abs(apart) > _MANY else ""
        cells[_METRICS[metric]] = written(ours, metric) + flag
        cells[f"paper's {_METRICS[metric]}"] = written(theirs, metric)
    return cells
