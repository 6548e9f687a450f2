"""Draws the pictures of the tutorial and the gallery.

    python docs/figures/draw.py     # writes tutorial_*.png and gallery_*.png beside this file

Every picture has at most 100 kB, and the same versions of the libraries give the same files.
"""

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from cosmodag import (
    Cosmo,
    CosmoMLP,
    Knowledge,
    OrderSearch,
    plot_graph,
    plot_history,
    plot_matrix,
    plot_stability,
    simulate,
)

HERE = Path(__file__).parent
SACHS = HERE.parents[1] / "examples" / "data" / "sachs_interventional.csv"


def diabetes() -> pd.DataFrame:
    """Return the table of the tutorial."""
    names = {"s2": "ldl", "s3": "hdl", "s5": "triglycerides", "s6": "glucose"}
    frame = load_diabetes(as_frame=True, scaled=False).frame
    return frame.rename(columns={**names, "target": "progression"}).drop(
        columns=["sex", "s1", "s4"]
    )


def write(name: str, axes: Any) -> None:
    """Write a picture and close its figure."""
    path = HERE / f"{name}.png"
    axes.figure.savefig(path, dpi=80, metadata={"Software": None})
    plt.close(axes.figure)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def tutorial() -> None:
    """Draw the graph of the tutorial and how sure it is."""
    table = diabetes()
    blood = ["bmi", "bp", "ldl", "hdl", "triglycerides", "glucose"]
    known = Knowledge(tiers=[["age"], blood, ["progression"]])
    model = OrderSearch(knowledge=known, random_state=0, verbose=False).fit(table)
    sure = model.bootstrap(table, 50, random_state=0, verbose=False)
    write("tutorial_graph", plot_graph(model))
    write("tutorial_stability", plot_stability(model, sure))
    write("gallery_matrix", plot_matrix(model))
    effects = model.effects_["progression"].drop("progression")
    change = (effects * table.std()[effects.index]).sort_values()
    axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")[1]
    axes.barh(list(change.index), change, color=["#D55E00" if x < 0 else "#0072B2" for x in change])
    axes.set_xlabel("change of progression when a column is raised by one standard deviation")
    write("gallery_effects", axes)


def proteins() -> None:
    """Draw the graph of 11 proteins with interventions."""
    table = pd.read_csv(SACHS)
    model = OrderSearch(random_state=0, verbose=False).fit(table, interventions="target")
    write("gallery_proteins", plot_graph(model))


def training() -> None:
    """Draw the training of COSMO, and a curve that a network learnt."""
    data = simulate.load("n500_d10_ER2_gauss", seed=0)
    model = Cosmo(random_state=0, refine=None, verbose=False).fit(data.X)
    write("gallery_training", plot_history(model))
    random = np.random.default_rng(0)
    dose = random.uniform(-2, 2, 500)
    table = pd.DataFrame({"dose": dose, "level": 3 * np.tanh(dose) + random.normal(0, 0.5, 500)})
    known = Knowledge(tiers=[["dose"], ["level"]])
    curve = CosmoMLP(knowledge=known, random_state=0, verbose=False).fit(table)
    axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")[1]
    grid = np.linspace(-2, 2, 60)
    axes.scatter(table["dose"], table["level"], s=6, color="#8a97a6")
    axes.plot(grid, curve.response("dose", "level", grid), color="#0072B2")
    axes.set_xlabel("dose")
    axes.set_ylabel("level")
    write("gallery_curve", axes)


def main() -> None:
    """Draw everything."""
    warnings.simplefilter("ignore")
    tutorial()
    proteins()
    training()


if __name__ == "__main__":
    main()
