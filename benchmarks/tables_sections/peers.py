"""Searches of other packages on the same tables: causal-learn, pgmpy, lingam, gCastle.

Each fit of another package runs in a process of its own, which is stopped after ten minutes of CPU
time. Searches with kernels (`--parts "causal-learn GES kernels,causal-learn PC kernels"`) run on
only one table, and no measurement of them has finished. Packages that fail have no row of errors.
Class errors are defined as in *fits*; for PC they are pairs on which its graph differs from the
class of the truth.
"""

import multiprocessing
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from tables_sections.fits import _codes, _fitted
from tables_sections.generators import GENERATORS, class_errors
from trust_sections.base import Cell, Found, Row, mean_row, values

ABOUT = __doc__.partition("\n\n")[2].strip()


_MODULES = ("pgmpy.estimators", "causallearn.search", "lingam", "castle.algorithms")
LIMIT = 600
"""Limit on the CPU seconds of a peer for one table."""


def cells() -> list[Cell]:
    """List kinds of tables, and the peers that accept them."""
    levels = ["pgmpy BDeu", "pgmpy BIC", "causal-learn GES BDeu", "causal-learn PC chi²"]
    numbers = ["causal-learn GES BIC", "causal-learn PC Fisher z", "lingam DirectLiNGAM"]
    numbers += ["gCastle GES BIC", "gCastle PC Fisher z"]
    kernels = ["causal-learn GES kernels", "causal-learn PC kernels"]
    mixed = [*numbers, *kernels]
    return [
        _cell("categories, added effects, n = 2,000", "all_levels", 2000, levels, {}),
        _cell("categories, random tables, n = 2,000", "level_tables", 2000, levels, {}),
        _cell("mixed, lines, codes", "mixed", 1000, mixed, {"curved": False}),
        _cell("mixed, curves, codes", "mixed", 1000, numbers, {"curved": True}),
        _cell("counts", "counts", 1000, numbers, {"spread": False}),
        _cell("processes", "processes", 1000, numbers, {}),
    ]


def _cell(name: str, generator: str, n: int, peers: list[str], options: dict) -> Cell:
    settings = {"generator": generator, "n": n, "peers": peers, "options": options}
    return Cell("peers", name, settings)


def measure(cell: Cell, seed: int, part: str) -> Found:
    """Fit `BlockSearch`, or a peer, to one table of 20 variables."""
    if part not in (OWN, *cell.settings["peers"]) or (part.endswith("kernels") and seed > 0):
        return {}
    truth, table = _drawn(cell.table, seed)
    if part == OWN:
        _fitted(OWN, table.head(100))
        begin = time.process_time()
        graph = _fitted(OWN, table)
        return _figures(OWN, truth, graph, time.process_time() - begin)
    result = _limited(part, table)
    return {f"{part}: no answer": 1.0} if result is None else _figures(part, truth, *result)


@lru_cache(maxsize=1)
def _drawn(kind: str, seed: int) -> tuple[np.ndarray, Any]:
    """Draw a table once for all of its parts; some tables take longer to draw than to search."""
    (given,) = [cell.settings for cell in cells() if cell.table == kind]
    draw = GENERATORS[given["generator"]]
    return draw(np.random.default_rng(seed), 20, given["n"], **given["options"])


def _figures(name: str, truth: np.ndarray, graph: np.ndarray, seconds: float) -> Found:
    return {f"{name}: class errors": _errors(truth, graph), f"{name}: seconds": seconds}


