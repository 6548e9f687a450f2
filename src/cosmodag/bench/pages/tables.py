"""The paper's tables beside ours, and others: defaults, choices, times, failures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.entries import Entry, Figure, compared
from cosmodag.bench.pages.figures import paper_pass_times, pass_times
from cosmodag.bench.store import Row

__all__ = ["FLAG", "ResultTable", "all_tables", "written"]

FLAG = "▲"
"""Marks a difference from the paper of more than two standard errors of the difference."""

_MANY = 2.0
_NOISES = {
    "gauss": "Gaussian",
    "exp": "exponential",
    "gumbel": "Gumbel",
    "mlp": "networks, Gaussian",
}
_SCORES = {"nhd": "NHD", "tpr": "TPR", "auc": "AUC"}
_METRICS = {**_SCORES, "time_s": "time (s)"}
_ORDER = {name: place for place, name in enumerate(METHODS)}
_ORACLE = (
    "Mean ± sample standard deviation over graphs. *Oracle*: the configuration with the best mean "
    "AUC, which requires the truth; *held-out score*: the one with the best likelihood of held-out "
    "rows. Methods with neither label were not tuned."
)
_TIMES = "Times are processor seconds of single fits on one thread; machines differ."

# For each tuned method, the method that uses the default settings.
_RULES = {"cosmo": "cosmo-default", "cosmo-mlp": "cosmo-mlp-default"}


class ResultTable(NamedTuple):
    """A table of text: file name, title, columns, rows and a note for readers."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def without_blank_columns(self) -> "ResultTable":
        """Remove columns that are empty in all rows, such as figures that the paper lacks."""
        kept = [place for place in range(len(self.columns)) if any(row[place] for row in self.rows)]
        rows = [[row[place] for place in kept] for row in self.rows]
        return self._replace(columns=[self.columns[place] for place in kept], rows=rows)


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
    return [table.without_blank_columns() for table in made if table.rows]


def _main(entries: Sequence[Entry]) -> ResultTable:
    """Make the main table of the paper: ER4, AUC and time by noise, for tuned methods."""
    noises = ("gauss", "exp", "gumbel")
    ours = {(*e.family, e.method): e for e in entries if e.is_tuned}
    rows = []
    for d in sorted({key[2] for key in ours if key[0] == "ER4"}):
        for method in METHODS:
            found = [ours.get(("ER4", noise, d, method)) for noise in noises]
            cells = [
                written(figure, metric)
                for entry in found
                for metric in ("auc", "time_s")
                for figure in (
                    (entry.figure(metric), entry.paper().get(metric)) if entry else (None,) * 2
                )
            ]
            if any(found):
                rows.append([f"{d}", METHODS[method].label, *cells])
    heads = [f"{noise}: {what}" for noise in noises for what in ("AUC", "paper", "s", "paper s")]
    title = "ER4: AUC and time, tuned by the oracle"
    return ResultTable("main", title, ["d", "method", *heads], rows, _TIMES)


def _appendix(entries: Sequence[Entry]) -> Iterable[ResultTable]:
    """Make a table for each kind of graph and noise, as in the appendix, also without oracle."""
    note = f"{_ORACLE} {_TIMES} {FLAG}: more than two standard errors of the difference apart."
    for graph, noise in sorted({entry.family[:2] for entry in entries}):
        some = [entry for entry in entries if entry.family[:2] == (graph, noise)]
        some.sort(key=lambda e: (e.family[2], e.standardised, _ORDER[e.method], str(e.rule)))
        yield ResultTable(
            f"{graph}-{noise}".lower(),
            f"{graph}, {_NOISES.get(noise, noise)} noise",
            ["d", "method", *_beside(_METRICS), "graphs"],
            [
                [f"{e.family[2]}", e.label, *_pairs(e, e.paper(), _METRICS), _graphs(e)]
                for e in some
            ],
            note,
        )


def _ablation(entries: Sequence[Entry]) -> ResultTable:
    """Make the paper's ablation: with and without the penalty on priorities."""
    paired = [e for e in entries if e.method in ("cosmo", "cosmo-np") and e.is_tuned]
    with_both = {e.data for e in entries if e.method == "cosmo-np" and e.rule == "oracle"}
    rows = []
    for entry in sorted(paired, key=lambda e: (e.family, e.method)):
        if entry.data in with_both:
            graph, noise, d = entry.family
            label = METHODS[entry.method].label
            pairs = _pairs(entry, entry.paper("ablation"), _SCORES)
            rows.append([graph, noise, f"{d}", label, *pairs])
    return ResultTable(
        "ablation",
        "Ablation: no penalty on priorities",
        ["graph", "noise", "d", "method", *_beside(_SCORES)],
        rows,
        "COSMO-NP has λ_p = 0 and otherwise COSMO's configuration, on the same graphs.",
    )


