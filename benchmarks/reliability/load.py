"""Many fits in one process, on threads and in processes: memory, compiled programs, results."""

import argparse
import multiprocessing
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cosmodag import Cosmo, CosmoMLP, Dagma, Notears, OrderSearch, simulate
from cosmodag.errors import CosmodagError
from cosmodag.solve.training.loop import _run_many
from environment import header, table, verdict

SHAPES = ((60, 5), (100, 8), (80, 12))


def learner(index: int) -> Any:
    """Return one of several learners, in turn."""
    return (
        Cosmo(epochs=10, random_state=index, verbose=False),
        Cosmo(epochs=5, loss="likelihood", refine=None, random_state=index, verbose=False),
        OrderSearch(random_state=index, verbose=False),
        CosmoMLP(epochs=2, hidden=(3,), refine=None, random_state=index, verbose=False),
        Notears(max_iter=2, verbose=False),
        Dagma(max_iter=200, verbose=False),
    )[index % 6]


def data_for(index: int) -> np.ndarray:
    """Draw a new table, with one of a few shapes."""
    n, d = SHAPES[index // 6 % len(SHAPES)]
    weights = simulate.load(f"n{n}_d{d}_ER1_gauss", seed=index % 7).weights
    noise = np.random.default_rng(index).normal(size=(n, d))
    return noise @ np.linalg.inv(np.eye(d) - weights)


def fitted(index: int) -> bytes:
    """Fit a learner, and return the bytes of its weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner(index).fit(data_for(index)).weights_.tobytes()


def resident() -> float:
    """Mebibytes of memory that this process holds."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no such line")


def programs() -> int:
    """Count the programs of the reference loop compiled so far."""
    return int(_run_many._cache_size())


def one_after_another(fits: int, first: int) -> list[list[object]]:
    """Compare memory and programs after some fits and after all."""
    warnings.simplefilter(
        "ignore"
    )  # like a long-running service; otherwise the process keeps all warnings
    marks = {}
    for index in range(fits):
        fitted(index)
        if index + 1 in (first, fits // 2, fits):
            marks[index + 1] = (resident(), programs())
            print(index + 1, *marks[index + 1], flush=True)
    (begin, compiled), (end, last) = marks[first], marks[fits]
    grown = end / begin - 1
    return [
        [f"memory after {first} and {fits:,} fits, MiB", f"{begin:.0f}, {end:.0f}", "", ""],
        ["growth of memory", f"{100 * grown:+.1f} %", "< 5 %", verdict(grown < 0.05)],
        [
            f"compiled programs after {first} and {fits:,} fits",
            f"{compiled}, {last}",
            "the same",
            verdict(compiled == last),
        ],
    ]


def on_threads(fits: int) -> list[object]:
    """Compare the results of eight threads with those of one."""
    alone = [fitted(index) for index in range(fits)]
    warnings.simplefilter("ignore")
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(fitted, range(fits)))
    same = sum(a == b for a, b in zip(alone, together, strict=True))
    return [
        f"{fits} fits on 8 threads",
        f"{same} bit-identical",
        "all",
        verdict(same == fits),
    ]


def _told(index: int) -> str:
    try:
        return fitted(index).hex()
    except CosmodagError as error:
        return type(error).__name__


def in_processes(fits: int) -> list[list[object]]:
    """Fit in forked processes, in spawned ones and in joblib's."""
    from joblib import Parallel, delayed

    alone = [fitted(index).hex() for index in range(fits)]
    rows: list[list[object]] = []
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            found = pool.map_async(_told, range(fits)).get(300)
        same = sum(a == b for a, b in zip(alone, found, strict=True))
        told = found.count("ForkError")
        rows.append(
            [
                f"{fits} fits in 2 processes by {way}, JAX used before",
                f"{same} bit-identical, {told} refused with ForkError",
                "no deadlock, identical or refused",
                verdict(same + told == fits),
            ]
        )
    loky = Parallel(n_jobs=2)(delayed(_told)(index) for index in range(fits))
    same = sum(a == b for a, b in zip(alone, loky, strict=True))
    rows.append(
        [f"{fits} fits by joblib (loky)", f"{same} bit-identical", "all", verdict(same == fits)]
    )
    return rows


def main() -> None:
    """Run all measurements and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=2000)
    parser.add_argument("--first", type=int, default=200)
    parser.add_argument("--few", type=int, default=48)
    parser.add_argument(
        "--write", action="store_true", help="write the page to the folder of this file"
    )
    asked = parser.parse_args()
    rows = one_after_another(asked.fits, asked.first)
    rows.append(on_threads(asked.few))
    rows += in_processes(min(asked.few, 12))
    page = (
        header("Load: many fits, threads and processes", ("jax", "numba", "numpy", "joblib"))
        + "\nSmall fits of six learners in turn (Cosmo by kernel and by reference loop, "
        "OrderSearch, CosmoMLP, Notears, Dagma) on new tables of three shapes.\n\n"
        + table(["what", "found", "target", ""], rows)
    )
    if asked.write:
        (Path(__file__).parent / "load.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
