"""The paper's tables, with ours beside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.findings import Entry, Figure, compared, paper_figures

__all__ = ["FLAG", "Table", "ablation", "appendix", "differences", "main_table", "written"]

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

    def without_blank_columns(self) -> "Table":
        """Leave out columns in which no row has anything, such as figures the paper has not."""
        kept = [place for place in range(len(self.columns)) if any(row[place] for row in self.rows)]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)


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