def _differences(entries: Sequence[Entry]) -> ResultTable:
    """List what differs from the paper by more than two standard errors of the difference."""
    rows, count = [], 0
    for entry in entries:
        for metric, name in _SCORES.items():
            ours, theirs = entry.figure(metric), entry.paper().get(metric)
            apart = compared(ours, theirs)
            count += apart is not None
            if apart is not None and abs(apart) > _MANY:
                better = "ours" if (apart > 0) != (metric == "nhd") else "the paper's"
                both = [written(ours, metric), written(theirs, metric)]
                rows.append([entry.data, entry.label, name, *both, f"{apart:+.1f}", better])
    return ResultTable(
        "differences",
        "Where ours and the paper's differ",
        ["data", "method", "metric", "ours", "paper", "standard errors", "better"],
        rows,
        f"{count} figures were compared; by chance alone about 5 in 100 would "
        "differ by more than two standard errors, and more with only 5 graphs each.",
    )


def _defaults(entries: Sequence[Entry]) -> ResultTable:
    """Compare default settings with the tuned configuration, graph by graph."""
    tuned = {(e.data, _RULES[e.method]): e for e in entries if e.method in _RULES and e.is_tuned}
    rows, means = [], []
    for entry in sorted(entries, key=lambda e: (e.family[2], e.data)):
        other = tuned.get((entry.data, entry.method))
        graphs = sorted(entry.results.keys() & other.results.keys()) if other else []
        if other is None or entry.standardised or not graphs:
            continue
        cells = [entry.data, f"{len(graphs)}"]
        for metric in ("auc", "nhd"):
            values = [[e.results[g][metric] for g in graphs] for e in (entry, other)]
            apart = Figure.of(np.subtract(values[0], values[1]))
            assert apart is not None
            cells += [f"{np.mean(v):.3f}" for v in values]
            cells.append(f"{apart.mean:+.4f} ± {apart.error:.4f}")
            means.append((metric, entry.family[2], apart.mean))
        rows.append(cells)
    for d in sorted({d for _, d, _ in means}):
        line = [f"**mean, d = {d}**", ""]
        for metric in ("auc", "nhd"):
            some = [mean for name, size, mean in means if (name, size) == (metric, d)]
            line += ["", "", f"**{np.mean(some):+.4f}**"]
        rows.append(line)
    kinds = ("rule", "tuned", "rule − tuned")
    return ResultTable(
        "defaults",
        "Default settings compared with the configuration tuned for each data set",
        ["data", "graphs", *(f"{name} {kind}" for name in ("AUC", "NHD") for kind in kinds)],
        rows,
        "Raw weights, on the same fresh graphs; ± is the standard error of the paired difference.",
    )


def _chosen(entries: Sequence[Entry]) -> ResultTable:
    """List the configurations that searches chose."""
    searched = [e for e in entries if e.settings and not e.standardised]
    names = sorted({name for entry in searched for name in entry.settings})
    rows = [
        [
            *(entry.data, entry.label, f"{entry.configurations}"),
            *(f"{entry.settings[n]:.2e}" if n in entry.settings else "" for n in names),
        ]
        for entry in searched
    ]
    title = "Configurations that were chosen"
    return ResultTable("chosen", title, ["data", "method", "of", *names], rows)


def _pass_times(rows: Sequence[Row]) -> ResultTable:
    """List seconds per pass over the data, by number of variables, beside the paper's."""
    found, theirs = pass_times(rows), paper_pass_times()
    methods = [method for method in METHODS if any(key[1] == method for key in found)]
    lines = []
    for machine, d in sorted({(key[0], key[2]) for key in found}):
        pairs = [(found.get((machine, m, d)), theirs.get((m, d))) for m in methods]
        lines.append(
            [machine, f"{d:,}", *(f"{s:.3g}" if s else "" for pair in pairs for s in pair)]
        )
    return ResultTable(
        "epoch-time",
        "Seconds per pass over the data",
        ["machine", "d", *(name for m in methods for name in (METHODS[m].label, "paper"))],
        lines,
        "The paper's times were measured on a CPU and include its framework's data loader.",
    )


def _failures(rows: Sequence[Row]) -> ResultTable:
    """Count cells without results, by method and error."""
    counts = Counter(
        (row.description["method"], row.description["data"], row.result["status"])
        for row in rows
        if row.result["status"] != "done"
    )
    lines = [[*key, f"{number}"] for key, number in sorted(counts.items())]
    return ResultTable(
        "failures", "Cells without figures", ["method", "data", "what", "cells"], lines
    )


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


def _beside(metrics: Iterable[str]) -> list[str]:
    return [
        name for metric in metrics for name in (_METRICS[metric], f"paper's {_METRICS[metric]}")
    ]


def _pairs(entry: Entry, paper: dict[str, Figure], metrics: Iterable[str]) -> list[str]:
    """Our figures and the paper's for several metrics, flagged if they differ."""
    cells = []
    for metric in metrics:
        ours, theirs = entry.figure(metric), paper.get(metric)
        apart = compared(ours, theirs) if metric != "time_s" else None
        flag = f" {FLAG}" if apart is not None and abs(apart) > _MANY else ""
        cells += [written(ours, metric) + flag, written(theirs, metric)]
    return cells


def _graphs(entry: Entry) -> str:
    total = len(entry.results) + entry.failed
    return f"{total}" if not entry.failed else f"{len(entry.results)} of {total}"
