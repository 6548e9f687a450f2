"""Deliberate faults: runs that are killed repeatedly, workers and a node that are lost.

    python benchmarks/paper/faults.py kills --times 50
    python benchmarks/paper/faults.py cluster --workers 10
    python benchmarks/paper/faults.py many
    python benchmarks/paper/faults.py workers
    python benchmarks/paper/faults.py all --output benchmarks/paper/faults.md

*kills*: runs of a small experiment are killed (``kill -9``) at random times and resumed to their
end, with `--times` kills in all; their rows must be bit-identical to those of an uninterrupted run.
*cluster*: the same experiment on a Ray cluster of two nodes on this machine; some workers are
killed, then one node. *many*: 10,000 empty cells through engine and store. *workers*: rate of a Ray
cluster with two workers, relative to one.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "engines"), str(ROOT / "benchmarks")]

from cosmodag.bench import Resources, Store, read_experiment, run  # noqa: E402
from cosmodag.bench.bench_plan import Cell, CellBatch  # noqa: E402
from cosmodag.bench.protocol import METHODS  # noqa: E402
from cosmodag.bench.run import result_rows  # noqa: E402
from cosmodag.bench.work import carry_out  # noqa: E402
from cosmodag.runtime.engines import each  # noqa: E402
from environment import header, table, verdict  # noqa: E402

SMALL = """
name = "faults"
[[group]]
data = ["n300_d8_ER2_{gauss,exp}"]
methods = ["cosmo", "cosmo-np"]
configurations = 20
graphs = 4
select = ["oracle", "score"]
validation = 6
fixed = ["cosmo-default", "variance-sort", "empty-graph"]
standardised = ["cosmo", "variance-sort"]
batch = 4
[group.parameters.cosmo]
epochs = 400
[group.parameters.cosmo-np]
epochs = 400
[group.parameters.cosmo-default]
epochs = 400
"""


def contents(path: Path) -> list[tuple[str, str, str]]:
    """Return the exact content of every row."""
    with Store(path, create=False) as store:
        return [(r.key, r.batch, json.dumps(r.result, sort_keys=True)) for r in store.rows()]


def unkilled_run(folder: Path) -> list[tuple[str, str, str]]:
    """Rows of an uninterrupted run."""
    path = folder / "alone.sqlite"
    with Store(path) as store:
        run(read_experiment(SMALL), store, Resources(device="cpu"))
    return contents(path)


def kills(options: argparse.Namespace) -> list[object]:
    """Kill and resume runs; a run that ends is followed by another."""
    chance = random.Random(options.seed)
    killed = ended = wrong = 0
    seen: set[int] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = unkilled_run(folder)
        (folder / "small.toml").write_text(SMALL)
        path = folder / "results.sqlite"
        while killed < options.times:
            command = [sys.executable, "-m", "cosmodag", "bench", "run"]
            process = subprocess.Popen(
                [*command, str(folder / "small.toml"), "--store", str(path), "--device", "cpu"],
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                process.wait(timeout=chance.uniform(1, options.longest))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                killed += 1
                found = set(contents(path)) if path.exists() else set()
                wrong += not found <= set(expected)
                seen.add(len(found))
            else:
                ended += 1
                wrong += contents(path) != expected
                for file in folder.glob("results.sqlite*"):
                    file.unlink()
            print(f"{killed} kills, {ended} ends, {wrong} wrong; {sorted(seen)}", flush=True)
        with Store(path) as store:
            run(read_experiment(SMALL), store, Resources(device="cpu"))
        wrong += contents(path) != expected
    what = (
        f"`kill -9` {killed} times, after {min(seen)} to {max(seen)} rows ({len(seen)} different "
        f"numbers), {ended + 1} run(s) to the end of {len(expected)} cells"
    )
    return [what, "the same rows, bit for bit", f"{wrong} differed", verdict(wrong == 0)]


def cluster(options: argparse.Namespace) -> list[object]:
    """Kill workers and a node during a run on a cluster."""
    from ray_cluster import LoopbackCluster

    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name, LoopbackCluster() as nodes:
        folder = Path(name)
        expected = unkilled_run(folder)
        killed, is_lost = 0, False

        def disturb(stage: str, done: int, total: int) -> None:
            nonlocal killed, is_lost
            if killed < options.workers:
                killed += nodes.kill_worker(chance.choice)
            elif not is_lost:
                nodes.kill_node()
                is_lost = True

        path = folder / "cluster.sqlite"
        with Store(path) as store:
            resources = Resources("ray", nodes.address, device="cpu")
            done = run(read_experiment(SMALL), store, resources, disturb)
        found = contents(path)
    same = found == expected and done.done == len(expected)
    what = f"{killed} workers and {int(is_lost)} node of 2 killed during {len(expected)} cells"
    enough = killed >= options.workers and is_lost
    return [what, "every cell once, same rows", f"{len(found)} rows", verdict(same and enough)]


def nothing(batch: CellBatch) -> list[dict[str, object]]:
    """Return the results of cells without work."""
    return [{"status": "done", "number": cell.graph} for cell in batch]


def many(options: argparse.Namespace) -> list[object]:
    """Run 10,000 empty cells, one batch each."""
    data = "n9_d3_ER1_gauss"
    peaks = []
    with tempfile.TemporaryDirectory() as name, Store(Path(name) / "many.sqlite") as store:
        begin = time.perf_counter()
        cells = (Cell("nothing", "empty-graph", data, number) for number in range(10_000))
        batches = [(cell,) for cell in cells]
        for place, outcome in each(nothing, batches):
            store.add(result_rows(batches[place], outcome))
            if place in (999, 9_999):
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        seconds = time.perf_counter() - begin
        count = len(store.rows())
    grown = peaks[1] - peaks[0]
    result = f"{count:,} in {seconds:.1f} s; memory grew by {grown:.1f} MiB after the first 1,000"
    met = count == 10_000 and seconds < 60 and grown < 20
    return ["10,000 cells through engine and store", "< 60 s, memory flat", result, verdict(met)]


def workers(options: argparse.Namespace) -> list[object]:
    """Compare the rates of one and of two Ray workers."""
    fixed = {**METHODS["cosmo"].parameters, "epochs": 2000}
    cells = [Cell("fit", "cosmo", "n1000_d20_ER4_gauss", g, fixed) for g in range(options.cells)]
    batches = [(cell,) for cell in cells]
    rates = {}
    for jobs in (1, 2):
        seen = []
        for _ in each(partial(carry_out, device="cpu"), batches, engine="ray", jobs=jobs):
            seen.append(time.perf_counter())
        # Timing starts when all workers are warm, and so excludes their start.
        warm = 4 * jobs
        rates[jobs] = (len(seen) - warm) / (seen[-1] - seen[warm - 1])
        print(f"{jobs} worker(s): {rates[jobs]:.2f} cells per second", flush=True)
    ratio = rates[2] / rates[1]
    return ["Ray, 2 workers over 1", "≥ 1.7 times", f"{ratio:.2f} times", verdict(ratio >= 1.7)]


SECTIONS = {"kills": kills, "cluster": cluster, "many": many, "workers": workers}


def main() -> None:
    """Run the requested faults and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=[*SECTIONS, "all"])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--longest", type=float, default=15.0, help="maximum seconds before a kill")
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    chosen = SECTIONS if options.section == "all" else {options.section: SECTIONS[options.section]}
    rows = []
    for section in chosen.values():
        rows.append(section(options))
        print(*rows[-1], sep=" | ", flush=True)
    text = header("Faults", ("ray", "jax", "numba"))
    text += "\n" + table(["what", "target", "measured", ""], rows)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
