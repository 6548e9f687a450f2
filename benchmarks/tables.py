"""Tables of every kind: categories, counts, curves, arbitrary units.

    python benchmarks/tables.py --jobs 16                                tables.md, tables.csv
    python benchmarks/tables.py --sections networks --jobs 16           CosmoMLP on mixed tables
    python benchmarks/tables.py --sections peers --tables 3              where peers are installed
    python benchmarks/tables.py --cells "d = 20" --tables 2 --output .   some, for a quick look

A section is a module of `tables_sections`, as those of `trust.py`. Lines that are not measured
again are kept.
"""

import argparse
import importlib
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from trust_sections.base import Cell, Found, Row, as_text, read_lines, write_lines

FIRST_SEED = 0
SECTIONS = ("fits", "networks", "units", "peers")
HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main() -> int:
    """Measure the sections asked for, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=10, help="tables of each kind")
    parser.add_argument("--sections", default="fits,units", help="names with commas between")
    parser.add_argument("--cells", default="", help="measure only rows whose names have this text")
    parser.add_argument("--output", type=Path, default=HERE, help="folder for the files")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))
    rows: list[Row] = []
    for name in given.sections.split(","):
        begin = time.perf_counter()
        rows += _section(name, given.cells, given.tables, given.jobs)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    measured = {(row.section, row.table) for row in rows}
    kept = read_lines(given.output / "tables.csv")
    lines = [line for line in kept if (line["section"], line["table"]) not in measured]
    lines += [as_text(row) for row in rows]
    write_lines(given.output / "tables.csv", lines)
    page = _page(lines)
    (given.output / "tables.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def _section(name: str, text: str, tables: int, jobs: int) -> list[Row]:
    module = importlib.import_module(f"tables_sections.{name}")
    cells = [cell for cell in module.cells() if text in cell.table]
    seeds = range(FIRST_SEED, FIRST_SEED + tables)
    places = [(place, seed) for seed in seeds for place in range(len(cells))]
    results: list[list[Found]] = [[] for _ in cells]
    tasks = [(name, cells[place], seed) for place, seed in places]
    for (place, _), found in zip(places, _measured(tasks, jobs), strict=True):
        if found is not None:
            results[place].append(found)
    return module.rows(cells, results)


def _measured(tasks: list[tuple[str, Cell, int]], jobs: int) -> Iterator[Found | None]:
    if jobs == 1:
        yield from map(_measure, tasks)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
        yield from pool.map(_measure, tasks)


def _measure(task: tuple[str, Cell, int]) -> Found | None:
    name, cell, seed = task
    try:
        return importlib.import_module(f"tables_sections.{name}").measure(cell, seed)
    except Exception:
        print(f"{name}, {cell.table}, seed {seed}:\n{traceback.format_exc()}", file=sys.stderr)
        return None


def _page(lines: list[dict[str, str]]) -> str:
    """Markdown: one table for each section."""
    from environment import header, table

    verdicts = {"True": "met", "False": "**missed**", "": ""}
    text = header("Tables of every kind")
    text += "\nOwn generators (`tables_sections/generators.py`); the note is a standard error.\n"
    for section in [name for name in SECTIONS if any(one["section"] == name for one in lines)]:
        about = importlib.import_module(f"tables_sections.{section}").ABOUT
        columns = ["table", "figure", "now", "target", "", "tables", "note"]
        cells = [
            [
                *(line[name] for name in columns[:4]),
                verdicts[line["met"]],
                line["tables"],
                line["note"],
            ]
            for line in lines
            if line["section"] == section
        ]
        text += f"\n## {section}\n\n{about}\n\n" + table(columns, cells)
    return text


if __name__ == "__main__":
    sys.exit(main())
