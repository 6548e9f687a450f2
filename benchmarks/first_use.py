"""CPU seconds of the first use of each path, when nothing has been compiled yet.

    python benchmarks/first_use.py --write

Each path runs in two new processes that share a new cache (``NUMBA_CACHE_DIR``,
``XDG_CACHE_HOME``, ``HOME``): the first compiles, the second reads the compiled programs. Some
paths start from an empty cache, the others from the cache that `Cosmo` left, as for a user who has
used the package before.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent

TABLE = "X = simulate.load('n1000_d30_ER4_gauss', seed=0).X\n"
SMALL = "X = simulate.load('n200_d10_ER2_gauss', seed=0).X\n"

# By name: the code of a path, and whether its cache is empty at first or that of `Cosmo`.
PATHS = {
    "`from cosmodag import Cosmo`": ("", True),
    "`OrderSearch()`, 30 variables": (TABLE + "cosmodag.OrderSearch(random_state=0).fit(X)", True),
    "`Cosmo()`, 30 variables": (TABLE + "cosmodag.Cosmo(random_state=0).fit(X)", True),
    "the same, standardised": (
        TABLE + "cosmodag.Cosmo(random_state=0).fit((X - X.mean(0)) / X.std(0))",
        False,
    ),
    "non-Gaussian noise": (
        TABLE.replace("gauss", "exp") + "cosmodag.Cosmo(noise='non-gaussian', random_state=0)"
        ".fit(X)",
        False,
    ),
    "knowledge": (
        TABLE + "cosmodag.Cosmo(knowledge=cosmodag.Knowledge(forbidden_edges=[('x0', 'x1')]),"
        " random_state=0).fit(X)",
        False,
    ),
    "interventions": (
        TABLE + "targets = [0 if i < 100 else None for i in range(len(X))]\n"
        "cosmodag.Cosmo(random_state=0).fit(X, interventions=targets)",
        False,
    ),
    "a table with a category": (
        SMALL + "import pandas\n"
        "frame = pandas.DataFrame(X, columns=[f'x{i}' for i in range(10)])\n"
        "frame['x3'] = pandas.cut(frame['x3'], 3, labels=['low', 'middle', 'high']).astype(str)\n"
        "cosmodag.Cosmo(random_state=0).fit(frame)",
        False,
    ),
    "`CosmoMLP()`": (SMALL + "cosmodag.CosmoMLP(random_state=0, epochs=20).fit(X)", False),
    "`Notears()`": (SMALL + "cosmodag.Notears(random_state=0).fit(X)", False),
    "`Dagma()`": (SMALL + "cosmodag.Dagma(random_state=0).fit(X)", False),
    "`NoCurl()`": (SMALL + "cosmodag.NoCurl(random_state=0).fit(X)", False),
    "`cosmodag fit`, CSV of 16 × 7, to the end of the process": ("cosmodag fit", True),
}

SCRIPT = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
import cosmodag
from cosmodag import Cosmo, simulate
from cosmodag.runtime import compile_progress as progress
tallies = []
with progress.listening(lambda tally: tallies.append(tally.done)):
    {code}
times = os.times()
print(json.dumps([times.user + times.system, max(tallies, default=0), "jax" in sys.modules]))
"""


def run(code: str, folder: Path) -> tuple[float, int | str, bool | str]:
    """CPU seconds of one process, number of compiled programs, and whether JAX was imported."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "HOME": str(folder),
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
    }
    if code == "cosmodag fit":
        return run_command(folder, environment), "", ""
    script = SCRIPT.format(code=code.replace("\n", "\n    ") or "pass")
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{code}\n{done.stderr[-2000:]}")
    seconds, programs, jax = json.loads(done.stdout.splitlines()[-1])
    return seconds, programs, jax


def run_command(folder: Path, environment: dict[str, str]) -> float:
    """CPU seconds of a process that runs ``cosmodag fit`` on a small file."""
    table = folder / "table.csv"
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.random.default_rng(0).normal(size=(16, 7))
    np.savetxt(table, rows, delimiter=",", header="a,b,c,d,e,f,g", comments="")
    command = ["-m", "cosmodag", "fit", str(table), "-o", str(folder / "out"), "--quiet"]
    before = os.times()
    subprocess.run([sys.executable, *command], env=environment, check=True)
    now = os.times()
    return now[2] + now[3] - before[2] - before[3]


def measure(name: str, used: Path, folder: Path) -> dict[str, object]:
    """Measure the first and the second use of a path."""
    code, is_empty = PATHS[name]
    if not is_empty:
        shutil.copytree(used, folder, dirs_exist_ok=True)
    first, programs, jax = run(code, folder)
    again, _, _ = run(code, folder)
    return {
        "path": name,
        "cache": "empty" if is_empty else "after Cosmo()",
        "first": round(first, 1),
        "again": round(again, 1),
        "compiling": round(first - again, 1),
        "programs": programs,
        "jax": jax,
    }


def table(rows: list[dict[str, object]]) -> str:
    """Write the rows as a Markdown table."""
    lines = [
        "| path | cache | first use, CPU s | again | difference | Numba programs | JAX |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        jax = {True: "yes", False: "no", "": ""}[row["jax"]]
        cells = [*list(row.values())[:-1], jax]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the requested paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="words in the names of the paths to measure")
    parser.add_argument("--write", action="store_true", help="write first_use.md")
    options = parser.parse_args()
    names = [n for n in PATHS if not options.only or any(word in n for word in options.only)]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        used = Path(place, "used")
        if any(not PATHS[name][1] for name in names):
            run(PATHS["`Cosmo()`, 30 variables"][0], used)
        for number, name in enumerate(names):
            rows.append(measure(name, used, Path(place, str(number))))
            print(rows[-1], flush=True)
    text = table(rows)
    print(text)
    if options.write:
        from environment import header

        intro = header("First use") + (
            "\nCPU seconds of a whole process with its imports, in a first and a second run; the\n"
            "difference is compilation. The first run starts from an empty cache, or from the\n"
            "programs that `Cosmo()` compiled. The library does not cache programs of JAX.\n\n"
        )
        (HERE / "first_use.md").write_text(intro + text, encoding="utf-8")


if __name__ == "__main__":
    main()
