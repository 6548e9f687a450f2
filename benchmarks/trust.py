"""What the default asserts that a table cannot support: noise, directions, sureness, findings.

    python benchmarks/trust.py --jobs 16                               trust.md, trust.csv
    python benchmarks/trust.py --sections noise --tables 2 --output .  some, for a quick look
    PYTHONPATH=OLD/src python benchmarks/trust.py --before             trust_before.csv

A section is a module of `trust_sections` with three functions: `cells()` lists kinds of tables,
`measure(cell, seed)` draws one table and gives its figures by name, and `rows(cells, results)`
turns them into lines of the page; ``results[i]`` lists the figures of all tables of ``cells[i]``.
Sections that are not measured again keep their lines.
"""

import argparse
import importlib
import multiprocessing
import os
import pkgutil
import re
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

import trust_sections
from trust_sections.base import (
    AS_BEFORE,
    TWICE_BEFORE,
    Cell,
    Found,
    Row,
    as_text,
    read_lines,
    write_lines,
)

FIRST_SEED = 31_000
HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main() -> int:
    """Measure the sections asked for, and write the files."""
    given = _arguments()
    names = given.sections.split(",") if given.sections else _all_sections()
    seeds = range(FIRST_SEED, FIRST_SEED + given.tables)
    rows: list[Row] = []
    failures = 0
    for name in names:
        begin = time.perf_counter()
        found, failed = _section(name, seeds, given.jobs)
        rows += found
        failures += failed
        print(f"{name}: {time.perf_counter() - begin:.0f} s, {failed} failed", file=sys.stderr)
    kept = given.output / ("trust_before.csv" if given.before else "trust.csv")
    lines = [line for line in read_lines(kept) if line["section"] not in names]
    lines += [as_text(row) for row in rows]
    write_lines(kept, lines)
    if not given.before:
        before = read_lines(given.output / "trust_before.csv")
        page = _page(lines, before)
        (given.output / "trust.md").write_text(page, encoding="utf-8")
        print(page)
    return 1 if failures and not given.before else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=30, help="tables of each kind")
    parser.add_argument("--sections", help="names with commas between; by default all")
    parser.add_argument("--before", action="store_true", help="write trust_before.csv")
    parser.add_argument("--output", type=Path, default=HERE, help="folder for the files")
    return parser.parse_args()


def _all_sections() -> list[str]:
    found = [module.name for module in pkgutil.iter_modules(trust_sections.__path__)]
    return [name for name in found if hasattr(_module(name), "cells")]


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"trust_sections.{name}")


def _section(name: str, seeds: range, jobs: int) -> tuple[list[Row], int]:
    """Rows of one section, and the number of tables that could not be measured."""
    module = _module(name)
    cells = module.cells()
    # Seeds in the outer loop: slow and fast cells alternate, so that all workers end together.
    places = [(place, seed) for seed in seeds for place in range(len(cells))]
    tasks = [(name, cells[place], seed) for place, seed in places]
    results: list[list[Found]] = [[] for _ in cells]
    failed = 0
    for (place, _), found in zip(places, _measured(tasks, jobs), strict=True):
        if found is None:
            failed += 1
        else:
            results[place].append(found)
    return module.rows(cells, results), failed


def _measured(tasks: list[tuple[str, Cell, int]], jobs: int) -> Iterator[Found | None]:
    if jobs == 1:
        yield from map(_measure, tasks)
        return
    # Workers inherit these: one thread each, since there are as many workers as cores.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
        yield from pool.map(_measure, tasks)


def _measure(task: tuple[str, Cell, int]) -> Found | None:
    """Figures of one table; None where the code that is measured failed."""
    name, cell, seed = task
    try:
        return _module(name).measure(cell, seed)
    except Exception:
        print(f"{name}, {cell.table}, seed {seed}:\n{traceback.format_exc()}", file=sys.stderr)
        return None


def _page(lines: list[dict[str, str]], before: list[dict[str, str]]) -> str:
    """Markdown: one table for each section, with the old figure beside the new one."""
    from environment import header, table

    def identity(line: dict[str, str]) -> tuple[str, ...]:
        return line["section"], line["table"], line["figure"]

    old = {identity(line): line["now"] for line in before}
    lines = [_beside(line, old.get(identity(line))) for line in lines]
    verdicts = {"True": "met", "False": "**missed**", "": ""}
    text = header("Trust: what is asserted, and what the tables support")
    text += (
        "\nOwn generators (`trust_sections/tables.py`), not those of `cosmodag.simulate`. "
        "*Before* is the same script on the code before these guards.\n"
    )
    missed = sum(line["met"] == "False" for line in lines)
    held = sum(line["met"] == "True" for line in lines)
    text += f"\nTargets met: {held}; missed: {missed}.\n"
    for section in dict.fromkeys(line["section"] for line in lines):
        columns = ["table", "figure", "before", "now", "target", "", "tables", "note"]
        cells: list[list[object]] = [
            [
                line["table"],
                line["figure"],
                old.get(identity(line), "–"),
                line["now"],
                line["target"],
                verdicts[line["met"]],
                line["tables"],
                line["note"],
            ]
            for line in lines
            if line["section"] == section
        ]
        text += f"\n## {section}\n\n{_about(section)}" + table(columns, cells)
    return text


def _about(section: str) -> str:
    """Give the paragraph that a reader of a section must know, `ABOUT` of its module."""
    text = getattr(_module(section), "ABOUT", "")
    return f"{text}\n\n" if text else ""


def _beside(line: dict[str, str], old: str | None) -> dict[str, str]:
    """Judge a line whose target is the figure before; others stay as they are."""
    if line["target"] not in (TWICE_BEFORE, AS_BEFORE) or not old:
        return line
    error = re.match(r"± (\S+?)(;|$)", line["note"])
    slack = 2 * float(error[1]) if error else 0.0
    limit = 2 * float(old) if line["target"] == TWICE_BEFORE else float(old) + slack
    return {**line, "met": str(float(line["now"]) <= limit + 1e-9)}


if __name__ == "__main__":
    sys.exit(main())
