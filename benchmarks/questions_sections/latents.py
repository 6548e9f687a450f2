"""Hidden common causes: marks of the partial ancestral graph, compared with FCI on the same tables.

    python benchmarks/questions_sections/latents.py --tables 20 --cells 0     prints some cells

Random DAGs over 24 variables, four of them hidden, each with at least two effects; the truth is the
partial ancestral graph by definition. A mark counts as found if the true graph has the same mark
at the same end of the same edge. Precision and recall are pooled over tables. Figures of each
table: for every method and mark the numbers of correct, found and true marks, and CPU seconds.

`pag_` is `OrderSearch(noise="gaussian").fit(X).pag_`. `read off` and `tests` start from the same
graph: `read off` takes the class of the DAG without a search for ↔, `tests` removes edges by FCI's
tests at a level of .01. FCI is causal-learn's, with Fisher's z at levels of .01 and .05.
"""

import argparse
import contextlib
import io
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cosmodag.search.column_score import ColumnScore
from cosmodag.search.search_run import Run
from trust_sections.base import Cell, Found, Row, values

SECTION = "latents"
FIRST_SEED = 52_000

OBSERVED, HIDDEN, DEGREE = 20, 4, 3.0
MARKS = {"arrowheads": 2, "tails": 3}
LEVELS = (0.01, 0.05)


def cells() -> list[Cell]:
    """Tables with four hidden variables, and tables without."""
    found = []
    for n in (1_000, 10_000):
        settings = {"n": n, "hidden": HIDDEN}
        found.append(Cell(SECTION, f"{OBSERVED} observed, {HIDDEN} hidden, n={n:,}", settings))
    for n in (1_000, 10_000):
        found.append(
            Cell(SECTION, f"{OBSERVED} observed, none hidden, n={n:,}", {"n": n, "hidden": 0})
        )
    return found


