"""The paper's tables beside ours, and others: defaults, choices, times, failures."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import pandas as pd

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.entries import Entry, Figure, compared, paper_lines
from cosmodag.simulate import parse_name

__all__ = ["FLAG", "PAPER", "ResultTable", "all_tables", "pass_times", "written"]

FLAG = "▲"
"""Marks a difference from the paper of more than two standard errors of the difference."""

PAPER = "the paper"
"""Name of the paper's machine, of which the times of passes are known."""

_TEXTS = tomllib.loads(files("cosmodag.bench").joinpath("paper", "tables.toml").read_text("utf-8"))
_NOISES = ("gauss", "exp", "gumbel")
_SCORES = {"nhd": "NHD", "tpr": "TPR", "auc": "AUC"}
_METRICS = {**_SCORES, "time_s": "time (s)"}
_ORDER = {name: place for place, name in enumerate(METHODS)}

# For each tuned method, the method that uses the default settings.
_RULES = {"cosmo": "cosmo-default", "cosmo-mlp": "cosmo-mlp-default"}

Line = dict[str, str]


class ResultTable(NamedTuple):
    """A table of text: name of its files, title, note, and the text of all cells."""

    name: str
    title: str
    note: str
    cells: pd.DataFrame

    @property
    def markdown(self) -> str:
        """The table as Markdown, with its title and note."""
        lines = [[*self.cells], ["---"] * self.cells.shape[1], *self.cells.to_numpy()]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"## {self.title}\n\n{body}\n" + f"\n{self.note}\n" * bool(self.note)


def all_tables(entries: Sequence[Entry], rows: pd.DataFrame) -> list[ResultTable]:
    """Make every table for which there are results."""
    apart = [(e, m, compared(e.figure(m), e.paper(m))) for e in entries for m in _SCORES]
    known = [one for one in apart if math.isfinite(one[2])]
    made = [
        _table("main", _main(entries)),
        *_appendix(entries),
        _table("ablation", _ablation(entries)),
        _table("differences", _differences(known), count=len(known)),
        _table("defaults", _defaults(entries)),
        _table("chosen", _chosen(entries)),
        _table("epoch-time", _pass_times(rows)),
        _table("failures", _failures(rows)),
    ]
    return [table for table in made if not table.cells.empty]


def _table(kind: str, lines: Iterable[Line], name: str = "", **values: object) -> ResultTable:
    """Make a table with the title and the note of its kind, without columns that are empty."""
    title, note = (_TEXTS[kind].get(part, "").format(**values) for part in ("title", "note"))
    cells = pd.DataFrame(lines).fillna("")
    return ResultTable(name or kind, title, note, cells.loc[:, (cells != "").any()])


def _main(entries: Sequence[Entry]) -> Iterator[Line]:
    """Make the main table of the paper: ER4, AUC and time by noise, for tuned methods."""
    ours = {(e.d, e.method, e.noise): e for e in entries if e.is_tuned and e.graph == "ER4"}
    found = {(d, method) for d, method, noise in ours if noise in _NOISES}
    for d, method in sorted(found, key=lambda row: (row[0], _ORDER[row[1]])):
        line = {"d": f"{d}", "method": METHODS[method].label}
        for noise in _NOISES:
            entry = ours.get((d, method, noise))
            for metric, unit, theirs in (("auc", "AUC", "paper"), ("time_s", "s", "paper s")):
                line[f"{noise}: {unit}"] = written(entry.figure(metric), metric) if entry else ""
                line[f"{noise}: {theirs}"] = written(entry.paper(metric), metric) if entry else ""
        yield line


def _appendix(entries: Sequence[Entry]) -> Iterator[ResultTable]:
    """Make a table for each kind of graph and noise, as in the appendix, also without oracle."""
    groups = defaultdict(list)
    for e in sorted(entries, key=lambda e: (e.d, e.standardised, _ORDER[e.method], str(e.rule))):
        of = f" of {len(e.results) + e.failed}" if e.failed else ""
        line = {"d": f"{e.d}", "method": e.label, **_pairs(e, _METRICS)}
        groups[e.graph, e.noise].append({**line, "graphs": f"{len(e.results)}{of}"})
    for (graph, noise), lines in sorted(groups.items()):
        words = {"graph": graph, "noise": _TEXTS["noises"].get(noise, noise), "flag": FLAG}
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
    """List what differs from the paper by more than two standard errors of the difference."""
    for entry, metric, apart in known:
        if abs(apart) > 2:
            line = {"data": entry.data, "method": entry.label, "metric": _SCORES[metric]}
            line["ours"] = written(entry.figure(metric), metric)
            line["paper"] = written(entry.paper(metric), metric)
            line["standard errors"] = f"{apart:+.1f}"
            line["better"] = "ours" if (apart > 0) != (metric == "nhd") else "the paper's"
            yield line


