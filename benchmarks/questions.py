"""Questions that people ask of a graph, answered on tables with known answers.

    python benchmarks/questions.py --jobs 16                                questions.md, .csv
    python benchmarks/questions.py --sections effects --tables 2 --output .  some, for a quick look

A section is a module of `questions_sections` with three functions, as for `trust.py`: `cells()`
lists kinds of tables, `measure(cell, seed)` draws one table and gives its figures by name, and
`rows(cells, results)` turns them into lines of the page. Sections that are not measured again keep
their lines. `TABLES` of a section is its number of tables, where that is not the default.
"""

import argparse
import importlib
import json
import os
import pkgutil
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType

import questions_sections
from trust_sections.base import Cell, Found, Row, as_text, read_lines, write_lines

FIRST_SEED = 52_000
TABLES = 20
HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
VERDICTS = {"True": "met", "False": "**missed**", "": ""}


def main() -> int:
    """Measure the sections asked for, and write the files."""
    given = _arguments()
    names = given.sections.split(",") if given.sections else _all_sections()
    lines = [
        line
        for line in read_lines(given.output / "questions.csv")
        if line["section"] not in names or given.only not in line["table"]
    ]
    failures = 0
    for name in names:
        begin = time.perf_counter()
        tables = given.tables or getattr(_module(name), "TABLES", TABLES)
        seeds = range(FIRST_SEED, FIRST_SEED + tables)
        cells = [cell for cell in _module(name).cells() if given.only in cell.table]
        rows, failed = _section(name, cells, seeds, 0 if given.page else given.jobs, given.resume)
        lines += [as_text(row) for row in rows]
        failures += failed
        print(f"{name}: {time.perf_counter() - begin:.0f} s, {failed} failed", file=sys.stderr)
    lines.sort(key=_place)
    write_lines(given.output / "questions.csv", lines)
    page = _page(lines)
    (given.output / "questions.md").write_text(page, encoding="utf-8")
    print(page)
    return 1 if failures else 0


def _place(line: dict[str, str]) -> tuple[str, int]:
    """Place of a line: sections by name, kinds of tables as their section lists them."""
    listed = [cell.table for cell in _module(line["section"]).cells()]
    known = line["table"] in listed
    return line["section"], listed.index(line["table"]) if known else len(listed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, help=f"tables of each kind; by default {TABLES}")
    parser.add_argument("--sections", help="names with commas between; by default all")
    parser.add_argument("--only", default="", help="text that the names of tables contain")
    parser.add_argument(
        "--resume", type=Path, help="file that keeps the figures of each table, to go on from"
    )
    parser.add_argument(
        "--page", action="store_true", help="measure nothing: write the page of what --resume keeps"
    )
    parser.add_argument("--output", type=Path, default=HERE, help="folder for the files")
    return parser.parse_args()


def _all_sections() -> list[str]:
    found = [module.name for module in pkgutil.iter_modules(questions_sections.__path__)]
    return [name for name in found if hasattr(_module(name), "cells")]


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"questions_sections.{name}")


def _section(
    name: str, cells: list[Cell], seeds: range, jobs: int, resume: Path | None
) -> tuple[list[Row], int]:
    """Rows of one section, and the number of tables that could not be measured.

    Without jobs nothing is measured: the rows are those of the figures that are kept.
    """
    from joblib import Parallel, delayed

    # Workers inherit these: one thread each, since there are as many workers as cores.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    done = _kept(resume, name)
    # Seeds in the outer loop: slow and fast cells alternate, so that all workers end together.
    tasks = [(cell, seed) for seed in seeds for cell in cells if (cell.table, seed) not in done]
    tasks = tasks if jobs else []
    measured = Parallel(n_jobs=jobs or 1, batch_size=1, return_as="generator")(
        delayed(_measure)(name, cell, seed) for cell, seed in tasks
    )
    failed = 0
    for (cell, seed), found in zip(tasks, measured, strict=True):
        if found is None:
            failed += 1
            continue
        done[cell.table, seed] = found
        _keep(resume, name, cell.table, seed, found)
    results = [
        [done[cell.table, seed] for seed in seeds if (cell.table, seed) in done] for cell in cells
    ]
    return _module(name).rows(cells, results), failed


def _kept(path: Path | None, section: str) -> dict[tuple[str, int], Found]:
    """Figures of earlier runs, by kind of table and seed."""
    if path is None or not path.exists():
        return {}
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        (one["table"], one["seed"]): one["found"] for one in entries if one["section"] == section
    }


def _keep(path: Path | None, section: str, table: str, seed: int, found: Found) -> None:
    if path is not None:
        entry = {"section": section, "table": table, "seed": seed, "found": found}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _measure(name: str, cell: Cell, seed: int) -> Found | None:
    """Figures of one table; None where the code that is measured failed."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    begin = time.perf_counter()
    try:
        found: Found = _module(name).measure(cell, seed)
    except Exception:
        print(f"{name}, {cell.table}, seed {seed}:\n{traceback.format_exc()}", file=sys.stderr)
        return None
    print(f"{name}, {cell.table}, {seed}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    return found


def _page(lines: list[dict[str, str]]) -> str:
    """Markdown: one table for each section, below what its module says of it."""
    from environment import header, table

    missed = sum(line["met"] == "False" for line in lines)
    held = sum(line["met"] == "True" for line in lines)
    text = header("Questions asked of a graph, and how far the answers can be believed")
    text += f"\nTargets met: {held}; missed: {missed}.\n"
    for section in dict.fromkeys(line["section"] for line in lines):
        about = (_module(section).__doc__ or "").strip()
        rows: list[list[object]] = [
            [
                *(line[name] for name in ("table", "figure", "now", "target")),
                VERDICTS[line["met"]],
                *(line[name] for name in ("tables", "note")),
            ]
            for line in lines
            if line["section"] == section
        ]
        columns = ["table", "figure", "now", "target", "", "tables", "note"]
        text += f"\n## {section}\n\n{about}\n\n" + table(columns, rows)
    return text


if __name__ == "__main__":
    sys.exit(main())
