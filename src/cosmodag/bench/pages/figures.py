"""Figures: time per pass against the number of variables; a learnt matrix beside the true one."""

import csv
import io
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from cosmodag.bench.cell import Cell
from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.findings import Entry
from cosmodag.bench.store import Row

__all__ = ["all_figures", "matrix_figure", "paper_epoch_times", "pass_figure", "pass_times"]

Times = dict[tuple[str, str, int], float]

_COLOURS = {"cosmo": "C0", "nocurl-u": "C1", "dagma": "C2", "notears": "C3"}


def all_figures(entries: Sequence[Entry], rows: Sequence[Row]) -> dict[str, tuple[str, bytes]]:
    """Draw every figure for which there is something: name → (caption, PNG)."""
    drawn = {}
    times = pass_times(rows)
    if times:
        drawn["epoch-time"] = (
            "Seconds per pass over the data against the number of variables; dashed: the paper's, "
            "on its machine.",
            pass_figure(times),
        )
    entry = _to_draw(entries)
    if entry is not None:
        drawn["matrices"] = matrix_figure(entry)
    return drawn


def pass_times(rows: Sequence[Row]) -> Times:
    """Seconds per pass over the data, by machine, method and number of variables."""
    found: Times = {}
    for row in rows:
        if row.description["kind"] == "epoch" and row.result["status"] == "done":
            d = int(row.description["data"].split("_")[1][1:])
            key = (row.result["machine"], row.description["method"], d)
            found[key] = row.result["epoch_seconds"]
    return found


def paper_epoch_times() -> dict[tuple[str, int], float]:
    """Read the paper's seconds per pass, by method and number of variables."""
    text = files("cosmodag.bench").joinpath("paper", "epoch_time.csv").read_text("utf-8")
    lines = csv.DictReader(text.splitlines())
    return {(line["algorithm"], int(line["d"])): float(line["epoch_seconds"]) for line in lines}


def pass_figure(times: Times) -> bytes:
    """Draw seconds per pass against d, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    several = len({key[0] for key in times}) > 1
    for machine, method in sorted({key[:2] for key in times}):
        points = sorted(
            (d, t) for (m, name, d), t in times.items() if (m, name) == (machine, method)
        )
        label = METHODS[method].label + (f", {machine}" if several else "")
        axes.loglog(*zip(*points, strict=True), "o-", label=label, color=_COLOURS.get(method))
    for method in sorted({key[1] for key in times}):
        points = sorted((d, t) for (name, d), t in paper_epoch_times().items() if name == method)
        if points:
            axes.loglog(*zip(*points, strict=True), "--", color=_COLOURS.get(method), alpha=0.5)
    axes.set_xlabel("variables d")
    axes.set_ylabel("seconds per pass over 1,000 rows")
    axes.grid(alpha=0.3)
    axes.legend()
    return _png(figure)


def matrix_figure(entry: Entry) -> tuple[str, bytes]:
    """Draw learnt weights, the true ones, and their difference, as the paper does at d = 100.

    The store keeps figures and not matrices: the fit is done again.
    """
    from matplotlib.figure import Figure

    learnt, truth, scores = _fit_again(entry)
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    limit = float(np.abs(truth).max())
    titles = ("learnt", "true", "difference")
    for axes, matrix, title in zip(panels, (learnt, truth, learnt - truth), titles, strict=True):
        image = axes.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
        axes.set_title(title)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.colorbar(image, ax=panels, shrink=0.8)
    caption = (
        f"Weights that COSMO learns on {entry.data} (graph {min(entry.results)}), the true ones, "
        f"and the difference: TPR {scores['tpr']:.2f}, FPR {scores['fpr']:.2f}, NHD "
        f"{scores['nhd']:.2f}. The paper's figure, of d = 100, has TPR .96, FPR .01, NHD .93."
    )
    return caption, _png(figure)


def _to_draw(entries: Sequence[Entry]) -> Entry | None:
    """Take the entry for the figure: tuned COSMO on ER4, Gaussian, of d = 100 or close to it."""
    able = [
        entry
        for entry in entries
        if entry.method == "cosmo"
        and entry.rule == "oracle"
        and not entry.standardised
        and entry.family[:2] == ("ER4", "gauss")
        and entry.results
        and entry.family[2] <= 100
    ]
    return max(able, key=lambda entry: entry.family[2], default=None)


def _fit_again(entry: Entry) -> tuple[Any, Any, Mapping[str, float]]:
    from cosmodag.bench.work.data import draw_table
    from cosmodag.bench.work.fits import learner_of, scores
    from cosmodag.simulate import load

    graph = min(entry.results)
    cell = Cell("fit", entry.method, entry.data, graph, entry.parameters)
    model = learner_of(cell, device="cpu").fit(draw_table(cell).seen)
    data = load(entry.data, seed=graph)
    return model.raw_weights_, data.weights, scores(data.graph, model.raw_weights_, 0.3)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130, format="png")
    return buffer.getvalue()
