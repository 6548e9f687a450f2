"""Order search compared with FLOP and BOSS: one referee BIC for all, by CPU seconds.

    python benchmarks/search.py --jobs 16             search.csv, search.md, search.png
    python benchmarks/search.py --jobs 16 --resume    continues an interrupted run
    python benchmarks/search.py --only "d=150" --rivals "flop 0" "flop 20" --limit 500
                                                      some kinds of tables and searches of FLOP;
                                                      leaves out what cannot end within the limit
    python benchmarks/search.py --only "d=500" --share 0.25
                                                      gives the order search a quarter of the time
                                                      of the longest search of FLOP
    python benchmarks/search.py --ours                repeats the order search where FLOP has run
    python benchmarks/search.py --render              writes page and picture from search.csv
    python benchmarks/search.py --boss 2              adds causal-learn's BOSS on two tables

Coefficients ±U(.25, 1), noise of standard deviation U(.5, 2), columns standardised or in random
units. Graphs are random (a degree is given) or local: 0 to 4 parents each (.25, .35, .25, .1, .05),
among the 15 variables before, as in published networks. All searches of one table run one after
another in one process on one thread (with `--ours`, FLOP's earlier times on this machine are used);
new measurements replace old ones of the same search. The last column has the date of a row, the
list above the machine.

The referee score is n log RSS + 2 log n per arc, summed over variables, minus that of the true
graph: lower is better. FLOP is `flopsearch` of PyPI with λ = 2 and 0, 20 or 100 restarts; BOSS is
causal-learn's with λ = 2, the same score. The order search (`cosmodag.search`) polishes the parents
of its result up to POLISHED variables, as the learners do. It starts from the learners' order that
does not depend on units (`scale_free_order`), and restarts until the CPU time of the longest FLOP
run, or the given fraction of it, is over. "In the same time" is the best graph of the orders that
it had found and polished when the CPU time of the rival was over. Up to SHARE of the time is
reserved for polishing up to FINALISTS orders; if one takes longer, the last order is not polished.
Orders of 150 variables were not polished in the rows of degree 6, in those of degree
12 with 500 rows, and in seven tables of degree 12 with 1,000 rows.
"""

import argparse
import datetime
import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cosmodag.graph.equivalence import class_distance
from cosmodag.runtime.engines import Failure, each
from cosmodag.search import choose_parents
from cosmodag.search.column_problem import problem_of
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.column_search import FINALISTS, ColumnClimb
from cosmodag.search.local import Pool
from cosmodag.search.moments import Moments
from cosmodag.search.polish import POLISHED_UP_TO, polish
from cosmodag.search.search_run import Run, unreported
from cosmodag.search.starts.orders import scale_free_order
from cosmodag.search.wide import LARGE, search_large
from environment import is_first, machine, versions
from search_page import BOSS, OURS, write_page
from search_points import COLUMNS, read_points, replace_points
from search_tables import ARMS, BOSS_CELL, BY_NAME, CELLS, Cell, member, referee, simulated

FIRST_SEED = 900_000
TODAY = datetime.date.today().isoformat()
MACHINE = f"{machine()}; {versions(('numba', 'numpy', 'flopsearch'))}"
# Maximum number of points on the curve of a table, up to and above 150 variables.
POINTS, POINTS_OF_LARGE = 40, 10
# Fraction of the time for polishing; if polishing one order takes longer, none is polished.
SHARE_OF_POLISHING = 0.3
# Expected time of an order search with its graphs, relative to the longest search of a rival.
AFTERWARDS = 1.3

__doc__ = (__doc__ or "").replace("POLISHED", str(POLISHED_UP_TO))
__doc__ = __doc__.replace("SHARE", f"{SHARE_OF_POLISHING:.0%}").replace("FINALISTS", str(FINALISTS))


class Task(NamedTuple):
    """All searches of one table."""

    cell: str
    number: int
    arms: tuple[str, ...]  # of rivals
    known: dict[str, float]  # CPU seconds of rivals that are not run again
    seconds: float  # expected duration
    end: float  # latest end, as `time.time()`
    share: float  # time of the order search, relative to the longest search of a rival


