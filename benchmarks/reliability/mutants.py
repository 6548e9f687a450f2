r"""Put named faults into the package, one at a time, and check that its tests fail.

    python benchmarks/reliability/mutants.py --jobs 16 \
        --output benchmarks/reliability/mutants.md

The tests of all faults are first run on a copy of the sources without a fault: a test that fails
there is not used. Then each fault gets a copy of its own, with the programs compiled in the first,
and only its own tests are run. ``--only`` selects faults whose names contain a text; ``--check``
only checks that the text which each fault replaces occurs in the sources.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (HERE, HERE.parent):
    sys.path.insert(0, str(folder))

from named_faults import FAULTS, FIRST_MISSED, Fault  # noqa: E402

NOTICED, SURVIVED, LATE, UNCLEAR = "noticed", "survived", "timeout", "unclear"
_COMPILED = ("order/", "solve/", "refinement/")
FIRST = """## The first 49

Before this list was made, a review put 49 faults into the package. The suite noticed 34, which were
not recorded; the 15 that it missed are in the list (the fifteenth as two faults):"""
FAILURE = re.compile(r"^(?:FAILED|ERROR) tests/(.+?)(?: - .*)?$", re.MULTILINE)


class Ran(NamedTuple):
    """Result of a run of pytest."""

    code: int | None  # None if it ran out of time
    failed: tuple[str, ...]
    seconds: float
    tail: str


class Verdict(NamedTuple):
    """Outcome of one fault."""

    fault: Fault
    word: str
    by: str
    seconds: float


def copied(into: Path, source: Path) -> Path:
    """Copy the sources with the programs compiled beside them, and the times of files."""
    shutil.copytree(source, into / "src", ignore_dangling_symlinks=True)
    return into / "src"


def environment(source: Path) -> dict[str, str]:
    """Environment in which Python imports the package from a copy, with one BLAS thread."""
    elsewhere = [
        entry
        for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if entry and Path(entry).resolve() != ROOT / "src"
    ]
    entries = [str(source), *(str(Path(entry).resolve()) for entry in elsewhere)]
    # Numba keeps its compiled programs beside the copy, where no other run finds them.
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**kept, **threads, "PYTHONPATH": os.pathsep.join(entries)}


def run_tests(source: Path, tests: Sequence[str], limit: float, *, first: bool) -> Ran:
    """Run tests on a copy of the sources, optionally only up to the first failure."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", "-rfE"]
    command = [sys.executable, "-m", "pytest", *options, *(["-x"] if first else [])]
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*command, *(f"tests/{test}" for test in tests)],
        cwd=ROOT,
        env=environment(source),
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
    failed = tuple(dict.fromkeys(FAILURE.findall(output)))
    return Ran(code, failed, time.perf_counter() - begin, output[-2000:])


def check_source(source: Path) -> None:
    """Exit if Python imports the package from elsewhere: all faults would survive."""
    ask = [sys.executable, "-c", "import cosmodag; print(cosmodag.__file__)"]
    found = subprocess.run(
        ask, cwd=ROOT, env=environment(source), capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).resolve().is_relative_to(source.resolve()):
        sys.exit(f"The package is imported from {found}, not from the copy in {source}.")


def broken_tests(source: Path, faults: Sequence[Fault], options: argparse.Namespace) -> set[str]:
    """Run the tests of all faults on the unchanged sources; return those that fail."""
    files: dict[str, set[str]] = {}
    for test in sorted({test for fault in faults for test in fault.tests}):
        files.setdefault(test.partition("::")[0], set()).add(test)
    groups = [[file] if file in tests else sorted(tests) for file, tests in files.items()]
    run = partial(run_tests, source, limit=5 * options.limit, first=False)
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(run, groups))
    broken = {test for ran in runs for test in ran.failed}
    for group, ran in zip(groups, runs, strict=True):
        if ran.code not in (0, 1) or (ran.code == 1 and not ran.failed):
            broken.update(group)
            print(f"without a fault, {group[0]} cannot be run:\n{ran.tail}", flush=True)
    for test in sorted(broken):
        print(f"fails without a fault: {test}", flush=True)
    return broken


def is_broken(test: str, broken: set[str]) -> bool:
    """Return whether a test, one of its cases or its file fails without a fault."""
    return any(
        one == test or one.startswith((f"{test}::", f"{test}[")) or test.startswith(f"{one}::")
        for one in broken
    )


def judged(clean: Path, broken: set[str], limit: float, fault: Fault) -> Verdict:
    """Put one fault into a copy, and run its tests that pass without it."""
    tests = [test for test in fault.tests if not is_broken(test, broken)]
    if not tests:
        return Verdict(fault, UNCLEAR, "", 0.0)
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        source = copied(Path(folder), clean)
        file = source / "cosmodag" / fault.file
        file.write_text(fault.changed(file.read_text("utf-8")), "utf-8")
        ran = run_tests(source, tests, limit, first=True)
    word = word_for(ran, all_ran=len(tests) == len(fault.tests))
    verdict = Verdict(fault, word, ran.failed[0] if ran.failed else "", ran.seconds)
    print(f"{word:9}{ran.seconds:6.1f} s  {fault.name}", flush=True)
    if word == UNCLEAR:
        print(ran.tail, flush=True)
    return verdict


