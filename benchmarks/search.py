"""Order search against FLOP and BOSS: one referee BIC for all, as a function of CPU seconds.

    python benchmarks/search.py --jobs 16             search.csv, search.md, search.png
    python benchmarks/search.py --jobs 16 --resume    goes on where a run was cut short
    python benchmarks/search.py --jobs 16 --resume --only "d=500" "d=1000" --limit 400
                                                      some kinds; no new table after 400 s
    python benchmarks/search.py --render              the page and the picture from search.csv
    python benchmarks/search.py --boss 2              adds causal-learn's BOSS on two tables

Coefficients ±U(.25, 1), noise of standard deviation U(.5, 2), columns standardised or in random
units; one process and one thread per table. Graphs are random (a degree is given) or local: 0 to 4
parents each (.25, .35, .25, .1, .05), among the 15 variables before, as in published networks.

The referee is n log RSS + 2 log n per arc, summed over variables, minus that of the true graph:
lower is better. FLOP is `flopsearch` of PyPI with λ = 2, BOSS is causal-learn's with λ = 2: the
same score. The order search (`cosmodag.order`, with the parents of the result polished up to
POLISHED variables, as the learners do) starts from the learners' order that does not depend on
units (`scale_free_order`), and restarts until the longest FLOP run's time is over. "In the same
time" is the best graph of the orders that it had found, and polished, when the CPU time of the
rival was over; not polished, where there was no time for that.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from cosmodag.engines import Failure, each
from cosmodag.graph.equivalence import class_distance
from cosmodag.order import choose_parents
from cosmodag.order.problem import problem_of
from cosmodag.order.restarts import Climb
from cosmodag.order.search import FINALISTS
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.polish import POLISHED_UP_TO, polish
from cosmodag.refinement.starts import scale_free_order
from environment import Kept, header, is_first, table, verdict, with_error
from search_tables import BY_NAME, CELLS, member, referee, simulated

__doc__ = (__doc__ or "").replace("POLISHED", str(POLISHED_UP_TO))

FIRST_SEED = 900_000
COLUMNS = ("cell", "number", "arm", "seconds", "bic", "class_distance")
OURS, BOSS = "order search", "BOSS"
# Most points of a curve of one table.
POINTS = 40
COLOURS = {"flop 0": "tab:orange", "flop 20": "tab:red", "flop 100": "tab:green", BOSS: "tab:gray"}


def measure(task: tuple[str, int, bool, float]) -> list[dict[str, object]]:
    """Points of one table: arm, CPU seconds, BIC above the truth's, class distance.

    None after the time at which the last table may begin.
    """
    name, number, with_boss, end = task
    if time.time() > end:
        return []
    cell = BY_NAME[name]
    truth, X = simulated(cell, FIRST_SEED + number)
    least = referee(X, truth)
    if is_first("warm"):
        _follow(np.random.default_rng(0).normal(size=(50, 5)), 0, 0.0)

    def point(arm: str, seconds: float, graph: np.ndarray) -> dict[str, object]:
        bic, distance = referee(X, graph) - least, class_distance(truth, graph)
        values = (name, number, arm, round(seconds, 4), round(bic, 3), distance)
        return dict(zip(COLUMNS, values, strict=True))

    if with_boss:
        seconds, graph = _boss(X)
        return [point(BOSS, seconds, graph)]
    points = []
    for restarts in cell.flop:
        seconds, graph = _flop(X, restarts)
        points.append(point(f"flop {restarts}", seconds, graph))
    moments, history = _follow(X, number, max(float(str(p["seconds"])) for p in points))
    _, polishing = _graph_on(moments, history[-1][1])
    for rival in list(points):
        limit = float(str(rival["seconds"]))
        finalists, with_polish = _finalists(history, limit, polishing)
        if finalists:
            graphs = (_graph_on(moments, order, with_polish)[0] for order in finalists)
            best = min(graphs, key=lambda graph: referee(X, graph))
            points.append(point(f"{OURS} in the time of {rival['arm']}", limit, best))
    chosen = np.unique(np.geomspace(1, len(history), POINTS).astype(int) - 1)
    for seconds, order in (history[i] for i in chosen):
        points.append(point(OURS, seconds + polishing, _graph_on(moments, order)[0]))
    return points


def _finalists(
    history: list[tuple[float, np.ndarray]], limit: float, polishing: float
) -> tuple[list[np.ndarray], bool]:
    """Orders that can be found and polished in time, up to as many as `search` polishes.

    Where there is time for none, the last that can be found, and that it is not polished.
    """
    for count in range(FINALISTS if polishing else 1, 0, -1):
        orders = [order for seconds, order in history if seconds + count * polishing <= limit]
        if orders:
            return orders[-count:], True
    return [order for seconds, order in history if seconds <= limit][-1:], False


def _follow(
    X: np.ndarray, seed: int, limit: float
) -> tuple[Moments, list[tuple[float, np.ndarray]]]:
    """Search for so many CPU seconds; give the moments, and when which order became the best."""
    begin = time.process_time()
    moments = Moments.of(X)
    penalty = float(np.log(len(X)))
    start = scale_free_order(moments, penalty)
    history: list[tuple[float, np.ndarray]] = []
    best = -np.inf

    def note(_: int, score: float) -> None:
        nonlocal best
        if score > best:
            best = score
            history.append((time.process_time() - begin, climb.best.copy()))

    climb = Climb(
        lambda function, items: list(map(function, items)),
        1,
        np.random.default_rng(seed),
        lambda: bool(history) and time.process_time() - begin > limit,
        note,
        penalty,
    )
    local = climb.search(problem_of(moments, penalty), start)
    climb.restart(local, 1_000_000, 1_000_000)
    return moments, history


def _graph_on(
    moments: Moments, order: np.ndarray, with_polish: bool = True
) -> tuple[np.ndarray, float]:
    """Arcs on an order as the learners choose them, and the CPU seconds that polishing takes."""
    penalty = float(np.log(moments.rows[0]))
    graph = choose_parents(moments, order, penalty=penalty, threads=1)
    if moments.variables > POLISHED_UP_TO or not with_polish:
        return graph.adjacency().toarray(), 0.0
    begin = time.process_time()
    graph = polish(moments, order, graph, score="gaussian", penalty=penalty)
    return graph.adjacency().toarray(), time.process_time() - begin


def _flop(X: np.ndarray, restarts: int) -> tuple[float, np.ndarray]:
    from flopsearch import flop

    begin = time.process_time()
    cpdag = np.asarray(flop(X, 2.0, restarts=restarts))
    return time.process_time() - begin, member(cpdag)


def _boss(X: np.ndarray) -> tuple[float, np.ndarray]:
    from causallearn.search.PermutationBased.BOSS import boss

    begin = time.process_time()
    found = boss(X, parameters={"lambda_value": 2}, verbose=False).graph
    seconds = time.process_time() - begin
    # -1 at [i, j] is a tail at i: i → j where [j, i] is 1, i — j where it is -1.
    tails = np.asarray(found).T == -1
    cpdag = np.where((found == -1) & (found.T == 1), 1, 0) + 2 * ((found == -1) & tails)
    return seconds, member(cpdag)


def rows_of(points: list[dict[str, str]]) -> list[list[object]]:
    """One row per kind of table and rival."""
    rows: list[list[object]] = []
    by_arm: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for point in points:
        by_arm.setdefault((point["cell"], point["arm"]), {})[point["number"]] = point
    for (cell, arm), theirs in by_arm.items():
        if not arm.startswith(("flop", BOSS)):
            continue
        ours = by_arm.get((cell, f"{OURS} in the time of {arm}"), {})
        bic = [float(point["bic"]) for point in theirs.values()]
        row: list[object] = [cell, len(theirs), arm, _mean(theirs, "seconds"), with_error(bic, 1)]
        row.append(_mean(theirs, "class_distance", 1))
        if arm == BOSS:
            row += ["", "", ""]
        elif len(ours) < len(theirs):
            row += [f"none yet on {len(theirs) - len(ours)}", "", verdict(False)]
        else:
            mine = [float(point["bic"]) for point in ours.values()]
            row += [with_error(mine, 1), _mean(ours, "class_distance", 1)]
            row.append(verdict(np.mean(mine) <= np.mean(bic) + 0.05))
        rows.append(row)
    places = {cell.name: place for place, cell in enumerate(CELLS)}
    return sorted(rows, key=lambda row: places[str(row[0])])


def _mean(points: dict[str, dict[str, str]], column: str, digits: int = 2) -> str:
    return f"{np.mean([float(point[column]) for point in points.values()]):.{digits}f}"


def draw(points: list[dict[str, str]], path: Path) -> None:
    """BIC against CPU seconds: a curve for the order search, a point for each rival."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    cells = [cell.name for cell in CELLS if any(p["cell"] == cell.name for p in points)]
    columns = 4
    lines = -(-len(cells) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4 * columns, 3 * lines), squeeze=False)
    for axis, cell in zip(axes.flat, cells, strict=False):
        here = [point for point in points if point["cell"] == cell]
        last = max(float(p["seconds"]) for p in here)
        axis.plot(*_curve([p for p in here if p["arm"] == OURS], last), label=OURS)
        for arm, colour in COLOURS.items():
            theirs = {p["number"]: p for p in here if p["arm"] == arm}
            if theirs:
                place = float(_mean(theirs, "seconds", 4)), float(_mean(theirs, "bic", 3))
                axis.plot(*place, "o", color=colour, label=arm, clip_on=False)
        axis.set(xscale="log", yscale="symlog")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.margins(0.08)
        axis.set_title(cell, fontsize=8)
        axis.legend(fontsize=6)
    for axis in list(axes.flat)[len(cells) :]:
        axis.set_visible(False)
    figure.supxlabel("CPU seconds, one core")
    figure.supylabel("referee BIC above the true graph's (symmetric logarithm)")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _curve(points: list[dict[str, str]], last: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean best BIC by CPU seconds, from when every table has one until the last rival ends."""
    tables: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        tables.setdefault(point["number"], []).append(
            (float(point["seconds"]), float(point["bic"]))
        )
    first = max(min(seconds for seconds, _ in table) for table in tables.values())
    grid = np.geomspace(first, max(last, 1.01 * first), 60)
    means = [
        np.mean([min(bic for s, bic in table if s <= seconds + 1e-9) for table in tables.values()])
        for seconds in grid
    ]
    return grid, np.array(means)


def _tasks(options: argparse.Namespace, kept: Kept) -> list[tuple[str, int, bool, float]]:
    """Tables that are wanted and not done, the largest first."""
    end = time.time() + options.limit
    if options.boss:
        name = next(cell.name for cell in CELLS if cell.rows == 1000)
        numbers = range(options.boss)
        return [(name, k, True, end) for k in numbers if not kept.is_done(name, k, BOSS)]
    return [
        (cell.name, number, False, end)
        for cell in sorted(CELLS, key=lambda cell: -cell.variables * max(cell.degree, 1))
        if cell.variables <= options.largest
        if not options.only or any(word in cell.name for word in options.only)
        for number in range(min(cell.tables, options.tables))
        if not kept.is_done(cell.name, number, "flop 0")
    ]


def main() -> None:
    """Measure, and write the points as they come, then the page and the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=10, help="most tables of a row")
    parser.add_argument("--largest", type=int, default=1000, help="most variables")
    parser.add_argument("--only", nargs="*", help="parts of the names of the kinds to measure")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds for tables to begin in")
    parser.add_argument("--boss", type=int, default=0, help="tables of the first row for BOSS")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    resume = options.resume or options.render or options.boss > 0
    kept = Kept(options.output / "search.csv", COLUMNS, 3, resume)
    tasks = [] if options.render else _tasks(options, kept)
    for index, found in each(measure, tasks, jobs=None if options.jobs == 1 else options.jobs):
        if isinstance(found, Failure):
            raise RuntimeError(f"{tasks[index]}: {found.message}")
        for point in found:
            kept.add(**point)
    try:
        draw(kept.rows, options.output / "search.png")
    except ImportError:
        print("No picture without matplotlib: --render makes it elsewhere.")
    columns = ["table", "tables", "rival", "its CPU s", "its BIC", "its class SHD"]
    columns += ["our BIC in the same time", "our class SHD", "no worse"]
    page = [header("Order search against FLOP", ("numba", "numpy", "flopsearch")), __doc__]
    page += [table(columns, rows_of(kept.rows)), "![BIC against time](search.png)", ""]
    (options.output / "search.md").write_text("\n\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