def measure(task: Task) -> list[dict[str, object]]:
    """Points of one table: arm, CPU seconds, BIC above the truth's, class distance.

    Empty if the searches would not end in time.
    """
    if time.time() + task.seconds > task.end:
        return []
    cell = BY_NAME[task.cell]
    truth, X = simulated(cell, FIRST_SEED + task.number)
    least = referee(X, truth)
    load = round(os.getloadavg()[0], 1)
    points: list[dict[str, object]] = []

    def note(arm: str, seconds: float, graph: np.ndarray) -> None:
        bic, distance = referee(X, graph) - least, class_distance(truth, graph)
        values = (task.cell, task.number, arm, round(seconds, 4), round(bic, 3), distance)
        points.append(dict(zip(COLUMNS, (*values, TODAY, MACHINE, load), strict=True)))

    if is_first("warm"):
        _follow(np.random.default_rng(0).normal(size=(50, 5)), 0, 0.0)
    rivals = dict(task.known)
    for arm in task.arms:
        rivals[arm], graph = _boss(X) if arm == BOSS else _flop(X, arm)
        note(arm, rivals[arm], graph)
    if BOSS in rivals:
        return points
    moments, history = _follow(X, task.number, task.share * max(rivals.values()))
    _, polishing = _graph_on(moments, history[-1][1])
    for arm, limit in rivals.items():
        finalists, with_polish = _finalists(history, limit, polishing)
        if finalists:
            graphs = (_graph_on(moments, order, with_polish)[0] for order in finalists)
            best = min(graphs, key=lambda graph: referee(X, graph))
            note(f"{OURS} in the time of {arm}", limit, best)
    most = POINTS if cell.variables <= 150 else POINTS_OF_LARGE
    for i in np.unique(np.geomspace(1, len(history), most).astype(int) - 1):
        seconds, order = history[i]
        note(OURS, seconds + polishing, _graph_on(moments, order)[0])
    return points


def _finalists(
    history: list[tuple[float, np.ndarray]], limit: float, polishing: float
) -> tuple[list[np.ndarray], bool]:
    """Orders to polish when the time is over, and whether there is time for polishing.

    Polishing gets a fraction of the time, at most enough for the number of orders that `search`
    polishes.
    """
    count = min(FINALISTS, int(SHARE_OF_POLISHING * limit / polishing)) if polishing else 1
    orders = [order for seconds, order in history if seconds + count * polishing <= limit]
    return orders[-max(count, 1) :], count > 0


def _follow(
    X: np.ndarray, seed: int, limit: float
) -> tuple[Moments, list[tuple[float, np.ndarray]]]:
    """Search for some CPU seconds; return the moments, and each best order with its time."""
    begin = time.process_time()
    moments = Moments.of(X)
    penalty = float(np.log(len(X)))
    start = scale_free_order(moments, penalty)
    random = np.random.default_rng(seed)
    history: list[tuple[float, np.ndarray]] = []
    best = -np.inf

    def has_to_stop() -> bool:
        return bool(history) and time.process_time() - begin > limit

    def note(_: int, score: float) -> None:
        nonlocal best
        if score > best:
            best = score
            history.append((time.process_time() - begin, climb.best.copy()))

    run = Run(random, patience=1_000_000, threads=1, should_stop=has_to_stop, on_progress=note)
    pool = Pool(lambda function, items: list(map(function, items)), 1, has_to_stop)
    climb = ColumnClimb(run, pool, penalty)
    if moments.variables >= LARGE:
        history.append((time.process_time() - begin, start))
        start = search_large(
            ColumnScore.of(moments, penalty=penalty), start, replace(run, on_progress=unreported)
        ).order
    local = climb.search(problem_of(moments, penalty), start)
    climb.restart(local, 1_000_000)
    return moments, history


def _graph_on(
    moments: Moments, order: np.ndarray, with_polish: bool = True
) -> tuple[np.ndarray, float]:
    """Choose the arcs of an order as the learners do; return them and the CPU time of polishing."""
    penalty = float(np.log(moments.rows[0]))
    graph = choose_parents(moments, order, penalty=penalty, threads=1)
    if moments.variables > POLISHED_UP_TO or not with_polish:
        return graph.adjacency().toarray(), 0.0
    begin = time.process_time()
    graph = polish(moments, order, graph, score="gaussian", penalty=penalty)
    return graph.adjacency().toarray(), time.process_time() - begin


