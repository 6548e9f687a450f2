"""Run the sections of the pages of `trust.py`, `tables.py` and `questions.py`.

A section is a module with three functions: `cells()` lists kinds of tables, `measure(cell, seed)`
draws one table and returns its figures by name, and `rows(cells, results)` summarises them as rows
of the page, where ``results[i]`` lists the figures of all tables of ``cells[i]``. Optional
constants: `ABOUT`, the introduction of the section (by default the module's docstring); `TABLES`,
the number of tables, if it differs from that of the page; `PARTS`, names of methods. With `PARTS`,
`measure(cell, seed, part)` is called for each part of a table separately, so that slow packages
can be measured at another time, and the figures of all parts are joined.

Figures are written to a file as soon as a table is measured, and ``--resume`` continues an
interrupted run from it. Rows that are not measured again are kept, with their date and machine.
"""

import argparse
import datetime
import importlib
import json
import os
import pkgutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from trust_sections.base import Cell, Found, as_text, read_lines, write_lines

HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
VERDICTS = {"True": "met", "False": "**missed**", "": ""}
Task = tuple[Cell, int, str]
Lines = list[dict[str, str]]


@dataclass(frozen=True)
class Page:
    """A page of sections.

    Attributes
    ----------
    name
        Name of the output files; the sections are in the package ``{name}_sections``.
    first_seed
        Seed of the first table of each kind.
    tables
        Number of tables of each kind.
    """

    name: str
    first_seed: int
    tables: int

    @property
    def sections(self) -> list[str]:
        """Names of all sections."""
        package = importlib.import_module(f"{self.name}_sections")
        found = [module.name for module in pkgutil.iter_modules(package.__path__)]
        return [name for name in found if hasattr(self.module(name), "cells")]

    def module(self, section: str) -> ModuleType:
        """Return the module of a section."""
        return importlib.import_module(f"{self.name}_sections.{section}")


def arguments(page: Page, about: str) -> argparse.ArgumentParser:
    """Make a parser of the options that all pages share."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--tables", type=int, help=f"tables of each kind (default: {page.tables})")
    parser.add_argument("--sections", help="names, separated by commas (default: all)")
    parser.add_argument("--only", default="", help="only tables whose names contain this text")
    parser.add_argument(
        "--parts", default="", help="parts of tables, separated by commas (default: all)"
    )
    parser.add_argument(
        "--resume",
        type=Path,
        default=Path(tempfile.mkdtemp()) / "kept.jsonl",
        help="file with the figures of each table; a run continues from it",
    )
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of the output files")
    return parser


def measure(page: Page, given: argparse.Namespace, kept: Path) -> tuple[Lines, int]:
    """Measure the requested sections.

    Returns the rows of the CSV file, in which new rows replace old ones, and the number of tables
    whose measurement failed.
    """
    lines, failures = read_lines(kept), 0
    for name in given.sections.split(",") if given.sections else page.sections:
        begin, module = time.perf_counter(), page.module(name)
        tables = given.tables or getattr(module, "TABLES", page.tables)
        seeds = range(page.first_seed, page.first_seed + tables)
        cells = [cell for cell in module.cells() if given.only in cell.table]
        tasks = [] if given.page else _tasks(module, cells, seeds, given.parts)
        failed = _measured(page, name, tasks, given.jobs, given.resume)
        entries = _entries(given.resume, name)
        rows = module.rows(cells, _results(entries, cells, seeds))
        measured = _measured_when(entries)
        new = [as_text(row) | {"measured": measured.get(row.table, "")} for row in rows]
        replaced = {(name, line["table"]) for line in new}
        lines = [line for line in lines if (line["section"], line["table"]) not in replaced] + new
        failures += failed
        print(f"{name}: {time.perf_counter() - begin:.0f} s, {failed} failed", file=sys.stderr)
    lines.sort(key=lambda line: _place(page, line))
    write_lines(kept, lines)
    return lines, failures


def _place(page: Page, line: dict[str, str]) -> tuple[str, int]:
    """Sort key of a row: sections by name, kinds of tables in the order of their section."""
    listed = [cell.table for cell in page.module(line["section"]).cells()]
    known = line["table"] in listed
    return line["section"], listed.index(line["table"]) if known else len(listed)


def _tasks(module: ModuleType, cells: list[Cell], seeds: range, parts: str) -> list[Task]:
    """Combine tables and parts; a section without parts has a single part without a name."""
    known = getattr(module, "PARTS", ("",))
    chosen = [part for part in known if not parts or part in parts.split(",")]
    # Seeds in the outer loop: slow and fast cells alternate, so all workers finish together.
    return [(cell, seed, part) for seed in seeds for cell in cells for part in chosen]


def _measured(page: Page, section: str, tasks: list[Task], jobs: int, kept: Path) -> int:
    """Measure the tables that are not in the file yet; return the number of failures."""
    from joblib import Parallel, delayed

    # Workers inherit these variables: one thread each, since there are as many workers as cores.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    done = {(one["table"], one["seed"], one.get("part", "")) for one in _entries(kept, section)}
    left = [task for task in tasks if (task[0].table, *task[1:]) not in done]
    run = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
    failed = 0
    for entry in run(delayed(_measure)(page, section, *task) for task in left):
        if entry["found"] is None:
            failed += 1
            continue
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"section": section} | entry) + "\n")
    return failed


def _measure(page: Page, section: str, cell: Cell, seed: int, part: str) -> dict[str, Any]:
    """Measure one table or one part of it; the figures are None if the measurement failed."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    from environment import machine, versions

    begin, found = time.process_time(), None
    try:
        found = page.module(section).measure(cell, seed, *([part] if part else []))
    except Exception:
        print(f"{section}, {cell.table}, {seed}:\n{traceback.format_exc()}", file=sys.stderr)
    seconds = time.process_time() - begin
    print(f"{section}, {cell.table}, {seed}, {part}: {seconds:.1f} CPU s", file=sys.stderr)
    packages = versions(("jax", "numba", "numpy"))
    measured = f"{datetime.date.today().isoformat()}, {machine()}, {packages}"
    return {
        "table": cell.table,
        "seed": seed,
        "part": part,
        "found": found,
        "measured": measured,
    }


