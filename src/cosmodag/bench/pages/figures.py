"""Figures: time per pass against the number of variables; a learnt matrix beside the true one."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from cosmodag.bench.cell import Cell
from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.entries import Entry, paper_lines
from cosmodag.bench.store import Row

__all__ = ["all_figures", "paper_pass_times", "pass_times"]

_COLOURS = {"cosmo": "C0", "nocurl-u": "C1", "dagma": "C2", "notears": "C3"}


def all_figures(entries: Sequence[Entry], rows: Sequence[Row]) -> dict[str, tuple[str, bytes]]:
    """Draw every figure for which there are results: name → (caption, PNG)."""
    drawn = {}
    if times := pass_times(rows):
        drawn["epoch-time"] = (
            "Seconds per pass over the data against the number of variables; dashed: the paper's, "
            "on its machine.",
            _pass_figure(times),
        )
    if (entry := _to_draw(entries)) is not None:
        drawn["matrices"] = _matrix_figure(entry)
    return drawn


def pass_times(rows: Sequence[Row]) -> dict[tuple[str, str, int], float]:
    """Seconds per pass over the data, by machine, method and number of variables."""
    found = {}
    for row in rows:
        if row.description["kind"] == "epoch" and row.result["status"] == "done":
            d = int(row.description["data"].split("_")[1][1:])
            key = (row.result["machine"], row.description["method"], d)
            found[key] = row.result["epoch_seconds"]
    return found


def paper_pass_times() -> dict[tuple[str, int], float]:
    """Read the paper's seconds per pass, by method and number of variables."""
    lines = paper_lines("epoch_time")
    return {(line["algorithm"], int(line["d"])): float(line["epoch_seconds"]) for line in lines}


def _pass_figure(times: dict[tuple[str, str, int], float]) -> bytes:
    """Draw seconds per pass against d, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    several = len({machine for machine, _, _ in times}) > 1
    for machine, method in sorted({key[:2] for key in times}):
        points = sorted((d, t) for (*who, d), t in times.items() if who == [machine, method])
        label = METHODS[method].label + (f", {machine}" if several else "")
        axes.loglog(*zip(*points, strict=True), "o-", label=label, color=_COLOURS.get(method))
    for method in sorted({method for _, method, _ in times}):
        points = sorted((d, t) for (name, d), t in paper_pass_times().items() if name == method)
        if points:
            axes.loglog(*zip(*points, strict=True), "--", color=_COLOURS.get(method), alpha=0.5)
    axes.set_xlabel("variables d")
    axes.set_ylabel("seconds per pass over 1,000 rows")
    axes.grid(alpha=0.3)
    axes.legend()
    return _png(figure)


def _to_draw(entries: Sequence[Entry]) -> Entry | None:
    """Select the entry for the figure: tuned COSMO on ER4, Gaussian, with d closest to 100."""
    able = [e for e in entries if e.method == "cosmo" and e.is_tuned and e.results]
    able = [e for e in able if e.family[:2] == ("ER4", "gauss") and e.family[2] <= 100]
    return max(able, key=lambda entry: entry.family[2], default=None)


def _matrix_figure(entry: Entry) -> tuple[str, bytes]:
    """Draw learnt weights, the true ones, and their difference, as the paper does at d = 100.

    The store keeps scores, not matrices, so the fit is repeated.
    """
    from matplotlib.figure import Figure

    from cosmodag.bench.work import draw_table, learner_of, scores
    from cosmodag.simulate import load

    graph = min(entry.results)
    cell = Cell("fit", entry.method, entry.data, graph, entry.parameters)
    learnt = learner_of(cell, device="cpu").fit(draw_table(cell).seen).raw_weights_
    data = load(entry.data, seed=graph)
    assert data.weights is not None
    truth, found = data.weights, scores(data.graph, learnt, 0.3)
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    limit = float(np.abs(truth).max())
    drawn = {"learnt": learnt, "true": truth, "difference": learnt - truth}
    for axes, (title, matrix) in zip(panels, drawn.items(), strict=True):
        image = axes.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
        axes.set(title=title, xticks=[], yticks=[])
    figure.colorbar(image, ax=panels, shrink=0.8)
    caption = (
        f"Weights that COSMO learns on {entry.data} (graph {graph}), the true ones, "
        f"and the difference: TPR {found['tpr']:.2f}, FPR {found['fpr']:.2f}, NHD "
        f"{found['nhd']:.2f}. The paper's figure, of d = 100, has TPR .96, FPR .01, NHD .93."
    )
    return caption, _png(figure)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130, format="png")
    return buffer.getvalue()
