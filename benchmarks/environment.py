"""Helpers that the benchmarks share: machine and versions, tables of a page, rows of CSV files."""

import csv
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from cosmodag.learners.trained.trained_learner import TrainedLearner
from cosmodag.runtime.engines import Failure, each
from cosmodag.solve.plan import plan_many
from cosmodag.solve.problems import Backend, Batch


def header(title: str, packages: tuple[str, ...] = ("jax", "numba", "numpy")) -> str:
    """Write the title, date, machine, versions and command of a benchmark."""
    return (
        f"# {title}\n\n"
        f"- date: {datetime.date.today().isoformat()}\n"
        f"- machine: {machine()}\n"
        f"- versions: {versions(packages)}\n"
        f"- command: `{_command()}`\n"
    )


def machine() -> str:
    """Return the processor and the number of cores."""
    return f"{_processor()}, {os.cpu_count()} cores"


def versions(packages: tuple[str, ...]) -> str:
    """Return the versions of Python, of this package and of other packages."""
    found = ", ".join(f"{name} {_version(name)}" for name in ("cosmodag", *packages))
    return f"Python {platform.python_version()}, {found}"


def table(columns: list[str], rows: list[list[object]]) -> str:
    """Write a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def with_error(values: Iterable[float], digits: int = 2) -> str:
    """Mean ± standard error of the mean; the mean alone for a single value."""
    array = np.array(list(values))
    if len(array) < 2:
        return f"{array.mean():.{digits}f}"
    return f"{array.mean():.{digits}f} ± {array.std(ddof=1) / np.sqrt(len(array)):.{digits}f}"


def verdict(is_met: bool) -> str:
    """Return the cell of a table that says whether a target was met."""
    return "met" if is_met else "**missed**"


def in_processes(function: Callable[[Any], Any], tasks: list[Any], jobs: int) -> list[Any]:
    """Apply a function to tasks in a number of processes; return the results in order."""
    results = [None] * len(tasks)
    for index, result in each(function, tasks, jobs=None if jobs == 1 else jobs):
        if isinstance(result, Failure):
            raise RuntimeError(f"{tasks[index]}: {result.message}")
        results[index] = result
    return results


def is_first(*what: object) -> bool:
    """Return True on the first call with these arguments in this process."""
    is_new = what not in _asked
    _asked.add(what)
    return is_new


_asked: set[tuple[object, ...]] = set()


def standardised(X: np.ndarray) -> np.ndarray:
    """Scale the columns to mean 0 and standard deviation 1."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def timed(work: Callable[[], object]) -> float:
    """Return the wall-clock seconds of a call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def batch_for(model: TrainedLearner, data: np.ndarray, backend: Backend | None = None) -> Batch:
    """Make the batch that a learner would solve on a CPU, optionally for another backend.

    Data are centred, in single precision.
    """
    solver, problems = model.solver_for(*data.shape), model.problems_for(data)
    (plan,) = plan_many(solver, problems, "cpu")
    batch = plan.batch(solver.recipe, problems, plan.batches[0])
    return batch if backend is None else replace(batch, backends={solver.recipe: backend})


class Kept:
    """Rows in a CSV file, written at once, so that an interrupted run loses none.

    Parameters
    ----------
    path
        The file.
    columns
        Its columns; the first `keys` of them identify a row.
    resume
        Keep the rows that the file already has, for `is_done`, instead of starting a new file.
    """

    def __init__(self, path: Path, columns: tuple[str, ...], keys: int, resume: bool) -> None:
        self._path, self._columns, self._keys = path, columns, keys
        self.rows: list[dict[str, str]] = []
        if resume and path.exists():
            with path.open(newline="") as file:
                self.rows = list(csv.DictReader(file))
        else:
            self._write("w", columns)
        self._done = {self._key(row) for row in self.rows}

    def is_done(self, *key: object) -> bool:
        """Return whether a row with this key exists."""
        return tuple(map(str, key)) in self._done

    def add(self, **entries: Any) -> None:
        """Append a row to the file, and print it."""
        row = {name: str(entries[name]) for name in self._columns}
        self._write("a", row.values())
        self.rows.append(row)
        self._done.add(self._key(row))
        print(*row.values(), flush=True)

    def _key(self, row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[name] for name in self._columns[: self._keys])

    def _write(self, mode: str, values: Iterable[str]) -> None:
        with self._path.open(mode, newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(values)


def _command() -> str:
    """Return the command line without `--output` and its value."""
    words = ["python", *(Path(word).as_posix() for word in sys.argv)]
    while "--output" in words:
        place = words.index("--output")
        del words[place : place + 2]
    return " ".join(words)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(from source)" if name == "cosmodag" else "absent"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
