"""Tables: the paper's, with ours beside, and those that the paper has not."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.findings import Entry, Figure, compared, paper_figures
from cosmodag.bench.store import Row

__all__ = ["FLAG", "Table", "all_tables"]

FLAG = "▲"
"""Stands by a difference from the paper of more than two standard errors of the difference."""

_MANY = 2.0
_NOISES = {
    "gauss": "Gaussian",
    "exp": "exponential",
    "gumbel": "Gumbel",
    "mlp": "networks, Gaussian",
}
_METRICS = {"nhd": "NHD", "tpr": "TPR", "auc": "AUC", "time_s": "time (s)"}
_DIGITS = {"nhd": (3, 2), "tpr": (3, 2), "auc": (3, 2), "time_s": (2, 2)}
_ORDER = {name: place for place, name in enumerate(METHODS)}


@dataclass(frozen=True)
class Table:
    """A table, free of any format.

    Attributes
    ----------
    name
        Of its files.
    title
        For people.
    columns, rows
        Cells are text.
    note
        What a reader has to know.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def all_tables(entries: Sequence[Entry], rows: Sequence[Row]) -> list[Table]:
    """Make every table for which there are figures."""
    makers: tuple[Callable[[], Iterable[Table]], ...] = (
        lambda: main_table(entries),
        lambda: appendix(entries),
        lambda: ablation(entries),
        lambda: differences(entries),
        lambda: defaults(entries),
        lambda: chosen(entries),
        lambda: epoch_times(rows),
        lambda: failures(entries, rows),
    )
    return [table for make in makers for table in make() if table.rows]


def main_table(entries: Sequence[Entry]) -> Iterable[Table]:
    """Make the main table of the paper: ER4, AUC and time by noise, for tuned methods."""
    noises = ("gauss", "exp", "gumbel")
    rows = []
    ours = {(*e.family, e.method): e for e in entries if e.rule == "oracle" and not e.standardised}
    for d in sorted({key[2] for key in ours if key[0] == "ER4"}):
        for method in METHODS:
            found = [ours.get(("ER4", noise, d, method)) for noise in noises]
            if not any(found):
                continue
            cells = [f"{d}", METHODS[method].label]
            for entry in found:
                for metric in ("auc", "time_s"):
                    figure = entry.figure(metric) if entry else None
                    theirs = entry.paper.get(metric) if entry else None
                    cells += [written(figure, metric), written(theirs, metric)]
            rows.append(tuple(cells))
    heads = [f"{noise}: {what}" for noise in noises for what in ("AUC", "paper", "s", "paper s")]
    yield Table(
        "main",
        "ER4: AUC and time, tuned by the oracle",
        ("d", "method", *heads),
        tuple(rows),
        _TIMES,
    )


def appendix(entries: Sequence[Entry]) -> Iterable[Table]:
    """Make a table for each kind of graph and noise, as in the appendix, and the honest rows."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        graph, noise, _ = entry.family
        groups.setdefault((graph, noise), []).append(entry)
    for (graph, noise), some in sorted(groups.items()):
        some.sort(key=lambda e: (e.family[2], e.standardised, _ORDER[e.method], str(e.rule)))
        yield Table(
            f"{graph}-{noise}".lower(),
            f"{graph}, {_NOISES.get(noise, noise)} noise",
            ("d", "method", *_beside(("nhd", "tpr", "auc", "time_s")), "graphs"),
            tuple(_with_paper(entry) for entry in some),
            f"{_ORACLE} {_TIMES} {FLAG}: more than two standard errors of the difference apart.",
        )


def ablation(entries: Sequence[Entry]) -> Iterable[Table]:
    """Make the paper's ablation: with and without the penalty on priorities."""
    rows = []
    paired = [e for e in entries if e.method in ("cosmo", "cosmo-np") and e.rule == "oracle"]
    with_both = {e.data for e in paired if e.method == "cosmo-np"}
    for entry in sorted(paired, key=lambda e: (e.family, e.method)):
        if entry.data not in with_both or entry.standardised:
            continue
        graph, noise, d = entry.family
        theirs = paper_figures("ablation").get((graph, noise, d, entry.method), {})
        cells = [graph, noise, f"{d}", METHODS[entry.method].label]
        rows.append((*cells, *_pairs(entry, theirs, ("nhd", "tpr", "auc"))))
    yield Table(
        "ablation",
        "Ablation: no penalty on priorities",
        ("graph", "noise", "d", "method", *_beside(("nhd", "tpr", "auc"))),
        tuple(rows),
        "COSMO-NP has λ_p = 0, else the configuration chosen for COSMO, on the same graphs.",
    )