def _flop(X: np.ndarray, arm: str) -> tuple[float, np.ndarray]:
    """Search by FLOP; ``flop 20`` restarts 20 times."""
    from flopsearch import flop

    restarts = int(arm.removeprefix("flop "))
    begin = time.process_time()
    cpdag = np.asarray(flop(X, 2.0, restarts=restarts))
    return time.process_time() - begin, member(cpdag)


def _boss(X: np.ndarray) -> tuple[float, np.ndarray]:
    from causallearn.search.PermutationBased.BOSS import boss

    begin = time.process_time()
    found = boss(X, parameters={"lambda_value": 2}, verbose=False).graph
    seconds = time.process_time() - begin
    # -1 at [i, j] is a tail at i: the edge is i → j if [j, i] is 1, and i — j if [j, i] is -1.
    tails = np.asarray(found).T == -1
    cpdag = np.where((found == -1) & (found.T == 1), 1, 0) + 2 * ((found == -1) & tails)
    return seconds, member(cpdag)


def _tasks(options: argparse.Namespace, points: list[dict[str, str]]) -> list[Task]:
    """List the requested tables, those with the longest known times first."""
    end = time.time() + options.limit
    longest: dict[tuple[str, str], float] = {}
    here: dict[tuple[str, int, str], float] = {}
    for row in points:
        key, seconds = (row["cell"], row["arm"]), float(row["seconds"])
        longest[key] = max(longest.get(key, 0.0), seconds)
        if row["machine"] == MACHINE:
            here[row["cell"], int(row["number"]), row["arm"]] = seconds
    tasks = []
    for cell in filter(partial(_is_wanted, options), CELLS):
        arms = (BOSS,) if options.boss else tuple(options.rivals)
        expected = [longest.get((cell.name, arm), 0.0) for arm in arms]
        seconds = sum(expected) + AFTERWARDS * options.share * max(expected, default=0.0)
        for number in range(options.first, min(cell.tables, options.boss or options.tables)):
            keys = {arm: (cell.name, number, arm) for arm in arms}
            known = {arm: here[key] for arm, key in keys.items() if key in here}
            if options.ours and known:
                tasks.append(Task(cell.name, number, (), known, seconds, end, options.share))
            elif not options.ours and not (options.resume and len(known) == len(arms)):
                tasks.append(Task(cell.name, number, arms, {}, seconds, end, options.share))
    return sorted(tasks, key=lambda task: -task.seconds)


def _is_wanted(options: argparse.Namespace, cell: Cell) -> bool:
    if options.boss:
        return cell.name == BOSS_CELL
    is_named = not options.only or any(f"{word};" in f"{cell.name};" for word in options.only)
    return cell.variables <= options.largest and is_named


def main() -> None:
    """Measure, write the points as they come, then the page and the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=10, help="maximum number of tables of a row")
    parser.add_argument("--largest", type=int, default=1000, help="maximum number of variables")
    parser.add_argument("--only", nargs="*", help="parts of names of kinds: d=50, local, n=500")
    parser.add_argument(
        "--limit", type=float, default=1e9, help="seconds after which no search may end"
    )
    parser.add_argument("--rivals", nargs="*", choices=ARMS, default=ARMS, help="searches of FLOP")
    parser.add_argument(
        "--share", type=float, default=1.0, help="time of the order search, relative to FLOP's"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first table of a row")
    parser.add_argument("--boss", type=int, default=0, help="number of tables of one row for BOSS")
    parser.add_argument("--ours", action="store_true", help="repeat only the order search")
    parser.add_argument("--resume", action="store_true", help="only tables without points")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    path = options.output / "search.csv"
    tasks = [] if options.render else _tasks(options, read_points(path))
    for index, found in each(measure, tasks, jobs=None if options.jobs == 1 else options.jobs):
        if isinstance(found, Failure):
            raise RuntimeError(f"{tasks[index]}: {found.message}")
        replace_points(path, found)
    write_page(read_points(path), __doc__, options.output)


if __name__ == "__main__":
    main()