def _defaults(entries: Sequence[Entry]) -> Iterator[Line]:
    """Compare default settings with the tuned configuration, graph by graph."""
    tuned = {(e.data, _RULES[e.method]): e for e in entries if e.method in _RULES and e.is_tuned}
    means: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for entry in sorted(entries, key=lambda e: (e.d, e.data)):
        other = tuned.get((entry.data, entry.method))
        graphs = sorted(entry.results.keys() & other.results.keys()) if other else []
        if other is None or entry.standardised or not graphs:
            continue
        line = {"data": entry.data, "graphs": f"{len(graphs)}"}
        for metric, name in (("auc", "AUC"), ("nhd", "NHD")):
            rule, best = (np.array([e.results[g][metric] for g in graphs]) for e in (entry, other))
            apart = Figure.of(rule - best)
            line |= {f"{name} rule": f"{rule.mean():.3f}", f"{name} tuned": f"{best.mean():.3f}"}
            line[f"{name} rule − tuned"] = f"{apart.mean:+.4f} ± {apart.error:.4f}"
            means[entry.d][f"{name} rule − tuned"].append(apart.mean)
        yield line
    for d, columns in sorted(means.items()):
        mean = {column: f"**{np.mean(values):+.4f}**" for column, values in columns.items()}
        yield {"data": f"**mean, d = {d}**", **mean}


def _chosen(entries: Sequence[Entry]) -> Iterator[Line]:
    """List the configurations that searches chose."""
    searched = [e for e in entries if e.settings and not e.standardised]
    names = sorted({name for entry in searched for name in entry.settings})
    for e in searched:
        line = {"data": e.data, "method": e.label, "of": f"{e.group.configurations}"}
        yield line | {n: f"{e.settings[n]:.2e}" if n in e.settings else "" for n in names}


def pass_times(rows: pd.DataFrame) -> dict[tuple[str, str, int], float]:
    """Seconds per pass over the data, by machine, method and number of variables.

    The paper's times of the same methods are those of another machine.
    """
    timed = rows[(rows["kind"] == "epoch") & (rows["status"] == "done")]
    found = {
        (cell["machine"], cell["method"], parse_name(cell["data"]).nodes): cell["epoch_seconds"]
        for cell in timed.to_dict("records")
    }
    for line in paper_lines("epoch_time"):
        if line["algorithm"] in set(timed["method"]):
            found[PAPER, line["algorithm"], line["d"]] = line["epoch_seconds"]
    return found


def _pass_times(rows: pd.DataFrame) -> Iterator[Line]:
    """List seconds per pass over the data, by number of variables, beside the paper's."""
    found = pass_times(rows)
    methods = [method for method in METHODS if any(key[1] == method for key in found)]
    for machine, d in sorted({(machine, d) for machine, _, d in found if machine != PAPER}):
        line = {"machine": machine, "d": f"{d:,}"}
        for method in methods:
            ours, paper = found.get((machine, method, d)), found.get((PAPER, method, d))
            line[METHODS[method].label] = f"{ours:.3g}" if ours else ""
            line[f"paper's {METHODS[method].label}"] = f"{paper:.3g}" if paper else ""
        yield line


def _failures(rows: pd.DataFrame) -> Iterator[Line]:
    """Count cells without results, by method and error."""
    failed = rows[rows["status"] != "done"].groupby(["method", "data", "status"], as_index=False)
    for method, data, status, number in failed.size().to_numpy():
        yield {"method": method, "data": data, "what": status, "cells": f"{number}"}


def written(figure: Figure, metric: str) -> str:
    """Format a figure as in the paper.

    Examples
    --------
    >>> written(Figure(0.9837, 0.0211, 5), "auc"), written(Figure.of([]), "auc")
    ('0.984 ± 0.02', '')
    """
    if not figure.count:
        return ""
    digits, sd_digits = (2 if metric == "time_s" else 3), 2
    if metric == "time_s" and figure.mean >= 10:
        digits = sd_digits = 0
    deviation = f" ± {figure.sd:.{sd_digits}f}" if math.isfinite(figure.sd) else ""
    return f"{figure.mean:.{digits}f}{deviation}"


def _pairs(entry: Entry, metrics: Iterable[str], paper: str = "results") -> Line:
    """Our figures and those of one of the paper's tables, flagged if they differ."""
    cells = {}
    for metric in metrics:
        ours, theirs = entry.figure(metric), entry.paper(metric, paper)
        is_flagged = metric != "time_s" and abs(compared(ours, theirs)) > 2
        cells[_METRICS[metric]] = written(ours, metric) + f" {FLAG}" * is_flagged
        cells[f"paper's {_METRICS[metric]}"] = written(theirs, metric)
    return cells