def _entries(kept: Path, section: str) -> list[dict[str, Any]]:
    if not kept.exists():
        return []
    entries = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    return [one for one in entries if one["section"] == section]


def _results(
    entries: list[dict[str, Any]], cells: Sequence[Cell], seeds: range
) -> list[list[Found]]:
    """Collect the figures of the tables of each cell, and join the parts of a table."""
    found: dict[tuple[str, int], Found] = {}
    for one in entries:
        found.setdefault((one["table"], one["seed"]), {}).update(one["found"])
    return [
        [found[cell.table, seed] for seed in seeds if (cell.table, seed) in found] for cell in cells
    ]


def _measured_when(entries: list[dict[str, Any]]) -> dict[str, str]:
    """Collect dates and machines for each kind of table."""
    found: dict[str, dict[str, None]] = {}
    for one in entries:
        if "measured" in one:
            found.setdefault(one["table"], {})[one["measured"]] = None
    return {table: "; ".join(measured) for table, measured in found.items()}


Cells = Callable[[dict[str, str]], list[object]]


def text_of(page: Page, lines: Lines, columns: list[str], cells: Cells | None = None) -> str:
    """Write the page as Markdown: the number of targets met, and one table for each section.

    Each section states when and where it was measured, since a page may combine several runs.
    """
    from environment import table

    missed = sum(line["met"] == "False" for line in lines)
    held = sum(line["met"] == "True" for line in lines)
    command = f"python benchmarks/{page.name}.py"
    text = f"\nWritten by `{command}`, where `--sections` selects sections.\n"
    text += f"\nTargets met: {held}; missed: {missed}.\n"
    for section in dict.fromkeys(line["section"] for line in lines):
        own = [line for line in lines if line["section"] == section]
        module = page.module(section)
        about = getattr(module, "ABOUT", module.__doc__ or "").strip()
        text += f"\n## {section}\n\n{about}\n\n{_when(own)}"
        text += table(columns, [(cells or _cells)(line) for line in own])
    return text


def _cells(line: dict[str, str]) -> list[object]:
    """Cells of a row: table, figure, now, target, verdict, tables, note."""
    first = [line[name] for name in ("table", "figure", "now", "target")]
    return [*first, VERDICTS[line["met"]], line["tables"], line["note"]]


def _when(lines: Lines) -> str:
    """State when and where a section was measured; kinds of tables that agree are grouped."""
    tables: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.get("measured"):
            tables.setdefault(line["measured"], {})[line["table"]] = None
    if not tables:
        return ""
    if len(tables) == 1:
        return f"Measured: {next(iter(tables))}.\n\n"
    most = max(tables, key=lambda when: len(tables[when]))
    others = [
        f"{', '.join(f'*{name}*' for name in names)}: {when}"
        for when, names in tables.items()
        if when != most
    ]
    return f"Measured: {most}; {'; '.join(others)}.\n\n"
