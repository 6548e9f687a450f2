"""The report: tables of all results in a store, and a figure of the times of passes."""

import io
import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cosmodag._version import __version__
from cosmodag.bench.methods import METHODS
from cosmodag.bench.pages.entries import Entry, entries_of, merged
from cosmodag.bench.pages.tables import PAPER, ResultTable, all_tables, pass_times
from cosmodag.bench.protocol import read_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.errors import StoreError
from cosmodag.io.files import write_bytes, write_text

__all__ = ["Entry", "ResultTable", "all_tables", "write_report"]


def write_report(store: Store, folder: str | os.PathLike[str]) -> Path:
    """Write tables, figures and all rows of a store to a folder, which is created if missing.

    Existing files are replaced. Returns the path of the page, ``tables.md``. The folder also holds
    each table as Markdown and CSV under ``tables/``, a figure as PNG, and the rows as ``rows.csv``
    and ``rows.parquet``.
    """
    experiments = [read_experiment(text, name) for name, text in store.experiments().items()]
    if not experiments:
        raise StoreError(f"'{store.path}' has no experiment to report: run one first.")
    rows = store.rows()
    results = {row.key: row.result for row in rows}
    try:
        entries = merged(e for one in experiments for e in entries_of(one, results))
        tables, image = all_tables(entries, rows), _pass_figure(rows)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise StoreError(
            f"'{store.path}' holds rows that cosmodag did not write, so nothing can be reported: "
            "run the experiment again with another store."
        ) from error
    target = Path(folder)
    (target / "tables").mkdir(parents=True, exist_ok=True)
    page = ["# The evaluation of COSMO, redone", ""]
    page += [f"- `{one.name}`: {one.title}" for one in experiments]
    page += [f"- {len(rows):,} cells, cosmodag {__version__}", ""]
    if image:
        write_bytes(target / "epoch-time.png", image)
        page += ["![Seconds per pass over the data, by number of variables](epoch-time.png)\n"]
    for table in tables:
        write_text(target / "tables" / f"{table.name}.md", table.markdown)
        frame = pd.DataFrame(table.rows, columns=table.columns)
        frame.to_csv(target / "tables" / f"{table.name}.csv", index=False, lineterminator="\n")
        page.append(table.markdown)
    write_text(target / "tables.md", "\n".join(page))
    flat = store.table()
    flat.to_csv(target / "rows.csv", index=False, lineterminator="\n")
    flat.to_parquet(target / "rows.parquet", index=False)
    return target / "tables.md"


def _pass_figure(rows: Sequence[Row]) -> bytes:
    """Draw seconds per pass against d, on logarithmic axes; empty if none was timed."""
    from matplotlib.figure import Figure

    times, buffer = pass_times(rows), io.BytesIO()
    if not times:
        return b""
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
    figure.savefig(buffer, dpi=130, format="png")
    return buffer.getvalue()