def _limited(peer: str, table) -> tuple[np.ndarray, float] | None:
    """Run a peer in a process of its own; None if it fails or takes longer than the limit."""
    # The fork server imports the packages once; some take longer to import than to search.
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(list(_MODULES))
    here, there = server.Pipe(duplex=False)
    process = server.Process(target=_run, args=(peer, table, there))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def _run(peer: str, table, answer: Connection) -> None:
    """Send the graph that a peer finds, and its CPU seconds, through the connection."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method = _PEERS[peer]()
            begin = time.process_time()
            graph = method(table)
        answer.send((graph, time.process_time() - begin))
    except Exception:
        print(f"{peer}:\n{traceback.format_exc()}", file=sys.stderr)
        answer.close()


def _errors(truth: np.ndarray, graph: np.ndarray) -> float:
    """Count class errors of a DAG, or of a class with undirected edges in both directions."""
    from scipy import sparse

    from cosmodag.graph.dags import is_dag
    from cosmodag.graph.equivalence import essential_graph

    if is_dag(graph.astype(float)):
        return class_errors(truth, graph)
    one = essential_graph(sparse.csr_array(truth != 0), None).toarray()
    return float(np.triu((one != graph) | (one.T != graph.T), 1).sum())


def _pgmpy(score: str) -> Callable:
    import logging

    from pgmpy.estimators import HillClimbSearch

    logging.disable(logging.WARNING)

    def found(table) -> np.ndarray:
        search = HillClimbSearch(table.astype("category"))
        graph = search.estimate(scoring_method=score, show_progress=False)
        names = {name: place for place, name in enumerate(table)}
        arcs = np.zeros((len(names), len(names)), bool)
        for tail, head in graph.edges():
            arcs[names[tail], names[head]] = True
        return arcs

    return found


def _ges(score: str) -> Callable:
    from causallearn.search.ScoreBased.GES import ges

    return lambda table: _class(ges(_codes(table).to_numpy(), score_func=score)["G"].graph)


def _pc(test: str) -> Callable:
    from causallearn.search.ConstraintBased.PC import pc

    return lambda table: _class(
        pc(_codes(table).to_numpy(), 0.01, test, show_progress=False).G.graph
    )


def _lingam() -> Callable:
    from lingam import DirectLiNGAM

    def found(table) -> np.ndarray:
        model = DirectLiNGAM(random_state=0).fit(_codes(table).to_numpy())
        return np.abs(model.adjacency_matrix_.T) > 0

    return found


def _castle(name: str, **options: str) -> Callable:
    from castle import algorithms

    def found(table) -> np.ndarray:
        model = getattr(algorithms, name)(**options)
        model.learn(_codes(table).to_numpy())
        return np.asarray(model.causal_matrix) != 0

    return found


def _class(marks: np.ndarray) -> np.ndarray:
    """Read causal-learn's marks: −1 a tail, 1 an arrowhead, at [u, v] the mark at u."""
    arrow = (marks == -1) & (marks.T == 1)
    both = (marks == -1) & (marks.T == -1)
    return arrow | both


_PEERS: dict[str, Callable[[], Callable]] = {
    "pgmpy BDeu": lambda: _pgmpy("bdeu"),
    "pgmpy BIC": lambda: _pgmpy("bic-d"),
    "causal-learn GES BDeu": lambda: _ges("local_score_BDeu"),
    "causal-learn GES BIC": lambda: _ges("local_score_BIC"),
    "causal-learn GES kernels": lambda: _ges("local_score_marginal_general"),
    "causal-learn PC chi²": lambda: _pc("chisq"),
    "causal-learn PC Fisher z": lambda: _pc("fisherz"),
    "causal-learn PC kernels": lambda: _pc("kci"),
    "lingam DirectLiNGAM": _lingam,
    "gCastle GES BIC": lambda: _castle("GES", criterion="bic"),
    "gCastle PC Fisher z": lambda: _castle("PC", ci_test="fisherz"),
}
"""By name: a function that imports a peer and returns its function from tables to graphs."""


OWN = "BlockSearch()"
PARTS = (OWN, *_PEERS)


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Make rows of means of the figures; the target is the best peer's."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        errors = [values(found, f"{peer}: class errors") for peer in cell.settings["peers"]]
        best = min((one.mean() for one in errors if len(one)), default=np.inf)
        for name in [OWN, *cell.settings["peers"]]:
            figure = f"{name}: class errors"
            target = ("≤ the best peer", lambda mean, best=best: mean <= best)
            lines += mean_row(cell, found, figure, figure, *(target if name == OWN else ()))
            lines += mean_row(cell, found, f"{name}: seconds", f"{name}: seconds")
            failed = len(values(found, f"{name}: no answer"))
            if failed:
                figure = f"{name}: tables without an answer in 10 CPU minutes"
                lines.append(Row(cell.section, cell.table, figure, "", str(failed), None, failed))
    return lines