def differences(entries: Sequence[Entry]) -> Iterable[Table]:
    """List what differs from the paper by more than two standard errors of the difference."""
    rows = []
    for entry in entries:
        for metric in ("nhd", "tpr", "auc"):
            ours, theirs = entry.figure(metric), entry.paper.get(metric)
            apart = compared(ours, theirs)
            if apart is not None and abs(apart) > _MANY:
                better = (apart > 0) != (metric == "nhd")
                rows.append(
                    (
                        entry.data,
                        entry.label,
                        _METRICS[metric],
                        written(ours, metric),
                        written(theirs, metric),
                        f"{apart:+.1f}",
                        "ours" if better else "the paper's",
                    )
                )
    yield Table(
        "differences",
        "Where ours and the paper's differ",
        ("data", "method", "metric", "ours", "paper", "standard errors", "better"),
        tuple(rows),
        f"{_compared_count(entries)} figures were compared; by chance alone some 5 in 100 would "
        "differ by more than two standard errors, and more with 5 graphs each.",
    )


def defaults(entries: Sequence[Entry]) -> Iterable[Table]:
    """Compare the rule for defaults with the tuned configuration, graph by graph."""
    tuned = {
        (e.data, _RULES[e.method]): e
        for e in entries
        if e.method in _RULES and e.rule == "oracle" and not e.standardised
    }
    rows, means = [], []
    for entry in sorted(entries, key=lambda e: (e.family[2], e.data)):
        other = tuned.get((entry.data, entry.method))
        if other is None or entry.standardised:
            continue
        graphs = sorted(entry.results.keys() & other.results.keys())
        if not graphs:
            continue
        cells = [entry.data, f"{len(graphs)}"]
        for metric in ("auc", "nhd"):
            values = [[e.results[g][metric] for g in graphs] for e in (entry, other)]
            apart = Figure.of(np.subtract(values[0], values[1]))
            assert apart is not None
            cells += [f"{np.mean(v):.3f}" for v in values]
            cells.append(f"{apart.mean:+.4f} ± {apart.error:.4f}")
            means.append((metric, entry.family[2], apart.mean))
        rows.append(tuple(cells))
    for d in sorted({d for _, d, _ in means}):
        line = [f"**mean, d = {d}**", ""]
        for metric in ("auc", "nhd"):
            all_means = [mean for name, size, mean in means if (name, size) == (metric, d)]
            line += ["", "", f"**{np.mean(all_means):+.4f}**"]
        rows.append(tuple(line))
    heads = [
        f"{name} {what}" for name in ("AUC", "NHD") for what in ("rule", "tuned", "rule − tuned")
    ]
    yield Table(
        "defaults",
        "The rule for defaults beside the configuration tuned for each data set",
        ("data", "graphs", *heads),
        tuple(rows),
        "Raw weights, on the same fresh graphs; ± is the standard error of the paired difference.",
    )


def chosen(entries: Sequence[Entry]) -> Iterable[Table]:
    """Give the configurations that searches chose."""
    searched = [e for e in entries if e.settings and not e.standardised]
    names = sorted({name for entry in searched for name in entry.settings})
    yield Table(
        "chosen",
        "Configurations that were chosen",
        ("data", "method", "of", *names),
        tuple(
            (
                entry.data,
                entry.label,
                f"{entry.configurations}",
                *(f"{entry.settings[n]:.2e}" if n in entry.settings else "" for n in names),
            )
            for entry in searched
        ),
    )


