"""``cosmodag demo``: simulate, learn, evaluate, draw."""

import time
from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.fits.results import output_folder, write_results
from cosmodag.cli.options.common import JsonOption, OutputOption
from cosmodag.cli.terminal.cache import keep_compiled_programs
from cosmodag.cli.terminal.output import print_json, print_result, print_table, say

__all__ = ["demo"]

_DATA = "n1000_d30_ER4_gauss"


def demo(
    output: OutputOption = Path("cosmodag-demo"),
    name: Annotated[str, typer.Option(help="The data set to simulate.")] = _DATA,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the learner.")] = 0,
    json: JsonOption = False,
) -> None:
    """Learn a graph of 30 variables from simulated data and score it.

    Simulates a thousand rows from a random graph, learns a graph with COSMO and order refinement
    (with neural networks if the simulated relations are not linear), compares it with the true
    graph, and writes the graph, a report and a picture. Needs no data and less than a minute.
    """
    keep_compiled_programs()
    from cosmodag import Cosmo, CosmoMLP, metrics, simulate
    from cosmodag.io import Table
    from cosmodag.report.pictures import draw_comparison

    data = simulate.load(name, seed=seed)
    table = Table(data.X, list(data.names))
    say(f"simulated {name}: {data.X.shape[0]} rows, {int(data.graph.sum())} arcs; learning ...")
    with output_folder(output):
        begin = time.monotonic()
        is_linear = data.weights is not None
        learner = Cosmo(refine="order") if is_linear else CosmoMLP()
        model = learner.set_params(random_state=seed).fit(table)
        seconds = time.monotonic() - begin
    scores = metrics.evaluate(data.graph, model.weights_, threshold=0.0)
    shown = {key: scores[key] for key in ("auc", "nhd", "tpr", "fdr")}
    facts = {"data": name, "seed": seed, "seconds": round(seconds, 3), **shown}
    files, _ = write_results(output, model, table, facts)
    files["picture"] = output / "demo.png"
    title = f"{name}: AUC {shown['auc']:.3f}, NHD {shown['nhd']:.2f}, in {seconds:.1f} s"
    truth = data.graph.astype(float) if data.weights is None else data.weights
    draw_comparison(files["picture"], truth, model, title)
    if json:
        print_json({**facts, "files": files})
        return
    meaning = {
        "auc": "ranking of arcs by weight: 1 is perfect, 0.5 is chance",
        "nhd": "wrong arcs per variable (missing, extra; a reversed one counts twice)",
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
