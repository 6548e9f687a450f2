"""Errors and CPU seconds of fits, by kind of table.

Class errors are pairs of variables on which the equivalence classes of the true and the found graph
differ; NHD is wrong arcs per variable. Seconds are CPU time on one thread, after a fit of a small
table of the same kind that is not counted.
"""

import time
import warnings
from collections.abc import Sequence

import numpy as np

from tables_sections.generators import GENERATORS, class_errors
from trust_sections.base import Cell, Found, Row, mean_row, values

ABOUT = __doc__.partition("\n\n")[2].strip()

LEARNERS = {
    "BlockSearch()": ("BlockSearch", {}),
    "lines": ("BlockSearch", {"curves": False}),
    "curves": ("BlockSearch", {"curves": True}),
    "OrderSearch()": ("OrderSearch", {}),
    "Cosmo()": ("Cosmo", {}),
    "CosmoMLP()": ("CosmoMLP", {}),
}


def cell(name: str, generator: str, d: int, n: int, fits: str, targets: dict, **options) -> Cell:
    """Describe a row: how its tables are drawn, which learners are fitted, and their targets."""
    settings = {"generator": generator, "d": d, "n": n, "options": options}
    settings |= {"fits": fits.split(", "), "targets": targets}
    return Cell("fits", name, settings)


def cells() -> list[Cell]:
    """List kinds of tables."""
    own, all_three = "BlockSearch()", "BlockSearch(), lines, codes as numbers"
    found = []
    for d, errors, seconds in ((20, 3.5, 1), (50, 10, 5), (100, 25, 30)):
        targets = {"class errors": errors, "seconds": seconds}
        found += [
            cell(f"mixed, lines, d = {d}", "mixed", d, 1000, all_three, targets, curved=False)
        ]
    for d, errors in ((20, 6), (50, 18), (100, 45)):
        targets = {"class errors": errors}
        found += [
            cell(f"mixed, curves, d = {d}", "mixed", d, 1000, all_three, targets, curved=True)
        ]
    found += [cell("mixed, Cosmo, d = 20", "mixed", 20, 1000, "Cosmo()", {}, curved=False)]
    for name, spread in (("Poisson", False), ("Poisson, gamma rates", True)):
        fits = "BlockSearch(), codes as numbers"
        half = {"half of": "codes as numbers"}
        found += [cell(f"counts, {name}", "counts", 20, 1000, fits, half, spread=spread)]
    found += [cell("mixed, 25,000 rows", "mixed", 20, 25_000, own, {"seconds": 5}, curved=True)]
    for d, errors, seconds in ((20, 0.03, 1), (40, 0.05, 3), (100, 0.05, 20)):
        targets = {"NHD": errors, "seconds": seconds}
        found += [cell(f"processes, d = {d}", "processes", d, 1000, own, targets)]
    for name, options in (
        ("Gaussian", {}),
        ("Gaussian, weak", {"weak": True}),
        ("Laplace", {"noise": "laplace"}),
        ("Gumbel", {"noise": "gumbel"}),
    ):
        fits, same = "BlockSearch(), OrderSearch()", {"as": "OrderSearch()"}
        found += [cell(f"lines, {name}", "lines", 20, 1000, fits, same, **options)]
    return found


def measure(cell: Cell, seed: int) -> Found:
    """Fit the learners of a row to one table."""
    given = cell.settings
    draw = GENERATORS[given["generator"]]
    warm = draw(np.random.default_rng(0), 6, 200, **given["options"])
    truth, table = draw(np.random.default_rng(seed), given["d"], given["n"], **given["options"])
    found: Found = {"empty": class_errors(truth, np.zeros_like(truth))}
    for fit in given["fits"]:
        _fitted(fit, warm[1])
        begin = time.process_time()
        graph = _fitted(fit, table)
        found[f"{fit}: seconds"] = time.process_time() - begin
        found[f"{fit}: class errors"] = class_errors(truth, graph)
        found[f"{fit}: NHD"] = float(np.sum(truth != graph)) / len(truth)
    return found


def _fitted(fit: str, table):
    import cosmodag

    kinds: object = "auto"
    if fit == "codes as numbers":
        table, kinds = _codes(table), ["continuous"] * table.shape[1]
        name, options = "OrderSearch", {"noise": "gaussian"}
    else:
        name, options = LEARNERS[fit]
    learner = getattr(cosmodag, name)(random_state=0, verbose=False, kinds=kinds, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(table).adjacency_ != 0


def _codes(table):
    """Replace levels by their numbers."""
    import pandas as pd

    is_number = [pd.api.types.is_numeric_dtype(table[name]) for name in table]
    parts = {
        name: table[name] if number else pd.factorize(table[name], sort=True)[0]
        for name, number in zip(table, is_number, strict=True)
    }
    return pd.DataFrame(parts).astype(float)


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Make rows of means of the figures, with their targets."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        lines += mean_row(cell, found, "empty", "class errors of the empty graph")
        for fit in cell.settings["fits"]:
            for figure in ("class errors", "NHD", "seconds"):
                lines += _row(cell, found, fit, figure)
    return lines


def _row(cell: Cell, found: Sequence[Found], fit: str, figure: str) -> list[Row]:
    targets, name = cell.settings["targets"], f"{fit}: {figure}"
    if fit == cell.settings["fits"][0] and found:
        if figure in targets:
            limit = targets[figure]
            return mean_row(cell, found, name, name, f"≤ {limit}", lambda mean: mean <= limit)
        if figure == "class errors" and "half of" in targets:
            other = values(found, f"{targets['half of']}: {figure}").mean()
            words = f"≤ half of {targets['half of']}"
            return mean_row(cell, found, name, name, words, lambda mean: mean <= other / 2)
        if figure == "class errors" and "as" in targets:
            pairs = values(found, name) - values(found, f"{targets['as']}: {figure}")
            error = float(pairs.std(ddof=1) / np.sqrt(len(pairs))) if len(pairs) > 1 else 0.0
            words = f"≤ {targets['as']} + 1 error"
            return mean_row(
                cell, found, name, name, words, lambda _: float(pairs.mean()) <= error + 1e-9
            )
    return mean_row(cell, found, name, name)
