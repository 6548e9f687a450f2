"""Options and steps of ``fit`` for rows in time."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner

__all__ = [
    "LagsOption",
    "SeriesOption",
    "TimeOption",
    "summary_csv",
    "window_facts",
    "windows_for",
]

LagsOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="K",
        help="The rows are in time: also learn which variables act on a row from up to K rows "
        "before. Default: 0, independent rows.",
    ),
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --lags: column of numbers or dates that sorts the rows; no lag crosses a gap. "
        "It is not a variable of the graph.",
    ),
]
SeriesOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --lags: column that names the series of each row, such as a patient; no lag "
        "crosses from one series into another. It is not a variable of the graph.",
    ),
]


def windows_for(model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]) -> "Table":
    """Make the complete windows that a model with lags learns from; other tables are kept."""
    import numpy as np

    from cosmodag.fit.time.unroll import InTime, unroll

    if not model.lags:
        return data
    found = unroll(
        data, model.lags, InTime(fit_arguments.get("series"), fit_arguments.get("time"))
    ).table
    return found.of_rows(~np.isnan(found.X).any(axis=1))


def window_facts(model: "StructureLearner", time: str | None, series: str | None) -> dict[str, Any]:
    """Describe the window of a model for ``run.json``."""
    window = model.fitted_.window
    if window is None:
        return {"lags": 0, "time": None, "series": None}
    return {"lags": window.lags, "time": time, "series": series, "variables": window.d}


def summary_csv(model: "StructureLearner") -> str:
    """Write the summary graph: a line for each pair and lag."""
    import pandas as pd

    lines = [
        (cause, effect, lag, weight)
        for cause, effect, facts in model.summary_graph_.edges(data=True)
        for lag, weight in zip(facts["lags"], facts["weights"], strict=True)
    ]
    table = pd.DataFrame(lines, columns=["cause", "effect", "lag", "weight"])
    return str(table.to_csv(index=False, lineterminator="\n"))
