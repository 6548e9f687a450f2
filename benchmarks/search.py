"""Order search against FLOP: one referee BIC for both, as a function of CPU seconds.

    python benchmarks/search.py --jobs 16 --output benchmarks/search.md

Random graphs, coefficients ±U(.25, 1), noise of standard deviation U(.5, 2), columns standardised
or in random units; one process and one thread per table. The referee is n log RSS + 2 log n per
arc, summed over variables, minus that of the true graph: lower is better. FLOP is `flopsearch` of
PyPI with λ = 2, which is the same score. The order search starts from the order of the summed
squared correlations, which knows nothing of units, and restarts until the time of the slowest FLOP
run is over; "in the time of" reads its best BIC at the CPU time that a FLOP run took.
"""

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cosmodag.graph.equivalence import class_distance
from cosmodag.order import search
from cosmodag.refinement.moments import Moments
from environment import header, in_processes, table

FIRST_SEED = 900_000
# Longest that the order search goes on, in CPU seconds.
LONGEST = 150.0


@dataclass(frozen=True)
class Cell:
    """One kind of table, and the numbers of restarts that FLOP is given."""

    variables: int
    degree: int
    rows: int
    units: str
    tables: int
    flop: tuple[int, ...]

    @property
    def name(self) -> str:
        """Words for a row of the page."""
        return f"d={self.variables}, degree {self.degree}, n={self.rows}, {self.units}"


CELLS = [
    *(
        Cell(50, k, n, "standardised", 10, (0, 20, 100))
        for k in (8, 10)
        for n in (500, 1000, 10_000)
    ),
    Cell(50, 8, 1000, "random units", 10, (0, 20, 100)),
    Cell(150, 6, 500, "standardised", 10, (0, 20, 100)),
    Cell(150, 6, 1000, "standardised", 10, (0, 20, 100)),
    Cell(150, 6, 10_000, "standardised", 10, (0, 20, 100)),
    Cell(150, 12, 1000, "standardised", 10, (0, 20)),
    Cell(500, 6, 1000, "standardised", 3, (0, 20)),
    Cell(1000, 6, 1000, "random units", 3, (0,)),
]