def word_for(ran: Ran, *, all_ran: bool) -> str:
    """Classify a run; without failures it is unclear if a test could not be run."""
    if ran.code == 2 and ran.failed:  # an error while tests were collected: a broken import
        return NOTICED
    words = {None: LATE, 0: SURVIVED if all_ran else UNCLEAR, 1: NOTICED}
    return words.get(ran.code, UNCLEAR)


def page(verdicts: Sequence[Verdict]) -> str:
    """Write the page of all faults."""
    from environment import header, table

    words = (NOTICED, SURVIVED, LATE, UNCLEAR)
    of = {word: [one for one in verdicts if one.word == word] for word in words}
    before = sum(not one.fault.was_missed and not one.fault.excuse for one in of[NOTICED])
    excused = [one for one in of[SURVIVED] if one.fault.excuse]
    text = header("Faults that the tests must notice", ("pytest", "jax", "numba", "numpy"))
    text += (
        f"\nEach of {len(verdicts)} faults was put into the sources alone, and the tests that its "
        f"entry names were run. **{len(of[NOTICED])} noticed** ({before} before this list was "
        f"made), {len(of[SURVIVED])} survived ({len(excused)} explained), {len(of[LATE])} ran out "
        f"of time, {len(of[UNCLEAR])} unclear (one of its tests also fails without it). "
        f"{sum(one.seconds for one in verdicts):.0f} s, summed over processes.\n\n"
    )
    for word in (SURVIVED, LATE, UNCLEAR):
        if of[word]:
            text += f"## {word.capitalize()}\n\n"
            rows = [[one.fault.name, one.fault.file, one.fault.excuse] for one in of[word]]
            text += table(["fault", "file", "why"], rows) + "\n"
    first = {one.fault.name: one for one in verdicts if one.fault.name in FIRST_MISSED}
    if first:
        text += f"{FIRST}\n\n"
        rows = [[name, first[name].word] for name in FIRST_MISSED if name in first]
        text += table(["fault", "now"], rows) + "\n"
    text += "## All\n\n"
    rows = [
        [
            one.fault.name,
            f"`{one.fault.file}`",
            "missed" if one.fault.was_missed else "noticed",
            one.word,
            f"`{one.by}`" if one.by else "",
            f"{one.seconds:.0f}",
        ]
        for one in verdicts
    ]
    return text + table(["fault", "file", "before", "now", "first test to fail", "s"], rows)


def misplaced() -> list[str]:
    """List faults whose text no longer occurs in the sources, or whose tests do not exist."""
    found = []
    for fault in FAULTS:
        try:
            fault.changed((ROOT / "src" / "cosmodag" / fault.file).read_text("utf-8"))
        except (OSError, ValueError) as error:
            found.append(str(error))
        found += [f"{fault.name!r}: no test {test}" for test in fault.tests if not is_there(test)]
    return found


def is_there(test: str) -> bool:
    """Return whether the file exists, with the class or function in it."""
    file, _, rest = test.partition("::")
    path = ROOT / "tests" / file
    names = [name.partition("[")[0] for name in rest.split("::")] if rest else []
    text = path.read_text("utf-8") if path.is_file() else ""
    return bool(text) and all(re.search(rf"\b(def|class) {name}\b", text) for name in names)


def main() -> None:
    """Run the requested faults and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", help="only faults whose names contain this text")
    parser.add_argument(
        "--limit", type=float, default=180.0, help="time limit of one fault, in seconds"
    )
    parser.add_argument("--trust", action="store_true", help="skip the run without faults")
    parser.add_argument(
        "--check", action="store_true", help="only check that every fault can be applied"
    )
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    if options.check:
        print("\n".join(misplaced()) or f"All {len(FAULTS)} faults can be applied.")
        sys.exit(bool(misplaced()))
    faults = [
        fault
        for fault in FAULTS
        if not options.only or any(text in fault.name for text in options.only)
    ]
    with tempfile.TemporaryDirectory(prefix="clean-") as folder:
        clean = copied(Path(folder), ROOT / "src")
        check_source(clean)
        broken = set() if options.trust else broken_tests(clean, faults, options)
        # Faults that need compilation by Numba take longest and come first, to balance the jobs.
        longest_first = sorted(faults, key=lambda fault: not fault.file.startswith(_COMPILED))
        with ThreadPoolExecutor(options.jobs) as pool:
            judge = partial(judged, clean, broken, options.limit)
            verdicts = list(pool.map(judge, longest_first))
    verdicts.sort(key=lambda verdict: faults.index(verdict.fault))
    noticed = sum(verdict.word == NOTICED for verdict in verdicts)
    print(f"{noticed} of {len(verdicts)} noticed")
    if options.output:
        options.output.write_text(page(verdicts), "utf-8")


if __name__ == "__main__":
    main()
