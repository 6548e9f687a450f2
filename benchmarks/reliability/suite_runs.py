r"""Run the whole suite several times, each run on its own cores, and record time and memory.

    python benchmarks/reliability/suite_runs.py --runs cold:1 warm:2 load:3 --cores 0,1

    python benchmarks/reliability/suite_runs.py --runs cold:1 cold:2 cold:3 warm:4 load:5 \
        --cores 0,1 2,3 4,5 6,7 8,9 --caches /tmp/caches --append

A run is a situation and a seed. Every run is in random order (``COSMODAG_RANDOM_ORDER``, see
``tests/conftest.py``) and in its own copy of the working tree:

- ``cold``: with empty caches, so that everything is compiled;
- ``warm``: with the caches that a cold run left, in this call or in an earlier one (``--caches``);
- ``load``: as ``warm``, with as many busy processes as the run has cores;
- ``cold-load``: as ``cold``, with the same busy processes.

Runs on different cores are simultaneous. Each is written to ``suite_runs.csv`` when it ends, so an
interrupted call loses no finished run; the page is made from that file. No environment is built:
the packages are those of this interpreter.
"""

import argparse
import datetime
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (HERE, HERE.parent):
    sys.path.insert(0, str(folder))

from suite_runs_page import COLUMNS, page  # noqa: E402

from environment import Kept, commit, machine, versions  # noqa: E402

PACKAGES = ("pytest", "jax", "numba", "numpy", "scipy", "torch", "ray")
SITUATIONS = ("cold", "warm", "load", "cold-load")
BUSY = (sys.executable, "-c", "while True: pass")
FOLDERS = (".ci", "benchmarks", "docs", "examples", "src", "tests")
UNUSUAL = ("NUMBA_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR", "XLA_FLAGS", "PYTHONDONTWRITEBYTECODE")
NAMED_CACHES = (".pytest_cache", ".hypothesis", ".cache")
COUNT = re.compile(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?)\b")
SUMMARY = re.compile(r"^=* ?(\d+ (?:passed|failed|skipped|error).*) in [\d.]+s", re.MULTILINE)
FAILURE = re.compile(r"^(?:FAILED|ERROR) (?:tests/)?(.+?)(?: - .*)?$", re.MULTILINE)


class Run(NamedTuple):
    """A situation and the seed of the random order."""

    situation: str
    seed: int

    @classmethod
    def of(cls, text: str) -> "Run":
        """Read a situation and a seed from the command line."""
        situation, _, seed = text.partition(":")
        if situation not in SITUATIONS or not seed.isdigit():
            raise argparse.ArgumentTypeError(f"{text!r}: one of {', '.join(SITUATIONS)}, ':', seed")
        return cls(situation, int(seed))

    @property
    def is_cold(self) -> bool:
        """Whether the run starts with empty caches."""
        return self.situation.startswith("cold")

    @property
    def is_loaded(self) -> bool:
        """Whether busy processes run at the same time."""
        return self.situation.endswith("load")


class Caches:
    """Caches that a cold run filled, from which warm runs start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._there = threading.Event()
        self._lock = threading.Lock()
        if folder.is_dir() and any(folder.iterdir()):
            self._there.set()

    @property
    def are_there(self) -> bool:
        """Whether a cold run has filled the caches."""
        return self._there.is_set()

    def keep(self, tree: Path) -> None:
        """Store the caches of a tree in which the suite was run, unless some are stored."""
        with self._lock:
            try:
                if not self.are_there:
                    _copy_caches(tree, self._folder)
            finally:
                self._there.set()  # also after an error, so that no run waits forever

    def give(self, tree: Path) -> None:
        """Copy the caches into a tree as soon as they exist."""
        self._there.wait()
        _copy_caches(self._folder, tree)


def _copy_tree(target: Path) -> None:
    """Copy the files and folders of the project that the tests need."""
    left_out = shutil.ignore_patterns("__pycache__", "_build")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, target / name, ignore=left_out)
    for file in ROOT.iterdir():
        if file.is_file() and file.name != ".git":  # which is a file in a second working tree
            shutil.copy2(file, target)


def _copy_caches(source: Path, target: Path) -> None:
    named = [source / name for name in NAMED_CACHES]
    compiled = (source / "src").rglob("__pycache__")
    for folder in (*named, *compiled, *(source / "tests").rglob("__pycache__")):
        if folder.is_dir():
            shutil.copytree(folder, target / folder.relative_to(source), dirs_exist_ok=True)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Run busy processes on the cores of this thread during the context."""
    started = [subprocess.Popen(BUSY) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Suite:
    """The suite, to be run on some cores in some situation."""

    caches: Caches  # filled by a cold run, used by warm runs
    logs: Path  # folder for the output of pytest, one file per run
    limit: float  # seconds after which a run is stopped
    pytest_args: list[str]  # such as `--ignore` of files that this machine cannot collect

    def row(self, run: Run, cores: list[int]) -> dict[str, object]:
        """Run the suite in a copy of the working tree, and return its row."""
        os.sched_setaffinity(0, cores)  # of this thread and of all processes that it starts
        with tempfile.TemporaryDirectory(prefix="suite-", ignore_cleanup_errors=True) as folder:
            tree = Path(folder) / "tree"
            _copy_tree(tree)
            if not run.is_cold:
                self.caches.give(tree)
            log = self.logs / f"{run.situation}-{run.seed}.log"
            with busy(len(cores) if run.is_loaded else 0):
                used = self._pytest(run, tree, log)
            if run.is_cold:
                self.caches.keep(tree)
        return {
            **{"situation": run.situation, "seed": run.seed, "cores": len(cores)},
            **used,
            **_result(log.read_text("utf-8", "replace")),
            "pytest_args": shlex.join(self.pytest_args),
        }

    def _pytest(self, run: Run, tree: Path, log: Path) -> dict[str, object]:
        """Time, processor time of all processes, peak memory of the largest of them."""
        options = ["-q", "-n", "auto", "--tb=short", *self.pytest_args]
        begin = time.perf_counter()
        with log.open("w", encoding="utf-8") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options],
                cwd=tree,
                env=_environment(tree, run.seed),
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            too_late = threading.Timer(self.limit, os.killpg, (process.pid, signal.SIGKILL))
            too_late.start()
            _, _, used = os.wait4(process.pid, 0)
            too_late.cancel()
        return {
            "seconds": round(time.perf_counter() - begin),
            "cpu_seconds": round(used.ru_utime + used.ru_stime),
            "peak_mb": round(used.ru_maxrss * 1024 / 1e6),
        }