def measure(cell: Cell, seed: int) -> Found:
    """Draw a table, and compare the marks of every method with the true ones."""
    from cosmodag import OrderSearch
    from cosmodag.graph.mixed.ancestral import ancestral_graph, pag_of_ancestral_graph, pag_of_dag
    from cosmodag.search.ancestral import pag_by_tests
    from cosmodag.search.moments import Moments

    random = np.random.default_rng([seed, *cell.table.encode()])
    arcs, observed, X = draw(random, cell.settings["n"], cell.settings["hidden"])
    truth = pag_of_ancestral_graph(ancestral_graph(arcs, observed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up()
        begin = time.process_time()
        model = OrderSearch(noise="gaussian", random_state=seed).fit(X)
        fitted = time.process_time()
        marks = {"pag_": model.pag_.marks}
        done = time.process_time()
        found = {"seconds of pag_": done - begin, "seconds of the attribute": done - fitted}
        found["seconds of search and graph"] = _seconds_of_search(X, seed)
        dag = model.adjacency_ != 0
        marks["read off"] = pag_of_dag(dag)
        marks["tests"] = pag_by_tests(Moments.of(X), dag)
        for level in LEVELS:
            graph = _fci(X, level)
            if graph is not None:
                marks[f"FCI {level}"], found[f"seconds of FCI {level}"] = graph
    for name, given in marks.items():
        for mark, value in MARKS.items():
            found[f"{name}, {mark} right"] = float(((given == value) & (truth == value)).sum())
            found[f"{name}, {mark} found"] = float((given == value).sum())
            found[f"{name}, {mark} true"] = float((truth == value).sum())
        found[f"{name}, edges right"] = float(((given != 0) & (truth != 0)).sum())
        found[f"{name}, edges found"] = float((given != 0).sum())
        found[f"{name}, edges true"] = float((truth != 0).sum())
    either = (marks["pag_"] != 0) | (marks["read off"] != 0)
    agree = marks["pag_"] == marks["read off"]
    found["agrees with the class"] = float(agree[either].mean()) if either.any() else 1.0
    return found


def draw(
    random: np.random.Generator, n: int, hidden: int
) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Draw a DAG, the observed variables, and their table; hidden ones have two or more effects."""
    d = OBSERVED + hidden
    while True:
        arcs = np.triu(random.random((d, d)) < DEGREE / (d - 1), 1)
        order = random.permutation(d)
        arcs = arcs[np.ix_(order, order)]
        common = np.flatnonzero(arcs.sum(axis=1) >= 2)
        if len(common) >= hidden:
            break
    left_out = set(random.choice(common, hidden, replace=False).tolist())
    observed = [v for v in range(d) if v not in left_out]
    weights = arcs * random.uniform(0.4, 1.2, arcs.shape) * random.choice([-1, 1], arcs.shape)
    noise = random.normal(size=(n, d)) * random.uniform(0.5, 1.5, d)
    X = (noise @ np.linalg.inv(np.eye(d) - weights))[:, observed]
    return arcs, observed, X / X.std(axis=0)


def _seconds_of_search(X: np.ndarray, seed: int) -> float:
    """CPU seconds from the table to the graph, without a fit's diagnosis of the table."""
    from cosmodag.search import search
    from cosmodag.search.ancestral import pag_by_score
    from cosmodag.search.moments import Moments

    begin = time.process_time()
    moments, random = Moments.of(X), np.random.default_rng(seed)
    # FCI uses one thread too.
    found = search(ColumnScore.of(moments), random.permutation(X.shape[1]), Run(random, threads=1))
    pag_by_score(moments, found.graph.adjacency().toarray())
    return time.process_time() - begin


_warmed: list[bool] = []


def _warm_up() -> None:
    """Compile and import everything before the first measurement."""
    if not _warmed:
        from cosmodag import OrderSearch

        table = np.random.default_rng(0).normal(size=(99, 5))
        _ = OrderSearch(noise="gaussian", random_state=0).fit(table).pag_
        _fci(table, 0.05)
        _seconds_of_search(table, 0)
        _warmed.append(True)


def _fci(X: np.ndarray, level: float) -> tuple[np.ndarray, float] | None:
    """Run causal-learn's FCI; return its marks and CPU seconds, or None if not installed."""
    try:
        from causallearn.search.ConstraintBased.FCI import fci
    except ImportError:
        return None
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        begin = time.process_time()
        graph, _ = fci(X, "fisherz", level, verbose=False, show_progress=False)
        seconds = time.process_time() - begin
    # causal-learn writes the mark at u of the edge u–v at [u, v]: −1 tail, 1 arrowhead, 2 circle.
    given = graph.graph.T
    marks = np.zeros(given.shape, np.int8)
    for theirs, ours in ((-1, 3), (1, 2), (2, 1)):
        marks[given == theirs] = ours
    return marks, seconds


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Precision and recall of marks for every method, times, and agreement with the class."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if not found:
            continue
        for mark in (*MARKS, "edges"):
            for figure, base in (("precision", "found"), ("recall", "true")):
                lines.append(_compared(cell, found, mark, figure, base))
        lines += _times(cell, found)
        if not cell.settings["hidden"]:
            same = values(found, "agrees with the class")
            lines.append(
                Row(
                    SECTION,
                    cell.table,
                    "share of marks that agree with the class of the found DAG",
                    "≥ .9",
                    float(same.mean()),
                    bool(same.mean() >= 0.9),
                    len(same),
                )
            )
    return lines


def _pooled(found: Sequence[Found], name: str, mark: str, base: str) -> float:
    right, of = (values(found, f"{name}, {mark} {what}").sum() for what in ("right", base))
    return float(right / of) if of else float("nan")


def _compared(cell: Cell, found: Sequence[Found], mark: str, figure: str, base: str) -> Row:
    """One figure of `pag_`, with those of the other methods in the note."""
    others = [f"FCI {level}" for level in LEVELS if f"seconds of FCI {level}" in found[0]]
    figures = {
        name: _pooled(found, name, mark, base) for name in ("pag_", "read off", "tests", *others)
    }
    note = ", ".join(f"{name} {value:.3f}" for name, value in figures.items() if name != "pag_")
    best = max((figures[name] for name in others), default=float("nan"))
    has_target = bool(others) and mark in MARKS
    met = bool(figures["pag_"] >= best) if has_target and np.isfinite(best) else None
    target = f"≥ {best:.3f} (FCI)" if met is not None else ""
    return Row(
        SECTION, cell.table, f"{figure} of {mark}", target, figures["pag_"], met, len(found), note
    )


def _times(cell: Cell, found: Sequence[Found]) -> list[Row]:
    """CPU time of FCI over that of search and graph, and over that of a fit and `pag_`."""
    ways = {
        "search and graph": "seconds of search and graph",
        "fit with its diagnosis, and `pag_`": "seconds of pag_",
    }
    lines = []
    for level in LEVELS:
        theirs = values(found, f"seconds of FCI {level}")
        for way, name in ways.items() if len(theirs) else ():
            own = values(found, name)
            ratio = float(np.median(theirs / own))
            figure = f"CPU time of FCI at {level} over that of {way}, median"
            told = f"{np.median(own):.3f} s, FCI {np.median(theirs):.3f} s"
            row = Row(SECTION, cell.table, figure, "≥ 10", ratio, ratio >= 10, len(theirs), told)
            lines.append(row)
    return lines


def main() -> None:
    """Measure this section, or some of its cells, and print the rows."""
    parser = argparse.ArgumentParser(description="Hidden common causes.")
    parser.add_argument("--tables", type=int, default=2)
    parser.add_argument("--cells", default="0,1,2,3", help="numbers, separated by commas")
    given = parser.parse_args()
    chosen = [cells()[int(number)] for number in given.cells.split(",")]
    seeds = range(FIRST_SEED, FIRST_SEED + given.tables)
    results = [[measure(cell, seed) for seed in seeds] for cell in chosen]
    for row in rows(chosen, results):
        shown = f"{row.now:.3f}" if isinstance(row.now, float) else row.now
        print(f"{row.table} | {row.figure} | {shown} | {row.target} | {row.met} | {row.note}")


if __name__ == "__main__":
    main()
