"""Effects over time: coverage of intervals of impulse responses.

Tables are those of the section on time (two lags, lagged arcs and arcs at the same time), with
`OrderSearch(lags=2)`. Responses up to five rows later count if the true or the estimated response
differs from zero. Intervals from standard errors take the graph as known; those from 50 resamples
of blocks of rows do not.
"""

import warnings
from collections.abc import Sequence

import numpy as np

from questions_sections.time import LAGS, draw_series, draw_weights
from trust_sections.base import Cell, Found, Row, values

SECTION = "responses"
TABLES = 20
HORIZON = 5
RESAMPLES = 50


def cells() -> list[Cell]:
    """Small tables, Gaussian and not."""
    sizes = [(5, 500, "Gaussian"), (5, 500, "exponential"), (5, 2_000, "Gaussian")]
    return [
        Cell(SECTION, f"{d} series, T={n:,}, {noise}", {"d": d, "n": n, "noise": noise})
        for d, n, noise in sizes
    ]


def measure(cell: Cell, seed: int) -> Found:
    """Compare the intervals of all responses with the true responses."""
    from cosmodag import OrderSearch

    random = np.random.default_rng([seed, *cell.table.encode()])
    settings = cell.settings
    weights = draw_weights(random, settings["d"])
    X = draw_series(random, weights, settings["n"], settings["noise"], "lines")
    truth = true_responses(weights).transpose(1, 2, 0).ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OrderSearch(lags=LAGS, random_state=seed, verbose=False).fit(X)
        short = model.response_intervals(HORIZON)
        long = model.response_intervals(HORIZON, bootstrap=RESAMPLES)
    estimate = short["estimate"].to_numpy()
    # The response of a variable to itself at the same time is one by definition.
    asked = ((truth != 0) | (estimate != 0)) & ((truth != 1) | (estimate != 1))
    found = {"asked": float(asked.sum())}
    for name, table in (("standard errors", short), ("resamples", long)):
        inside = (table["low"].to_numpy() <= truth + 1e-12) & (truth - 1e-12 <= table["high"])
        found[name] = float(inside.to_numpy()[asked].sum())
        found[f"{name}, width"] = float(np.median((table["high"] - table["low"])[asked]))
    return found


def true_responses(weights: np.ndarray) -> np.ndarray:
    """Responses of a linear autoregression: (horizon + 1, d, d), at [h, u, v]."""
    d = weights.shape[1]
    found = np.zeros((HORIZON + 1, d, d))
    for u in range(d):
        path = np.zeros((LAGS + HORIZON + 1, d))
        for t in range(LAGS, LAGS + HORIZON + 1):
            given = sum(path[t - lag] @ weights[lag] for lag in range(1, LAGS + 1))
            given = given + (np.eye(d)[u] if t == LAGS else 0.0)
            path[t] = np.linalg.solve((np.eye(d) - weights[0]).T, given)
        found[:, u] = path[LAGS:]
    return np.where(np.abs(found) > 1e-12, found, 0.0)


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Shares of intervals pooled over tables."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if found:
            lines += [
                _row(cell, found, "resamples", "interval of 50 resamples contains the truth", True),
                _row(
                    cell,
                    found,
                    "standard errors",
                    "interval of standard errors contains the truth",
                    False,
                ),
            ]
    return lines


def _row(cell: Cell, found: Sequence[Found], name: str, figure: str, has_target: bool) -> Row:
    asked = values(found, "asked").sum()
    share = float(values(found, name).sum() / asked)
    width = float(np.median(values(found, f"{name}, width")))
    met = 0.9 <= share <= 0.98 if has_target else None
    note = f"{asked:.0f} responses; median width {width:.3g}"
    target = ".90 to .98" if has_target else ""
    return Row(SECTION, cell.table, figure, target, share, met, len(found), note)
