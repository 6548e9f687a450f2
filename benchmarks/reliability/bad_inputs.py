"""The catalogue of bad inputs, given to this package and to other libraries.

    pip install -r benchmarks/reliability/requirements.txt
    python benchmarks/reliability/bad_inputs.py --output benchmarks/reliability/bad_inputs.md

Each library runs in a process of its own, which is killed when a case exceeds the time limit; the
case is then tried once more with three times the limit, since the first try may have compiled
programs. `tests/contract/bad_inputs.py` states the required outcome of each case, and `verdict`
below classifies the outcomes.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import sys
import traceback
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent, HERE.parents[1] / "tests", HERE.parents[1] / "tests" / "contract"):
    sys.path.insert(0, str(folder))

from bad_inputs_page import page  # noqa: E402
from libraries import LIBRARIES, Library  # noqa: E402

LIMIT = 20.0
IMPORTS = 120.0
SAME_UNITS = (
    "the table × 1e30",
    "the table × 1e-30",
    "the table + 1e9",
    "subnormal numbers",
    "one column × 1e8",
    "one column × 1e-8",
    "standardised",
)
"""The ordinary table in other units: the same graph is correct, with or without a warning."""
HARMLESS = ("one column", "numbers as text", "an array of text", "duplicate names", "an empty name")
"""Refused by this package by choice: a library that accepts them is not wrong."""


def attempt(library: Library, data: Any, plain: np.ndarray | None) -> dict[str, Any]:
    """Call a library on a table and describe the outcome."""
    from test_bad_inputs import fingerprint

    before = fingerprint(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = described(library, library.fit(data), plain)
        except Exception as error:
            found = failed(library, error)
    ignored = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)
    told = [str(one.message) for one in caught if not issubclass(one.category, ignored)]
    return {**found, "warnings": told, "mutated": fingerprint(data) != before}


def described(library: Library, weights: Any, plain: np.ndarray | None) -> dict[str, Any]:
    """Describe a graph: finite, acyclic, number of arcs, equal to that of the ordinary table."""
    weights = np.asarray(weights)
    if not np.isfinite(weights.astype(float)).all():
        return {"kind": "not finite"}
    arcs = weights != 0
    sure = arcs & ~arcs.T if library.gives_class else arcs
    return {
        "kind": "graph" if is_acyclic(sure) else "cyclic",
        "arcs": int(np.count_nonzero(arcs | arcs.T)) // 2,
        "same": plain is not None and bool(np.array_equal(arcs, plain)),
    }


def is_acyclic(arcs: np.ndarray) -> bool:
    """Return whether a graph is acyclic, by removing variables without causes one by one."""
    left = np.arange(len(arcs))
    while len(left):
        roots = ~arcs[np.ix_(left, left)].any(axis=0)
        if not roots.any():
            return False
        left = left[~roots]
    return True


def failed(library: Library, error: Exception) -> dict[str, Any]:
    """Describe an error: raised on purpose by the library or its validator, or internal."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    place = Path(last.filename).as_posix()
    own = f"/{library.package}/" in place or "/sklearn/utils/" in place or "/skbase/" in place
    line = last.line or ""
    asserted = line.startswith("assert") and isinstance(error, AssertionError)
    meant = own and (line.startswith("raise") or asserted)
    package = next((one for one in (library.package, "sklearn") if f"/{one}/" in place), "")
    package = package or place.split("site-packages/")[-1].split("/")[0]
    sentence = " ".join(str(error).split())
    kind = "refused" if meant else "stumbled"
    return {"kind": kind, "error": type(error).__name__, "sentence": sentence, "where": package}


def work(name: str, connection: Connection) -> None:
    """Receive indices of cases and send their outcomes, until the index is None."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    from bad_inputs import CASES, values

    library = LIBRARIES[name]
    plain = np.asarray(library.fit(values())) != 0
    connection.send("ready")
    while (place := connection.recv()) is not None:
        case = CASES[place]
        found = attempt(library, case.make(), plain)
        if found["kind"] == "cyclic" and library.whole:
            connection.send("longer")
            found = attempt(Library(library.whole, library.package), case.make(), plain)
        connection.send(found)


def outcomes(name: str, cases: int) -> list[dict[str, Any]]:
    """Run a library on all cases, in processes that can be killed."""
    found: list[dict[str, Any]] = []
    retried: set[int] = set()
    context = multiprocessing.get_context("spawn")
    while len(found) < cases:
        here, there = context.Pipe()
        process = context.Process(target=work, args=(name, there))
        process.start()
        there.close()
        try:
            begin(name, here)
            while len(found) < cases:
                place = len(found)
                here.send(place)
                one = answer(here, 3 * LIMIT if place in retried else LIMIT)
                if one["kind"] != "hang" or place in retried:
                    found.append(one)
                retried.add(place)
                if one["kind"] == "hang":
                    break
        except EOFError:
            found.append({"kind": "crash", "warnings": [], "mutated": False})
        finally:
            with contextlib.suppress(OSError):
                here.send(None)
            process.join(2)
            process.kill()
            process.join()
    return found


def begin(name: str, connection: Connection) -> None:
    """Wait for the result of an ordinary table; a library without one is left out."""
    try:
        if connection.poll(IMPORTS):
            connection.recv()
            return
    except EOFError:
        pass
    raise SystemExit(f"{name} returned no result for an ordinary table.")


def answer(connection: Connection, limit: float) -> dict[str, Any]:
    """Wait for one outcome, up to the limit of a case."""
    while connection.poll(limit):
        found = connection.recv()
        if found != "longer":
            return dict(found)
        limit = 6 * LIMIT
    return {"kind": "hang", "warnings": [], "mutated": False}


def verdict(name: str, case: Any, found: dict[str, Any]) -> str:
    """Classify an outcome: the column of the table in which it counts."""
    if found["kind"] != "graph":
        is_fine = case.outcome == "fine" and found["kind"] == "refused"
        return "refused what is fine" if is_fine else str(found["kind"])
    is_allowed = case.outcome == "fine" or case.name in (*LIBRARIES[name].answers, *HARMLESS)
    if case.name in SAME_UNITS:
        is_allowed = found["same"]
    if is_allowed or (case.outcome == "warned" and found["warnings"]):
        return "answered"
    if case.name in SAME_UNITS:
        return "answered" if found["warnings"] else "another graph in other units"
    if found["warnings"]:
        return "answered, with some warning"
    if case.outcome == "refused":
        return "empty graph" if found["arcs"] == 0 else "arcs"
    return "no warning"


def main() -> None:
    """Run the requested libraries and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", nargs="+", choices=[*LIBRARIES], default=[*LIBRARIES])
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--raw", type=Path, default=None, help="file for all outcomes, as JSON")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", TQDM_DISABLE="1")
    from bad_inputs import CASES

    kept = json.loads(options.raw.read_text()) if options.raw and options.raw.exists() else {}
    for name in options.libraries:
        if name not in kept:
            kept[name] = outcomes(name, len(CASES))
            print(name, [one["kind"] for one in kept[name]], flush=True)
            if options.raw:
                options.raw.write_text(json.dumps(kept, indent=1))
    verdicts = {
        name: [verdict(name, case, one) for case, one in zip(CASES, found, strict=True)]
        for name, found in kept.items()
    }
    text = page(CASES, kept, verdicts)
    if options.output:
        options.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
