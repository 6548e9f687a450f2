"""Tables that the paper has not: defaults, what was chosen, times of passes, what failed."""

from collections.abc import Iterable, Sequence

import numpy as np

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.figures import paper_epoch_times, pass_times
from cosmodag.bench.pages.findings import Entry, Figure
from cosmodag.bench.pages.tables import Table
from cosmodag.bench.store import Row

__all__ = ["chosen", "defaults", "epoch_times", "failures"]

# The method that follows a rule, for each that is tuned.
_RULES = {"cosmo": "cosmo-default", "cosmo-mlp": "cosmo-mlp-default"}


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


def failures(rows: Sequence[Row]) -> Iterable[Table]:
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
