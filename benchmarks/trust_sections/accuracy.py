"""Tables of `cosmodag.simulate`, like the paper's: wrong arcs per variable, and time."""

import time
import warnings
from collections.abc import Sequence

import numpy as np

from trust_sections.base import Cell, Found, Row, mean_row

SECTION = "accuracy"
FAMILIES = (
    "n1000_d30_ER4_gauss",
    "n1000_d30_SF4_gauss",
    "n1000_d30_ER6_gauss",
    "n200_d30_ER4_gauss",
    "n1000_d30_ER4_exp",
    "n1000_d100_ER4_gauss",
    "n1000_d100_SF4_gauss",
)
UNITS = ("own", "standardised", "random")
ABOUT = (
    "CPU seconds of one fit, on one thread, after a fit of the same size that is not counted; "
    "all cores of the machine were busy."
)
_WARM: set[tuple[str, str]] = set()


def cells() -> list[Cell]:
    """Every family in its own units, and two of them also standardised and in random units."""
    made = [(family, "own") for family in FAMILIES]
    made += [(FAMILIES[place], units) for place in (0, 5) for units in UNITS[1:]]
    return [
        Cell(SECTION, f"{family}, {units} units", {"family": family, "units": units})
        for family, units in made
    ]


def measure(cell: Cell, seed: int) -> Found:
    """Time `Cosmo()`, after a first fit if this process has not fitted a table of this kind."""
    from cosmodag import Cosmo, metrics, simulate

    data = simulate.load(cell.settings["family"], seed=seed)
    X = in_units(data.X, cell.settings["units"], seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = (cell.settings["family"], cell.settings["units"])
        if kind not in _WARM:
            Cosmo(random_state=seed, verbose=False).fit(X)
            _WARM.add(kind)
        begin = time.process_time()
        model = Cosmo(random_state=seed, verbose=False).fit(X)
        seconds = time.process_time() - begin
    scores = metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)
    return {"nhd": float(scores["nhd"]), "seconds": seconds}


def in_units(X: np.ndarray, units: str, seed: int) -> np.ndarray:
    """Keep the columns, divide them by their deviations, or draw random units."""
    if units == "standardised":
        return X / X.std(axis=0)
    if units == "random":
        return X * 2.0 ** np.random.default_rng(seed).integers(-8, 8, X.shape[1])
    return X


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Rows of NHD and CPU seconds."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if found:
            lines += mean_row(cell, found, "nhd", "NHD of `Cosmo()`")
            lines += mean_row(cell, found, "seconds", "CPU s of `Cosmo()`")
    return lines
