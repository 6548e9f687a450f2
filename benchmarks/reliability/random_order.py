r"""Run the whole suite in several random orders, quiet and under load, and count failures.

    python benchmarks/reliability/random_order.py --workers 16 --seeds 5 --load 16 \
        --output benchmarks/reliability/random_order.md

Modules, and the tests of each, are shuffled by ``COSMODAG_RANDOM_ORDER`` (``tests/conftest.py``).
Every second run has ``--load`` processes beside it that compute without pause.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

SUMMARY = re.compile(r"^=* ?(\d.*) in [\d.]+s", re.MULTILINE)
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Ran(NamedTuple):
    """One run of the suite."""

    seed: int
    load: int
    said: str
    failed: tuple[str, ...]
    seconds: float


def ran(seed: int, load: int, workers: int, tests: list[str]) -> Ran:
    """Run the suite once in the order of a seed, beside some busy processes."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    begin = time.perf_counter()
    try:
        output = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--tb=short", *tests],
            cwd=ROOT,
            env=os.environ | {"COSMODAG_RANDOM_ORDER": str(seed), "CI": "true"},
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    finally:
        for process in busy:
            process.kill()
            process.wait()
    said = SUMMARY.findall(output)
    failed = tuple(FAILED.findall(output))
    if failed or not said:
        print(output[-6000:], flush=True)
    seconds = time.perf_counter() - begin
    found = Ran(seed, load, said[-1] if said else "no result", failed, seconds)
    print(f"seed {seed}, load {load}: {found.said}, {seconds:.0f} s", flush=True)
    return found


def page(runs: list[Ran]) -> str:
    """Write what became of all runs."""
    from environment import header, table

    text = header("The suite in random order", ("pytest", "hypothesis", "jax", "numba"))
    failures = sum(len(one.failed) for one in runs)
    text += f"\n{len(runs)} runs, **{failures} failures**.\n\n"
    rows: list[list[object]] = [
        [one.seed, one.load, one.said, f"{one.seconds:.0f}", ", ".join(one.failed) or "none"]
        for one in runs
    ]
    return text + table(["seed", "busy processes beside", "pytest said", "s", "failed"], rows)


def main() -> None:
    """Run all seeds and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--load", type=int, default=0, help="busy processes in every second run")
    parser.add_argument("--tests", nargs="*", default=[], help="files of tests; by default all")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    runs = [
        ran(seed, options.load if seed % 2 == 0 else 0, options.workers, options.tests)
        for seed in range(1, options.seeds + 1)
    ]
    if options.output:
        options.output.write_text(page(runs), "utf-8")
    sys.exit(any(one.failed or "passed" not in one.said for one in runs))


if __name__ == "__main__":
    main()
