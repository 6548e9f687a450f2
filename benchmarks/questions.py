"""Questions that people ask of a graph, answered on tables with known answers.

    python benchmarks/questions.py --jobs 16                                questions.md, .csv
    python benchmarks/questions.py --sections effects --tables 2 --output .  some, for a quick look
    python benchmarks/questions.py --resume kept.jsonl --parts own           without the peers
    python benchmarks/questions.py --resume kept.jsonl --page                page of what is kept

A section is a module of `questions_sections` with three functions, as for `trust.py`: `cells()`
lists kinds of tables, `measure(cell, seed)` draws one table and gives its figures by name, and
`rows(cells, results)` turns them into lines of the page. Sections that are not measured again keep
their lines. `TABLES` of a section is its number of tables, where that is not the default. A section
with `PARTS`, names of methods, has `measure(cell, seed, part)`: each part of a table is measured on
its own, so that slow peers can be measured at another time; the figures of a table are joined.
"""

import argparse
import importlib
import json
import os
import pkgutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import questions_sections
from trust_sections.base import Cell, Found, as_text, read_lines, write_lines

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
        tasks = [] if given.page else _tasks(name, cells, seeds, given.parts)
        failed = _measured(name, tasks, given.jobs, given.resume)
        rows = _module(name).rows(cells, _results(name, cells, seeds, given.resume))
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
    parser.add_argument("--parts", default="", help="parts of tables, with commas between")
    parser.add_argument(
        "--resume",
        type=Path,
        default=Path(tempfile.mkdtemp()) / "questions.jsonl",
        help="file that keeps the figures of each table, to go on from",
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


Task = tuple[Cell, int, str]


def _tasks(name: str, cells: list[Cell], seeds: range, parts: str) -> list[Task]:
    """Tables and their parts; those of a section without parts have one, without a name."""
    known = getattr(_module(name), "PARTS", ("",))
    chosen = [part for part in known if not parts or part in parts.split(",")]
    # Seeds in the outer loop: slow and fast cells alternate, so that all workers end together.
    return [(cell, seed, part) for seed in seeds for cell in cells for part in chosen]


def _measured(name: str, tasks: list[Task], jobs: int, kept: Path) -> int:
    """Measure what is not kept yet, and keep it; the number of tasks that failed."""
    from joblib import Parallel, delayed

    # Workers inherit these: one thread each, since there are as many workers as cores.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    done = {(one["table"], one["seed"], one.get("part", "")) for one in _entries(kept, name)}
    left = [task for task in tasks if (task[0].table, *task[1:]) not in done]
    measured = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(
        delayed(_measure)(name, *task) for task in left
    )
    failed = 0
    for entry in measured:
        if entry["found"] is None:
            failed += 1
            continue
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"section": name} | entry) + "\n")
    return failed


def _results(name: str, cells: list[Cell], seeds: range, kept: Path) -> list[list[Found]]:
    """Figures of the tables of each cell; those of the parts of a table are joined."""
    found: dict[tuple[str, int], Found] = {}
    for one in _entries(kept, name):
        found.setdefault((one["table"], one["seed"]), {}).update(one["found"])
    return [
        [found[cell.table, seed] for seed in seeds if (cell.table, seed) in found] for cell in cells
    ]


def _entries(kept: Path, section: str) -> list[dict[str, Any]]:
    if not kept.exists():
        return []
    entries = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    return [one for one in entries if one["section"] == section]


def _measure(name: str, cell: Cell, seed: int, part: str) -> dict[str, Any]:
    """Figures of one table or a part of it; None where the code that is measured failed."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    begin, found = time.process_time(), None
    try:
        found = _module(name).measure(cell, seed, *([part] if part else []))
    except Exception:
        print(f"{name}, {cell.table}, {seed}:\n{traceback.format_exc()}", file=sys.stderr)
    seconds = time.process_time() - begin
    print(f"{name}, {cell.table}, {seed}, {part}: {seconds:.1f} CPU s", file=sys.stderr)
    return {"table": cell.table, "seed": seed, "part": part, "found": found}


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
