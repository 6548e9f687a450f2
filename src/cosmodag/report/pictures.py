"""Pictures drawn by matplotlib and written to files."""

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import topological_order
from cosmodag.io.files import write_bytes

if TYPE_CHECKING:
    from cosmodag.learners.cosmo import AnnealedLearner

__all__ = ["draw_comparison"]

_INK = "#334155"


def draw_comparison(
    path: "str | os.PathLike[str]", truth: NDArray[Any], model: "AnnealedLearner", title: str
) -> None:
    """Draw the true weights, the learnt weights and the training history, as .png, .svg or .pdf.

    Variables are in a topological order of the truth, so all its arcs are above the diagonal, and
    a learnt arc below it points backwards.
    """
    from matplotlib.figure import Figure

    order = topological_order(truth)
    figure = Figure(figsize=(12, 4.1), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.15))
    limit = float(np.abs(truth).max()) or 1.0
    for axes, weights, label in ((left, truth, "true"), (middle, model.adjacency_, "learnt")):
        image = axes.imshow(
            weights[np.ix_(order, order)], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="equal"
        )
        axes.set_title(f"{label}: {np.count_nonzero(weights)} arcs", color=_INK)
        axes.set_xlabel("effect")
        axes.set_xticks([])
        axes.set_yticks([])
    left.set_ylabel("cause")
    figure.colorbar(image, ax=[left, middle], label="weight", shrink=0.85)
    _draw_history(right, model.history_)
    figure.suptitle(title, color=_INK)
    buffer = io.BytesIO()
    suffix = os.fspath(path).rpartition(".")[2].lower()
    figure.savefig(buffer, format=suffix, dpi=130)
    write_bytes(path, buffer.getvalue())


def _draw_history(axes: Any, history: list[dict[str, float]]) -> None:
    epochs = [record["epoch"] for record in history]
    axes.semilogy(epochs, [record["loss"] for record in history], color="#b91c1c")
    axes.set_ylabel("objective", color="#b91c1c")
    axes.set_xlabel("epoch")
    axes.set_title("training", color=_INK)
    other = axes.twinx()
    other.semilogy(epochs, [record["temperature"] for record in history], color="#1d4ed8")
    other.set_ylabel("temperature", color="#1d4ed8")