def _environment(tree: Path, seed: int) -> dict[str, str]:
    """Environment in which all imports and caches are those of a tree."""
    kept = {name: value for name, value in os.environ.items() if name not in UNUSUAL}
    others = [
        str(Path(entry).resolve())
        for entry in kept.get("PYTHONPATH", "").split(os.pathsep)
        if entry and Path(entry).resolve() != ROOT / "src"
    ]
    temporary = tree.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    return kept | {
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), *others]),
        "XDG_CACHE_HOME": str(tree / ".cache"),
        "TMPDIR": str(temporary),
        "COSMODAG_RANDOM_ORDER": str(seed),
        "CI": "true",
    }


def _result(said: str) -> dict[str, object]:
    """Read the numbers of tests by outcome, and the names of failed tests."""
    summaries = SUMMARY.findall(said)
    counts = COUNT.findall(summaries[-1]) if summaries else []
    numbers = {word.rstrip("s"): int(number) for number, word in counts}
    failed = list(dict.fromkeys(FAILURE.findall(said)))
    if not summaries:
        failed.append("the run did not end")
    return {
        "passed": numbers.get("passed", 0),
        "failed": numbers.get("failed", 0) + numbers.get("error", 0) + (not summaries),
        "skipped": numbers.get("skipped", 0),
        "xfailed": numbers.get("xfailed", 0),
        "failures": "; ".join(failed),
    }


def _cores(text: str) -> list[int]:
    """Read the numbers of the cores of one run."""
    return [int(number) for number in text.split(",")]


def _pairs() -> list[list[int]]:
    """Return all cores that this process may use, in pairs."""
    allowed = sorted(os.sched_getaffinity(0))
    return [allowed[i : i + 2] for i in range(0, len(allowed) - 1, 2)] or [allowed]


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Run.of, nargs="+", required=True, metavar="SITUATION:SEED")
    parser.add_argument(
        "--cores", type=_cores, nargs="+", default=_pairs(), help="0,1 2,3 …; by default all pairs"
    )
    parser.add_argument(
        "--caches", type=Path, default=None, help="folder that keeps caches for warm runs"
    )
    parser.add_argument("--logs", type=Path, default=Path(tempfile.gettempdir()) / "suite-logs")
    parser.add_argument(
        "--limit", type=float, default=1800.0, help="time limit of one run, in seconds"
    )
    parser.add_argument("--pytest-args", type=shlex.split, default=[], help="further words")
    parser.add_argument("--records", type=Path, default=HERE / "suite_runs.csv")
    parser.add_argument("--append", action="store_true", help="keep the runs recorded before")
    parser.add_argument("--output", type=Path, default=HERE / "suite_runs.md")
    return parser.parse_args()


def main() -> None:
    """Run the requested situations, record each run as it ends, and write the page."""
    asked = options()
    asked.logs.mkdir(parents=True, exist_ok=True)
    caches = Caches(asked.caches or Path(tempfile.mkdtemp(prefix="suite-caches-")))
    runs = sorted(asked.runs, key=lambda run: not run.is_cold)  # warm runs wait for a cold one
    if not (caches.are_there or runs[0].is_cold):
        sys.exit("A warm run needs the caches of a cold one: add a cold run, or name --caches.")
    suite = Suite(caches, asked.logs, asked.limit, asked.pytest_args)
    records = Kept(asked.records, COLUMNS, 0, resume=asked.append)
    free: queue.Queue[list[int]] = queue.Queue()
    for cores in asked.cores:
        free.put(cores)
    common = {"date": datetime.date.today(), "machine": machine(), "versions": versions(PACKAGES)}
    common |= {"at_once": min(len(asked.cores), len(runs)), "commit": commit(ROOT)}

    def carried_out(run: Run) -> bool:
        cores = free.get()
        try:
            row = suite.row(run, cores)
        finally:
            free.put(cores)
        with lock:
            records.add(**common, **row)
            asked.output.write_text(page(records.rows), "utf-8")
        return not row["failed"]

    lock = threading.Lock()
    with ThreadPoolExecutor(len(asked.cores)) as pool:
        went_well = list(pool.map(carried_out, runs))
    sys.exit(not all(went_well))


if __name__ == "__main__":
    main()
