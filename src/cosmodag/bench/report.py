"""The report of a store: its tables, figures and rows."""

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cosmodag._version import __version__
from cosmodag.bench.paper_tables import PAPER, Entry, all_tables, entries_of, pass_times
from cosmodag.bench.protocol import METHODS, read_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.errors import StoreError
from cosmodag.graph.texts import counted
from cosmodag.io.files import write_bytes, write_text

_TEXTS = {"data", "kind", "method", "status", "message", "backend", "machine"}


def write_report(store: Store, folder: str | os.PathLike[str]) -> Path:
    """Write tables, figures and all rows of a store to a folder, which is created if missing.

    Existing files are replaced. Returns the path of the page, ``tables.md``. The folder also
    contains each table as Markdown and CSV under ``tables/``, the figures as PNG, and the rows as
    ``rows.csv`` and ``rows.parquet``.
    """
    experiments = [read_experiment(text, name) for name, text in store.experiments().items()]
    if not experiments:
        raise StoreError(f"'{store.path}' contains no experiment to report: run one first.")
    rows = store.rows()
    try:
        _check_rows(rows)
        lines = [{"key": r.key, "batch": r.batch, **r.description, **r.result} for r in rows]
        flat = pd.json_normalize(lines)
        rows_file = flat.apply(_of_one_type).to_parquet(index=False)
        entries = entries_of(experiments, rows)
        tables, figures = all_tables(entries, flat), _figures(entries, pass_times(flat))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise StoreError(
            f"'{store.path}' contains rows that cosmodag did not write, so it cannot be reported: "
            "run the experiment again with another store."
        ) from error
    target = Path(folder)
    (target / "tables").mkdir(parents=True, exist_ok=True)
    page = ["# The evaluation of COSMO, repeated", ""]
    page += [f"- `{one.name}`: {one.title}" for one in experiments]
    page += [f"- {counted(len(rows), 'cell')}, cosmodag {__version__}", ""]
    for name, (caption, image) in figures.items():
        write_bytes(target / f"{name}.png", image)
        page += [f"![{caption}]({name}.png)", "", caption, ""]
    for table in tables:
        write_text(target / "tables" / f"{table.name}.md", table.markdown)
        csv = target / "tables" / f"{table.name}.csv"
        table.cells.to_csv(csv, index=False, lineterminator="\n")
        page.append(table.markdown)
    write_text(target / "tables.md", "\n".join(page))
    flat.to_csv(target / "rows.csv", index=False, lineterminator="\n")
    write_bytes(target / "rows.parquet", rows_file)
    return target / "tables.md"


def _check_rows(rows: Iterable[Row]) -> None:
    """Raise an error if a row lacks a text, or has another entry that is not a number."""
    for row in rows:
        texts = {name: row.description[name] for name in ("data", "kind", "method")}
        for name, value in {**texts, "status": None, **row.result}.items():
            if not isinstance(value, str if name in _TEXTS else int | float):
                raise TypeError(name)


def _of_one_type(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Write a parameter that is a number in some rows and a word in others as text."""
    found = {float if type(value) is int else type(value) for value in column.dropna()}
    return column if len(found) < 2 else column.map(str, na_action="ignore")


def _figures(entries: Sequence[Entry], times: pd.DataFrame) -> dict[str, tuple[str, bytes]]:
    """Draw the figures for which there are results, as name → (caption, PNG)."""
    drawn = {}
    if not times.empty:
        drawn["epoch-time"] = "Seconds per pass over the data, by variables", _pass_figure(times)
    # As in the paper: tuned COSMO on ER4 with Gaussian noise, for the largest d up to 100.
    tuned = [e for e in entries if e.method == "cosmo" and e.is_tuned and e.results]
    tuned = [e for e in tuned if (e.graph, e.noise) == ("ER4", "gauss") and e.d <= 100]
    if tuned:
        drawn["matrices"] = _matrix_figure(max(tuned, key=lambda entry: entry.d))
    return drawn


def _pass_figure(times: pd.DataFrame) -> bytes:
    """Plot seconds per pass against d, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    colours = {method: f"C{place}" for place, method in enumerate(sorted(set(times["method"])))}
    for (machine, method), line in times.sort_values("d").groupby(["machine", "method"]):
        style = {"color": colours[method], "ls": "--" if machine == PAPER else "-", "marker": "."}
        label = f"{METHODS[method].label}, {machine}"
        axes.loglog(line["d"], line["epoch_seconds"], label=label, **style)
    axes.set(xlabel="variables d", ylabel="seconds per pass over 1,000 rows")
    axes.grid(alpha=0.3)
    axes.legend()
    return _png(figure)


def _matrix_figure(entry: Entry) -> tuple[str, bytes]:
    """Draw the learnt weights, the true ones, and their difference, as the paper does at d = 100.

    The store has scores but no matrices, so the fit is repeated.
    """
    from matplotlib.figure import Figure

    from cosmodag.bench.work import learner_of, scores, simulated
    from cosmodag.simulate import load

    cell = next(cell for cell in entry.cells if cell.graph in entry.results)
    learnt = learner_of(cell, "cpu").fit(simulated(cell.data, cell.graph).train).raw_weights_
    data = load(cell.data, seed=cell.graph)
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
        f"Weights learnt by COSMO on {cell.data} (graph {cell.graph}), the true ones, and the "
        f"difference: TPR {found['tpr']:.2f}, FPR {found['fpr']:.2f}, NHD {found['nhd']:.2f}. "
        "The paper's figure, for d = 100, has TPR .96, FPR .01, NHD .93."
    )
    return caption, _png(figure)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130, format="png")
    return buffer.getvalue()