def simulated(cell: Cell, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Adjacency of a random graph and a table of its linear model."""
    random = np.random.default_rng(seed)
    d = cell.variables
    upper = np.triu(random.random((d, d)) < cell.degree / (d - 1), 1)
    weights = upper * random.uniform(0.25, 1, (d, d)) * random.choice([-1, 1], (d, d))
    noise = random.normal(size=(cell.rows, d)) * random.uniform(0.5, 2, d)
    X = np.linalg.solve((np.eye(d) - weights).T, noise.T).T
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if cell.units != "standardised":
        X *= 10.0 ** random.uniform(-3, 3, d)
    shuffle = random.permutation(d)
    return upper[np.ix_(shuffle, shuffle)], X[:, shuffle]


def referee(X: np.ndarray, adjacency: np.ndarray) -> float:
    """Give n log RSS + 2 log n per arc; RSS as a share of each variable's sum of squares."""
    n = len(X)
    correlations = np.corrcoef(X.T)
    total = 2 * np.log(n) * np.count_nonzero(adjacency)
    for v in range(X.shape[1]):
        parents = np.flatnonzero(adjacency[:, v])
        along = correlations[parents, v]
        among = correlations[np.ix_(parents, parents)]
        total += n * np.log(1 - along @ np.linalg.solve(among, along))
    return float(total)


def member(cpdag: np.ndarray) -> np.ndarray:
    """Give a DAG of the class that FLOP reports, by removing sinks (Dor and Tarsi 1992)."""
    left = cpdag.copy()
    found = cpdag == 1
    waiting = list(range(len(left)))
    while waiting:
        for x in waiting:
            if np.any(left[x] == 1):
                continue
            beside = np.flatnonzero(left[x] == 2)
            near = (left[x] != 0) | (left[:, x] != 0)
            if all(
                not np.any(near & ~((left[y] != 0) | (left[:, y] != 0) | _only(y, near)))
                for y in beside
            ):
                found[beside, x] = True
                left[x], left[:, x] = 0, 0
                waiting.remove(x)
                break
        else:
            raise ValueError("This class has no member.")
    return found


def _only(y: int, like: np.ndarray) -> np.ndarray:
    one = np.zeros_like(like)
    one[y] = True
    return one


def measure(task: tuple[Cell, int]) -> list[dict[str, object]]:
    """Points of one table: arm, CPU seconds, BIC above the truth's, class distance."""
    from flopsearch import flop

    cell, number = task
    truth, X = simulated(cell, FIRST_SEED + number)
    least = referee(X, truth)
    points: list[dict[str, object]] = []

    def note(arm: str, seconds: float, bic: float, distance: object = "") -> None:
        entry = {"table": cell.name, "number": number, "arm": arm, "seconds": round(seconds, 4)}
        points.append(entry | {"bic": round(bic, 3), "class_distance": distance})

    _warm_up()
    for restarts in cell.flop:
        begin = time.process_time()
        cpdag = np.asarray(flop(X, 2.0, restarts=restarts))
        seconds = time.process_time() - begin
        graph = member(cpdag)
        note(f"flop {restarts}", seconds, referee(X, graph) - least, class_distance(truth, graph))
    limit = min(max(point["seconds"] for point in points), LONGEST)
    begin = time.process_time()
    moments = Moments.of(X)
    start = np.argsort((moments.correlations[0] ** 2).sum(axis=0), kind="stable")
    found = search(
        moments,
        start,
        random=np.random.default_rng(number),
        penalty=np.log(len(X)),
        restarts=100_000,
        patience=100_000,
        threads=1,
        should_stop=lambda: time.process_time() - begin > limit,
        on_progress=lambda _, score: note(
            "order search", time.process_time() - begin, -2 * score - least
        ),
    )
    graph = found.graph.adjacency().toarray()
    bic, distance = referee(X, graph) - least, class_distance(truth, graph)
    note("order search", time.process_time() - begin, bic, distance)
    return points


def _warm_up() -> None:
    moments = Moments.of(np.random.default_rng(0).normal(size=(50, 5)))
    search(moments, np.arange(5), random=np.random.default_rng(0), restarts=1, threads=1)


def in_time(points: list[dict[str, object]], seconds: float) -> float:
    """Best BIC of the order search by a time; infinite where it had none yet."""
    ours = [point for point in points if point["arm"] == "order search"]
    early = [point["bic"] for point in ours if point["seconds"] <= seconds]
    return min(early, default=np.inf)


def rows_of(results: dict[Cell, list[list[dict[str, object]]]]) -> list[list[object]]:
    """One row per kind of table and number of restarts of FLOP."""
    rows: list[list[object]] = []
    for cell, tables in results.items():
        for restarts in cell.flop:
            theirs = [next(p for p in t if p["arm"] == f"flop {restarts}") for t in tables]
            ours = [in_time(t, p["seconds"]) for t, p in zip(tables, theirs, strict=True)]
            firsts = [next(p for p in t if p["arm"] == "order search")["seconds"] for t in tables]
            bic = np.mean([p["bic"] for p in theirs])
            rows.append(
                [
                    cell.name,
                    len(tables),
                    f"flop {restarts}",
                    f"{np.mean([p['seconds'] for p in theirs]):.2f}",
                    f"{bic:.1f}",
                    f"{np.mean([p['class_distance'] for p in theirs]):.1f}",
                    f"{np.mean(ours):.1f}",
                    f"{np.mean([t[-1]['class_distance'] for t in tables]):.1f}",
                    f"{np.mean(firsts):.2f}",
                    "yes" if np.mean(ours) <= bic + 1e-6 else "**no**",
                ]
            )
    return rows


def draw(results: dict[Cell, list[list[dict[str, object]]]], path: Path) -> None:
    """BIC against CPU seconds: a curve for the order search, a point for each FLOP run."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = 4
    lines = -(-len(results) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4 * columns, 3 * lines), squeeze=False)
    for axis, (cell, tables) in zip(axes.flat, results.items(), strict=False):
        last = max(p["seconds"] for t in tables for p in t)
        first = min(p["seconds"] for t in tables for p in t)
        grid = np.geomspace(max(first, 1e-3), last, 60)
        axis.plot(
            grid, [np.mean([in_time(t, s) for t in tables]) for s in grid], label="order search"
        )
        for restarts in cell.flop:
            theirs = [p for t in tables for p in t if p["arm"] == f"flop {restarts}"]
            place = np.mean([p["seconds"] for p in theirs]), np.mean([p["bic"] for p in theirs])
            axis.plot(*place, "o", label=f"flop {restarts}")
        axis.set(xscale="log", yscale="symlog", title=cell.name)
        axis.title.set_fontsize(8)
    for axis in list(axes.flat)[len(results) :]:
        axis.set_visible(False)
    axes[0, 0].legend(fontsize=7)
    figure.supxlabel("CPU seconds")
    figure.supylabel("referee BIC above the true graph's")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Measure, and write the page, the points and the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--largest", type=int, default=1000, help="most variables")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/search.md"))
    options = parser.parse_args()
    cells = [cell for cell in CELLS if cell.variables <= options.largest]
    tasks = [(c, k) for c in cells for k in range(min(c.tables, options.tables))]
    tasks.sort(key=lambda task: -task[0].variables * task[0].degree)
    measured = in_processes(measure, tasks, options.jobs)
    results: dict[Cell, list[list[dict[str, object]]]] = {cell: [] for cell in cells}
    for (cell, _), points in zip(tasks, measured, strict=True):
        results[cell].append(points)
    with options.output.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(measured[0][0]))
        writer.writeheader()
        writer.writerows(point for points in measured for point in points)
    draw(results, options.output.with_suffix(".svg"))
    columns = ["table", "tables", "rival", "its CPU s", "its BIC", "its class SHD"]
    columns += ["our BIC in that time", "our class SHD, at the end", "our first CPU s", "no worse"]
    page = [header("Order search against FLOP", ("numba", "numpy", "flopsearch")), __doc__ or ""]
    page += [table(columns, rows_of(results)), "![BIC against time](search.svg)", ""]
    options.output.write_text("\n\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
