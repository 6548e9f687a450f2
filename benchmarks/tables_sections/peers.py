"""Searches of other packages on the same tables: causal-learn (PC, GES), pgmpy (hill climbing).

Peers that are not installed, or that fail, have no row. Class errors as in *fits*; of PC, pairs at
which its graph differs from the class of the truth.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from tables_sections.fits import _codes, _fitted
from tables_sections.generators import GENERATORS, class_errors
from trust_sections.base import Cell, Found, Row, mean_row, values

ABOUT = __doc__.partition("\n\n")[2].strip()


def cells() -> list[Cell]:
    """List kinds of tables, and the peers that can take them."""
    levels = ["pgmpy BDeu", "pgmpy BIC", "causal-learn GES BDeu", "causal-learn PC chi²"]
    numbers = ["causal-learn GES BIC", "causal-learn PC Fisher z"]
    return [
        _cell("categories, added effects, n = 2,000", "all_levels", 2000, levels, {}),
        _cell("categories, random tables, n = 2,000", "level_tables", 2000, levels, {}),
        _cell("mixed, lines, codes", "mixed", 1000, numbers, {"curved": False}),
        _cell("mixed, curves, codes", "mixed", 1000, numbers, {"curved": True}),
        _cell("counts", "counts", 1000, numbers, {"spread": False}),
        _cell("processes", "processes", 1000, numbers, {}),
    ]


def _cell(name: str, generator: str, n: int, peers: list[str], options: dict) -> Cell:
    installed = [peer for peer in peers if find_spec(_PACKAGES[peer.split()[0]]) is not None]
    settings = {"generator": generator, "n": n, "peers": installed, "options": options}
    return Cell("peers", name, settings)


_PACKAGES = {"pgmpy": "pgmpy", "causal-learn": "causallearn"}


def measure(cell: Cell, seed: int) -> Found:
    """Fit `BlockSearch` and the peers to one table of 20 variables."""
    given = cell.settings
    draw = GENERATORS[given["generator"]]
    truth, table = draw(np.random.default_rng(seed), 20, given["n"], **given["options"])
    methods: dict[str, Callable] = {"BlockSearch()": lambda one: _fitted("BlockSearch()", one)}
    methods |= {peer: _PEERS[peer] for peer in given["peers"]}
    found: Found = {}
    _fitted("BlockSearch()", table.head(100))
    for name, method in methods.items():
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = method(table)
        found[f"{name}: seconds"] = time.process_time() - begin
        found[f"{name}: class errors"] = _errors(truth, graph)
    return found


def _errors(truth: np.ndarray, graph: np.ndarray) -> float:
    """Compare with a DAG, or with a class whose open edges stand in both directions."""
    from scipy import sparse

    from cosmodag.graph.dags import is_dag
    from cosmodag.graph.equivalence import essential_graph

    if is_dag(graph.astype(float)):
        return class_errors(truth, graph)
    one = essential_graph(sparse.csr_array(truth != 0), None).toarray()
    return float(np.triu((one != graph) | (one.T != graph.T), 1).sum())


def _pgmpy(table, score: str) -> np.ndarray:
    import logging

    from pgmpy.estimators import HillClimbSearch

    logging.disable(logging.WARNING)
    search = HillClimbSearch(table.astype("category"))
    graph = search.estimate(scoring_method=score, show_progress=False)
    names = {name: place for place, name in enumerate(table)}
    arcs = np.zeros((len(names), len(names)), bool)
    for tail, head in graph.edges():
        arcs[names[tail], names[head]] = True
    return arcs


def _ges(table, score: str) -> np.ndarray:
    from causallearn.search.ScoreBased.GES import ges

    return _class(ges(_codes(table).to_numpy(), score_func=score)["G"].graph)


def _pc(table, test: str) -> np.ndarray:
    from causallearn.search.ConstraintBased.PC import pc

    found = pc(_codes(table).to_numpy(), 0.01, test, show_progress=False)
    return _class(found.G.graph)


def _class(marks: np.ndarray) -> np.ndarray:
    """Read causal-learn's marks: −1 a tail, 1 an arrowhead, at [u, v] the mark at u."""
    arrow = (marks == -1) & (marks.T == 1)
    both = (marks == -1) & (marks.T == -1)
    return arrow | both


_PEERS: dict[str, Callable] = {
    "pgmpy BDeu": lambda table: _pgmpy(table, "bdeu"),
    "pgmpy BIC": lambda table: _pgmpy(table, "bic-d"),
    "causal-learn GES BDeu": lambda table: _ges(table, "local_score_BDeu"),
    "causal-learn GES BIC": lambda table: _ges(table, "local_score_BIC"),
    "causal-learn PC chi²": lambda table: _pc(table, "chisq"),
    "causal-learn PC Fisher z": lambda table: _pc(table, "fisherz"),
}


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Give means of figures; ours must not be worse than the best peer's."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        peers = [peer for peer in cell.settings["peers"] if found]
        best = min((values(found, f"{peer}: class errors").mean() for peer in peers), default=None)
        for name in ["BlockSearch()", *peers]:
            figure = f"{name}: class errors"
            if name == "BlockSearch()" and best is not None:
                words = ("≤ the best peer", lambda mean, best=best: mean <= best)
                lines += mean_row(cell, found, figure, figure, *words)
            else:
                lines += mean_row(cell, found, figure, figure)
            lines += mean_row(cell, found, f"{name}: seconds", f"{name}: seconds")
    return lines
