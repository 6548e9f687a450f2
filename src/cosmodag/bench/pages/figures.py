"""Figures: time per pass against the number of variables; a learnt matrix beside the true one."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.entries import Entry
from cosmodag.bench.pages.tables import PAPER, pass_times
from cosmodag.bench.plan import Cell

__all__ = ["all_figures"]


def all_figures(entries: Sequence[Entry], rows: pd.DataFrame) -> dict[str, tuple[str, bytes]]:
    """Draw every figure for which there are results: name → (caption, PNG)."""
    drawn = {}
    if times := pass_times(rows):
        drawn["epoch-time"] = "Seconds per pass over the data, by variables", _pass_figure(times)
    # As in the paper: tuned COSMO on ER4, Gaussian, with d closest to 100.
    able = [e for e in entries if e.method == "cosmo" and e.is_tuned and e.results]
    able = [e for e in able if (e.graph, e.noise) == ("ER4", "gauss") and e.d <= 100]
    if able:
        drawn["matrices"] = _matrix_figure(max(able, key=lambda entry: entry.d))
    return drawn


def _pass_figure(times: dict[tuple[str, str, int], float]) -> bytes:
    """Draw seconds per pass against d, on logarithmic axes."""
    from matplotlib.figure import Figure

    methods = sorted({method for _, method, _ in times})
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for machine, method in sorted({key[:2] for key in times}):
        points = sorted((d, s) for (*who, d), s in times.items() if who == [machine, method])
        style = {"color": f"C{methods.index(method)}", "ls": "--" if machine == PAPER else "-"}
        label = f"{METHODS[method].label}, {machine}"
        axes.loglog(*zip(*points, strict=True), marker=".", label=label, **style)
    axes.set(xlabel="variables d", ylabel="seconds per pass over 1,000 rows")
    axes.grid(alpha=0.3)
    axes.legend()
    return _png(figure)


def _matrix_figure(entry: Entry) -> tuple[str, bytes]:
    """Draw learnt weights, the true ones, and their difference, as the paper does at d = 100.

    The store keeps scores, not matrices, so the fit is repeated.
    """
    from matplotlib.figure import Figure

    from cosmodag.bench.work import draw_table, learner_of, scores
    from cosmodag.simulate import load

    graph = min(entry.results)
    cell = Cell("fit", entry.method, entry.data, graph, entry.parameters)
    learnt = learner_of(cell, "cpu").fit(draw_table(cell).seen).raw_weights_
    data = load(entry.data, seed=graph)
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
        f"Weights that COSMO learns on {entry.data} (graph {graph}), the true ones, and the "
        f"difference: TPR {found['tpr']:.2f}, FPR {found['fpr']:.2f}, NHD {found['nhd']:.2f}. "
        "The paper's figure, of d = 100, has TPR .96, FPR .01, NHD .93."
    )
    return caption, _png(figure)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130, format="png")
    return buffer.getvalue()
