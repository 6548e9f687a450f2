"""The report: tables and figures of all results in a store."""

import os
from collections.abc import Iterable
from pathlib import Path

from cosmodag._version import __version__
from cosmodag.bench.pages.entries import Entry, entries_of, merged
from cosmodag.bench.pages.figures import all_figures
from cosmodag.bench.pages.tables import ResultTable, all_tables
from cosmodag.bench.protocol import read_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.errors import StoreError
from cosmodag.io.files import write_bytes, write_text

__all__ = ["Entry", "ResultTable", "all_tables", "write_report"]

_TEXTS = {"data", "kind", "method", "status", "message", "backend", "machine"}


def write_report(store: Store, folder: str | os.PathLike[str]) -> Path:
    """Write tables, figures and all rows of a store to a folder, which is created if missing.

    Existing files are replaced. Returns the path of the page, ``tables.md``. The folder also holds
    each table as Markdown and CSV under ``tables/``, figures as PNG, and the rows as ``rows.csv``
    and ``rows.parquet``.
    """
    experiments = [read_experiment(text, name) for name, text in store.experiments().items()]
    if not experiments:
        raise StoreError(f"'{store.path}' has no experiment to report: run one first.")
    rows = store.rows()
    results = {row.key: row.result for row in rows}
    try:
        _check_rows(rows)
        flat = store.table()
        rows_file = flat.to_parquet(index=False)
        entries = merged(e for one in experiments for e in entries_of(one, results))
        tables, figures = all_tables(entries, flat), all_figures(entries, flat)
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
    """Raise an error if a text of a row is missing, or another entry of a result is no number."""
    for row in rows:
        texts = {name: row.description[name] for name in ("data", "kind", "method")}
        for name, value in {**texts, "status": None, **row.result}.items():
            if not isinstance(value, str if name in _TEXTS else int | float):
                raise TypeError(name)
