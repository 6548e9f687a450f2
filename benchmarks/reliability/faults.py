r"""Put generated faults into the package, one at a time, and see whether its tests notice them.

    python benchmarks/reliability/faults.py --faults 40 --seed 1 --jobs 4 \
        --output benchmarks/reliability/faults.md

Faults are drawn in turn from all folders of the package, or from those that ``--folders`` names:
first a kind, then a place. Each is put into a copy of the sources, and the tests of its folder are
run up to the first failure, those that import the changed module first. A test that fails is run
again without the fault; if it fails there too, the fault is unclear. Some survivors change nothing
that a test could notice: the page shows their differences.
"""

import argparse
import difflib
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (HERE, HERE.parent):
    sys.path.insert(0, str(folder))

from fault_kinds import KINDS, Change, changes  # noqa: E402

NOTICED, SURVIVED, LATE, UNCLEAR = "noticed", "survived", "ran out of time", "unclear"
PACKAGE = ROOT / "src" / "cosmodag"
# Tests of folders that have another name than the folder.
_TESTS = {"metrics": "test_metrics.py", "torch": "torch_modules"}
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


class Fault(NamedTuple):
    """A change of one file of the package."""

    file: str  # relative to the package
    change: Change

    @property
    def folder(self) -> str:
        """The folder of the package."""
        return self.file.partition("/")[0]

    @property
    def difference(self) -> str:
        """The changed lines, as a unified difference without context."""
        old = (PACKAGE / self.file).read_text("utf-8")
        new = self.change.applied(old)
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


class Verdict(NamedTuple):
    """Outcome of one fault."""

    fault: Fault
    word: str
    test: str
    seconds: float


def tests_of(fault: Fault) -> list[str]:
    """List the tests of the folder, those that import the changed module first."""
    place = ROOT / "tests" / _TESTS.get(fault.folder, fault.folder)
    files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    module = "cosmodag." + fault.file.removesuffix(".py").removesuffix("/__init__").replace(
        "/", "."
    )
    files.sort(key=lambda file: module not in file.read_text("utf-8"))
    return [str(file.relative_to(ROOT)) for file in files]


def drawn(number: int, seed: int, folders: Sequence[str]) -> list[Fault]:
    """Draw faults from the folders in turn, each of a kind that the folder has."""
    chance = random.Random(seed)
    known: dict[str, dict[str, list[Fault]]] = {}
    found: list[Fault] = []
    for turn in range(number):
        folder = folders[turn % len(folders)]
        if folder not in known:
            kinds = known.setdefault(folder, {})
            for path in sorted((PACKAGE / folder).rglob("*.py")):
                for change in changes(path.read_text("utf-8")):
                    file = path.relative_to(PACKAGE).as_posix()
                    kinds.setdefault(change.kind, []).append(Fault(file, change))
        kind = chance.choice([kind for kind in KINDS if kind in known[folder]])
        found.append(chance.choice(known[folder][kind]))
    return found


def run_tests(source: Path, tests: Sequence[str], limit: float) -> tuple[int | None, str]:
    """Run tests on a copy of the sources; the code is None if they ran out of time."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "-rfE"]
    # Programs that Numba compiled are kept beside the copy, where no other run finds them.
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env={**kept, **threads, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, code = process.communicate(timeout=limit)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, code = process.communicate()[0], None
    found = _FAILURE.search(output)
    return code, found[1] if found else ""


def judged(source: Path, fault: Fault, limit: float) -> Verdict:
    """Put one fault into a copy, run the tests, and take the fault out again."""
    file, begin = source / "cosmodag" / fault.file, time.perf_counter()
    text, times = file.read_text("utf-8"), file.stat()
    file.write_text(fault.change.applied(text), "utf-8")
    try:
        code, test = run_tests(source, tests_of(fault), limit)
    finally:
        file.write_text(text, "utf-8")
        # Programs that were compiled without the fault are those of a file of this time.
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    word = {None: LATE, 0: SURVIVED, 1: NOTICED, 2: NOTICED}.get(code, UNCLEAR)
    if word == NOTICED and (not test or run_tests(source, [test], limit)[0] == 1):
        word = UNCLEAR
    verdict = Verdict(fault, word, test, time.perf_counter() - begin)
    print(f"{word:15} {verdict.seconds:5.0f} s  {fault.change.kind:9} {fault.file}  {test}")
    print(fault.difference, flush=True)
    return verdict


def page(verdicts: Sequence[Verdict]) -> str:
    """Write the page: numbers by kind and by folder, and the differences of the survivors."""
    from environment import header, table

    words = (NOTICED, SURVIVED, LATE, UNCLEAR)
    text = header("Generated faults, and whether the tests notice them", ("pytest", "jax", "numba"))
    total = [sum(one.word == word for one in verdicts) for word in words]
    text += "\n" + ", ".join(f"{n} {word}" for n, word in zip(total, words, strict=True))
    text += (
        f", of {len(verdicts)} faults. Each was put into the package alone, and the tests of its "
    )
    text += (
        f"folder were run; {sum(one.seconds for one in verdicts):.0f} s, summed over processes.\n"
    )
    of_kind = {one: one.fault.change.kind for one in verdicts}
    of_folder = {one: one.fault.folder for one in verdicts}
    for title, groups in (("kind", of_kind), ("folder", of_folder)):
        rows: list[list[object]] = []
        for group in sorted(set(groups.values())):
            own = [one for one in verdicts if groups[one] == group]
            rows.append([group, *(sum(one.word == word for one in own) for word in words)])
        text += f"\n## By {title}\n\n" + table([title, *words], rows)
    for word in (SURVIVED, LATE, UNCLEAR):
        for one in verdicts:
            if one.word == word:
                text += (
                    f"\n## {word.capitalize()}: {one.fault.change.kind} in `{one.fault.file}`\n\n"
                )
                text += f"```diff\n{one.fault.difference}\n```\n"
    return text


def main() -> None:
    """Draw faults, run the tests of each, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folders", nargs="+", help="folders of the package (default: all)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for the tests of one")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    folders = given.folders or sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    faults = drawn(given.faults, given.seed, folders)
    copies: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        for job in range(given.jobs):
            copies.put(Path(shutil.copytree(ROOT / "src", Path(place) / str(job))))

        def judge(fault: Fault) -> Verdict:
            source = copies.get()
            try:
                return judged(source, fault, given.limit)
            finally:
                copies.put(source)

        with ThreadPoolExecutor(given.jobs) as pool:
            verdicts = list(pool.map(judge, faults))
    if given.output:
        given.output.write_text(page(verdicts), "utf-8")


if __name__ == "__main__":
    main()
