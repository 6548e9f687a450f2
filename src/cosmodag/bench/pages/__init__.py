"""The report: tables and figures of all results in a store."""

import os
from collections.abc import Iterable
from pathlib import Path

from cosmodag._version import __version__
from cosmodag.bench.pages.entries import Entry, entries_of, merged
from cosmodag.bench.pages.figures import all_figures
from cosmodag.bench.pages.tables import ResultTable, all_tables
from cosmodag.bench.pages.writers import as_csv, as_html, as_markdown
from cosmodag.bench.protocol import read_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.errors import CosmodagError, StoreError
from cosmodag.io.files import write_bytes, write_text

__all__ = ["Entry", "ResultTable", "all_tables", "write_report"]

_TITLE = "The evaluation of COSMO, redone"
_TEXTS = {"status", "message", "backend", "machine"}


def write_report(store: Store, folder: str | os.PathLike[str]) -> Path:
    """Write tables, figures and all rows of a store to a folder, which is created if missing.

    Existing files are replaced. Returns the path of the HTML page, ``index.html``. The folder also
    holds ``tables.md``, each table as Markdown and CSV under ``tables/``, figures, and the
    rows as ``rows.csv`` and ``rows.parquet``.
    """
    experiments = [read_experiment(text, name) for name, text in store.experiments().items()]
    if not experiments:
        raise StoreError(f"'{store.path}' has no experiment to report: run one first.")
    rows = store.rows()
    results = {row.key: row.result for row in rows}
    try:
        _check_figures(rows)
        rows_file = store.table().to_parquet(index=False)
        entries = merged(e for one in experiments for e in entries_of(one, results))
        tables, figures = all_tables(entries, rows), all_figures(entries, rows)
    except CosmodagError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise StoreError(
            f"'{store.path}' holds rows that cosmodag did not write, so nothing can be reported: "
            "run the experiment again with another store."
        ) from error
    facts = [f"`{one.name}`: {one.title}" for one in experiments]
    facts.append(f"{len(rows):,} cells, cosmodag {__version__}")
    target = Path(folder)
    (target / "tables").mkdir(parents=True, exist_ok=True)
    for table in tables:
        write_text(target / "tables" / f"{table.name}.md", as_markdown(table))
        write_text(target / "tables" / f"{table.name}.csv", as_csv(table))
    for name, (_, image) in figures.items():
        write_bytes(target / f"{name}.png", image)
    lines = [f"# {_TITLE}", "", *(f"- {fact}" for fact in facts), ""]
    lines += [f"![{name}]({name}.png)\n" for name in figures]
    write_text(target / "tables.md", "\n".join([*lines, *map(as_markdown, tables)]))
    store.table().to_csv(target / "rows.csv", index=False, lineterminator="\n")
    write_bytes(target / "rows.parquet", rows_file)
    write_text(target / "index.html", as_html(_TITLE, facts, tables, figures))
    return target / "index.html"


def _check_figures(rows: Iterable[Row]) -> None:
    """Raise an error if a result has an entry that is neither a number nor one of its texts."""
    for row in rows:
        for name, value in row.result.items():
            if not isinstance(value, str if name in _TEXTS else int | float):
                raise TypeError(name)
