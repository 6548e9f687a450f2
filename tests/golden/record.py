"""Golden records: what seeded fits, questions and commands give, and whether that has changed.

``python tests/golden/record.py``
    Runs all cases and writes ``records.json``.
``python tests/golden/record.py compare``
    Runs them again, says in words what differs from the file, and ends with 1 if anything does.

``--only PATTERN`` takes the cases whose name contains PATTERN (shell patterns work), ``--jobs 2``
runs two processes, ``--folder DIR`` reads or writes ``DIR/records.json`` instead of the committed
one, and ``compare --with DIR`` compares with the records in DIR instead of running the cases.
``list`` prints the names and ``show`` one record.

Results are equal bit for bit on one machine with the same versions of the libraries. The file says
which they were, and ``compare`` names those that differ.
"""

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from fnmatch import fnmatchcase
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORDS = "records.json"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "jax", "jaxlib", "numba")

# Set before the libraries are imported: sums depend on the number of threads, and compiled programs
# on XLA's flags. Compiled programs are kept, since compiling would take most of the time.
ENVIRONMENT = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")},
    "JAX_PLATFORMS": "cpu",
    "JAX_COMPILATION_CACHE_DIR": str(HERE.parents[1] / ".pytest_cache" / "golden-jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none",
    "MPLBACKEND": "Agg",
}


def prepare_environment() -> None:
    """Set what results depend on, in this process and in those that it starts."""
    os.environ.update(ENVIRONMENT)
    os.environ.pop("XLA_FLAGS", None)


def machine() -> dict[str, str]:
    """What equality bit for bit depends on."""
    return {
        "processor": f"{platform.system()} {platform.machine()}, {_processor()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text("utf-8").splitlines() if facts.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def record(name: str) -> tuple[str, Any, float]:
    """Run one case: its name, its record with the warnings it gave, and its CPU seconds."""
    from golden_cases import cases
    from golden_digests import of_warning, timeless

    began = os.times()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = cases()[name]()
        except Exception as error:
            result = {"error": timeless(f"{type(error).__name__}: {error}")}
    told = [
        of_warning(warning.category.__name__, str(warning.message))
        for warning in caught
        if warning.category.__module__.startswith("cosmodag")
    ]
    if told:
        result = {"result": result} if not isinstance(result, dict) else result
        result["warnings"] = told
    ended = os.times()
    return name, json.loads(json.dumps(result)), sum(ended[:4]) - sum(began[:4])


def records_of(names: Iterable[str], jobs: int) -> Iterator[tuple[str, Any, float]]:
    """Records of some cases, in the order of their names."""
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), prepare_environment)
    with pool if jobs > 1 else nullcontext():
        yield from (pool.map if jobs > 1 else map)(record, names)


def chosen(names: Iterable[str], pattern: str) -> list[str]:
    """Names that contain a pattern."""
    found = [name for name in names if fnmatchcase(name, f"*{pattern}*")]
    if not found:
        raise SystemExit(f"No case has a name like {pattern!r}: 'record.py list' prints the names.")
    return found


def read(folder: Path) -> dict[str, Any]:
    """Records of a folder."""
    path = folder / RECORDS
    if not path.exists():
        raise SystemExit(f"{path} does not exist: 'record.py --folder {folder}' writes it.")
    return json.loads(path.read_text("utf-8"))


def write(folder: Path, new: dict[str, Any], names: Iterable[str]) -> None:
    """Write records; those of cases that were not run now are kept, if the cases exist."""
    path = folder / RECORDS
    old = json.loads(path.read_text("utf-8"))["cases"] if path.exists() else {}
    kept = {**old, **new}
    content = {"machine": machine(), "cases": {name: kept[name] for name in names if name in kept}}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n", "utf-8")


def compared(before: dict[str, Any], now: dict[str, Any]) -> tuple[list[str], int]:
    """What differs between records of cases, in words, and in how many cases."""
    from golden_differences import differences

    told, count = [], 0
    for name, record in now.items():
        lines = list(differences(before[name], record)) if name in before else ["not recorded yet"]
        count += bool(lines)
        told += [f"{name}:", *(f"    {line}" for line in lines)] if lines else []
    return told, count


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    verbs = ("write", "compare", "list", "show")
    parser.add_argument("verb", nargs="?", choices=verbs, default="write")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases named like this")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the records are")
    parser.add_argument("--with", dest="other", type=Path, help="compare with this folder")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    options = parsed(arguments)
    from golden_cases import cases

    everything = list(cases())
    names = chosen(everything, options.only)
    if options.verb == "list":
        print("\n".join(names))
        return 0
    if options.verb == "show":
        found = read(options.folder)["cases"]
        print(json.dumps({name: found.get(name) for name in names}, indent=2, ensure_ascii=False))
        return 0
    before = read(options.folder) if options.verb == "compare" else None
    if options.other is not None:
        other = read(options.other)
        now, there = {name: other["cases"].get(name) for name in names}, other["machine"]
    else:
        now, there = {}, machine()
        total, began = 0.0, time.monotonic()
        for name, result, seconds in records_of(names, options.jobs):
            now[name] = result
            total += seconds
            print(f"{seconds:6.2f} CPU s  {name}", file=sys.stderr)
        wall = time.monotonic() - began
        print(f"{len(now)} cases, {total:.0f} CPU s, {wall:.0f} s", file=sys.stderr)
    if before is None:
        write(options.folder, now, everything)
        return 0
    told, count = compared(before["cases"], now)
    for what, old in before["machine"].items():
        if there.get(what) != old:
            print(f"Another {what}: {there.get(what)}, recorded with {old}: last bits may differ.")
    print("\n".join(told) if told else f"{len(now)} cases: nothing differs.")
    if told:
        print(f"{count} of {len(now)} cases differ.")
    return int(bool(told))


if __name__ == "__main__":
    prepare_environment()
    sys.exit(main())