def epoch_times(rows: Sequence[Row]) -> Iterable[Table]:
    """Give seconds per pass over the data, by number of variables, beside the paper's."""
    from cosmodag.bench.pages.figures import paper_epoch_times, pass_times

    found, theirs = pass_times(rows), paper_epoch_times()
    methods = [method for method in METHODS if any(key[1] == method for key in found)]
    lines = []
    for machine, d in sorted({(key[0], key[2]) for key in found}):
        cells = [machine, f"{d:,}"]
        for method in methods:
            ours, paper = found.get((machine, method, d)), theirs.get((method, d))
            cells += [f"{ours:.3g}" if ours else "", f"{paper:.3g}" if paper else ""]
        lines.append(tuple(cells))
    heads = [name for m in methods for name in (METHODS[m].label, "paper")]
    yield Table(
        "epoch-time",
        "Seconds per pass over the data",
        ("machine", "d", *heads),
        tuple(lines),
        "The paper's were taken on a CPU, with the loader of its framework in them.",
    )


def failures(entries: Sequence[Entry], rows: Sequence[Row]) -> Iterable[Table]:
    """Count cells without figures, by method and by what went wrong."""
    counts: dict[tuple[str, str, str], int] = {}
    for row in rows:
        if row.result["status"] != "done":
            key = (row.description["method"], row.description["data"], row.result["status"])
            counts[key] = counts.get(key, 0) + 1
    yield Table(
        "failures",
        "Cells without figures",
        ("method", "data", "what", "cells"),
        tuple((*key, f"{number}") for key, number in sorted(counts.items())),
    )


def written(figure: Figure | None, metric: str) -> str:
    """Write a figure as the paper does.

    Examples
    --------
    >>> written(Figure(0.9837, 0.0211, 5), "auc"), written(None, "auc")
    ('0.984 ± 0.02', '')
    """
    if figure is None:
        return ""
    digits, sd_digits = _DIGITS[metric]
    if metric == "time_s" and figure.mean >= 10:
        digits = sd_digits = 0
    if not np.isfinite(figure.sd):
        return f"{figure.mean:.{digits}f}"
    return f"{figure.mean:.{digits}f} ± {figure.sd:.{sd_digits}f}"


_RULES = {"cosmo": "cosmo-default", "cosmo-mlp": "cosmo-mlp-default"}
_ORACLE = (
    "Mean ± sample standard deviation over graphs. *Oracle*: the configuration has the best mean "
    "AUC, which takes the truth to know; *held-out score*: the best likelihood of rows not seen. "
    "Methods without either had nothing chosen for them."
)
_TIMES = "Times are processor seconds of single fits on one thread; machines differ."


def _beside(metrics: Sequence[str]) -> list[str]:
    return [
        name for metric in metrics for name in (_METRICS[metric], f"paper's {_METRICS[metric]}")
    ]


def _with_paper(entry: Entry) -> tuple[str, ...]:
    """One row of an appendix table."""
    cells = _pairs(entry, entry.paper, ("nhd", "tpr", "auc", "time_s"))
    total = len(entry.results) + entry.failed
    count = f"{total}" if not entry.failed else f"{len(entry.results)} of {total}"
    return (f"{entry.family[2]}", entry.label, *cells, count)


def _pairs(entry: Entry, paper: dict[str, Figure], metrics: Sequence[str]) -> list[str]:
    """Ours and the paper's figures of several metrics, flagged where they differ."""
    cells = []
    for metric in metrics:
        ours, theirs = entry.figure(metric), paper.get(metric)
        apart = compared(ours, theirs) if metric != "time_s" else None
        flag = f" {FLAG}" if apart is not None and abs(apart) > _MANY else ""
        cells += [written(ours, metric) + flag, written(theirs, metric)]
    return cells


def _compared_count(entries: Sequence[Entry]) -> int:
    pairs = [(e.figure(m), e.paper.get(m)) for e in entries for m in ("nhd", "tpr", "auc")]
    return sum(compared(*pair) is not None for pair in pairs)
