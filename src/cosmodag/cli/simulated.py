"""Commands on simulated data: ``demo`` and ``simulate``."""

import io
import json as json_format
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cosmodag._version import __version__
from cosmodag.cli.fit_folder import FILES, make_folder, output_folder, write_results
from cosmodag.cli.options.common import JsonOption, OutputOption, QuietOption
from cosmodag.cli.terminal.cache_folder import keep_compiled_programs
from cosmodag.cli.terminal.output import print_json, print_result, print_table, say
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cosmodag.learners.cosmo import AnnealedLearner
    from cosmodag.simulate import Dataset

_DEMO = "n1000_d30_ER4_gauss"
_INK = "#334155"
_PICTURE = "demo.png"

TableFormat = Literal["csv", "parquet"]


def demo(
    output: OutputOption = Path("cosmodag-demo"),
    name: Annotated[str, typer.Option(help="The data set to simulate.")] = _DEMO,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the learner.")] = 0,
    json: JsonOption = False,
) -> None:
    """Learn a graph of 30 variables from simulated data and score it.

    Simulates a thousand rows from a random graph, learns a graph with COSMO and order refinement
    (with neural networks if the simulated relations are not linear), compares it with the true
    graph, and writes the graph, a report and a picture. It needs no data and takes less than a
    minute.
    """
    keep_compiled_programs()
    from cosmodag import Cosmo, CosmoMLP, metrics, simulate
    from cosmodag.io import Table

    data = simulate.load(name, seed=seed)
    table = Table(data.X, list(data.names))
    say(
        f"simulated {name}: {counted(data.X.shape[0], 'row')}, "
        f"{counted(int(data.graph.sum()), 'arc')}; learning ..."
    )
    with output_folder(output, FILES.values()):
        begin = time.monotonic()
        is_linear = data.weights is not None
        learner = Cosmo(refine="order") if is_linear else CosmoMLP()
        model = learner.set_params(random_state=seed).fit(table)
        seconds = time.monotonic() - begin
    scores = metrics.evaluate(data.graph, model.weights_, threshold=0.0)
    shown = {key: scores[key] for key in ("auc", "nhd", "tpr", "fdr")}
    facts = {"data": name, "seed": seed, "seconds": round(seconds, 3), **shown}
    files, _ = write_results(output, model, table, facts)
    files["picture"] = output / _PICTURE
    title = f"{name}: AUC {shown['auc']:.3f}, NHD {shown['nhd']:.2f}, in {seconds:.1f} s"
    truth = data.graph.astype(float) if data.weights is None else data.weights
    _draw_comparison(files["picture"], truth, model, title)
    if json:
        print_json({**facts, "files": files})
        return
    meaning = {
        "auc": "ranking of arcs by weight: 1 is perfect, 0.5 is chance",
        "nhd": "wrong arcs per variable (missing or extra; a reversed arc counts twice)",
        "tpr": "share of true arcs found, in the right direction",
        "fdr": "share of found arcs that are wrong",
    }
    print_table(
        ["score", "value", "meaning"],
        [(key.upper(), f"{value:.3f}", meaning[key]) for key, value in shown.items()],
    )
    print_result(
        f"learnt in {seconds:.1f} s; results in {output}/, report in {output / 'report.html'}"
    )


def simulate(
    name: Annotated[str, typer.Argument(help="n<samples>_d<nodes>_<ER|SF|BP><k>_<mechanism>.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write to; by default the data set's name."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Random seed; the same name and seed give the same data.")
    ] = 0,
    format: Annotated[TableFormat, typer.Option(help="File format of the table.")] = "csv",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate a data set by name, for example n1000_d30_ER4_gauss.

    Writes the table (data.csv), the true arcs with their weights (truth.csv), and the name, the
    seed and the version of cosmodag (dataset.json).

    Graphs: ER (Erdős–Rényi), SF (scale-free) or BP (bipartite), with k arcs per node.

    Mechanisms: gauss, exp, gumbel, uniform, logistic, poisson (linear, named after the noise); mlp,
    mim, gp, gp-add (non-linear).
    """
    from cosmodag.simulate import load

    data = load(name, seed=seed)
    folder = Path(name) if output is None else output
    files = _write(data, folder, format)
    result = {
        "name": name,
        "seed": seed,
        "samples": data.X.shape[0],
        "variables": data.X.shape[1],
        "arcs": int(data.graph.sum()),
    }
    if json:
        print_json({**result, "files": files})
    elif not quiet:
        print_table(["", "simulated"], [*result.items(), *files.items()])


def _write(data: "Dataset", folder: Path, format: TableFormat) -> dict[str, Path]:
    import pandas as pd

    from cosmodag.io.files import write_bytes, write_text
    from cosmodag.io.graphs import Graph, write_graph

    files = {
        "table": folder / f"data.{format}",
        "truth": folder / "truth.csv",
        "origin": folder / "dataset.json",
    }
    make_folder(folder)
    origin = {"name": data.name, "seed": data.seed, "cosmodag": __version__}
    frame = pd.DataFrame(data.X, columns=list(data.names), copy=False)
    if format == "csv":
        write_text(files["table"], frame.to_csv(index=False, lineterminator="\n"))
    else:
        write_bytes(files["table"], frame.to_parquet(index=False))
    write_graph(
        Graph(data.names, data.graph if data.weights is None else data.weights), files["truth"]
    )
    write_text(files["origin"], json_format.dumps(origin, indent=2) + "\n")
    return files


def _draw_comparison(
    path: Path, truth: "NDArray[Any]", model: "AnnealedLearner", title: str
) -> None:
    """Draw the true weights, the learnt weights and the training history as PNG.

    Variables are in a topological order of the true graph, so all its arcs are above the diagonal,
    and a learnt arc below the diagonal points backwards.
    """
    import numpy as np
    from matplotlib.figure import Figure

    from cosmodag.graph.dags import topological_order
    from cosmodag.io.files import write_bytes
    from cosmodag.report import plot_history

    order = topological_order(truth)
    figure = Figure(figsize=(12, 4.1), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.15))
    limit = float(np.abs(truth).max()) or 1.0
    for axes, weights, label in ((left, truth, "true"), (middle, model.adjacency_, "learnt")):
        image = axes.imshow(
            weights[np.ix_(order, order)], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="equal"
        )
        axes.set_title(f"{label}: {counted(int(np.count_nonzero(weights)), 'arc')}", color=_INK)
        axes.set_xlabel("effect")
        axes.set_xticks([])
        axes.set_yticks([])
    left.set_ylabel("cause")
    figure.colorbar(image, ax=[left, middle], label="weight", shrink=0.85)
    plot_history(model, right).set_title("training", color=_INK)
    figure.suptitle(title, color=_INK)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    write_bytes(path, buffer.getvalue())
