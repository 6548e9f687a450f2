"""Tests of graphs: how often right ones are rejected, and wrong ones, at 1,000 rows.

A wrong graph has a fifth of its arcs reversed or removed at random. Reversed arcs may leave the
class of the graph as it is: no data could tell, and such graphs are drawn again, and counted.
"""

import warnings
from typing import Any

import numpy as np

from questions_sections.tables import Curved, linear
from trust_sections.base import Cell, Found, Row

ROWS = 1_000
KINDS: dict[str, dict[str, Any]] = {
    "ER2 d=20, Gaussian": {"d": 20},
    "ER2 d=10, Gaussian": {"d": 10},
    "ER2 d=20, Laplace": {"d": 20, "noise": "laplace"},
    "ER2 d=20, weak (.1 to .4)": {"d": 20, "weights": (0.1, 0.4)},
}


def cells() -> list[Cell]:
    """Linear tables of several kinds, and curved ones."""
    made = [Cell("validate", name, {"kind": name}) for name in KINDS]
    made.append(Cell("validate", "tanh equations d=10, curved test", {"curved": True}))
    return made


def measure(cell: Cell, seed: int) -> Found:
    """Test the true graph, wrong ones, and a learnt one on new and on its own rows."""
    from cosmodag import OrderSearch
    from cosmodag.assess import validate_graph

    random = np.random.default_rng(seed + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.settings.get("curved"):
            equations = Curved.draw(seed, d=10)
            graph, X, test = equations.a != 0, equations.rows(seed + 1, ROWS), "curved"
        else:
            settings = KINDS[cell.settings["kind"]]
            drawn = linear(seed, n=2 * ROWS, **settings)
            graph, X, test = drawn.graph, drawn.X[:ROWS], "partial-correlation"
        reversed_one, skipped = _reversed(graph, random)
        graphs = {
            "right": graph,
            "reversed": reversed_one,
            "removed": _removed(graph, random),
        }
        found = {
            name: float(validate_graph(one, X, test=test, shuffles=0).rejected)
            for name, one in graphs.items()
            if one is not None
        }
        found["same class"] = float(skipped)
        shuffled = validate_graph(graph, X, test=test, shuffles=20)
        found["shuffled"] = float(shuffled.shuffled_p)
        if test == "curved":
            return found
        model = OrderSearch(random_state=seed, verbose=False).fit(X)
        new = model.validate(drawn.X[ROWS:], shuffles=0, subsets=5, random_state=seed)
        own = model.validate(shuffles=0, subsets=0)
        found |= {"learnt, new rows": float(new.rejected), "learnt, own rows": float(own.rejected)}
        assert new.agreement is not None
        same, opposite, _ = new.agreement
        if same + opposite:
            found["agreement"] = same / (same + opposite)
    return found


def _removed(graph: np.ndarray, random: np.random.Generator) -> np.ndarray:
    tails, heads = np.nonzero(graph)
    gone = random.choice(len(tails), max(1, round(len(tails) / 5)), replace=False)
    wrong = graph.copy()
    wrong[tails[gone], heads[gone]] = False
    return wrong


def _reversed(graph: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray | None, int]:
    """Reverse a fifth of the arcs; graphs with cycles, or of the same class, are drawn again."""
    from cosmodag.graph.dags import is_dag
    from cosmodag.graph.equivalence import class_distance

    tails, heads = np.nonzero(graph)
    skipped = 0
    for _ in range(2_000):
        turned = random.choice(len(tails), max(1, round(len(tails) / 5)), replace=False)
        wrong = graph.copy()
        wrong[tails[turned], heads[turned]] = False
        wrong[heads[turned], tails[turned]] = True
        if not is_dag(wrong):
            continue
        if class_distance(graph, wrong):
            return wrong, skipped
        skipped += 1
    return None, skipped


def rows(cells: list[Cell], results: list[list[Found]]) -> list[Row]:
    """Shares of graphs that are rejected."""
    made: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        for name, figure, target, low, high in (
            ("right", "right graph rejected", "≤ .05", 0.0, 0.05),
            ("reversed", "a fifth of the arcs reversed: rejected", "≥ .8", 0.8, 1.0),
            ("removed", "a fifth of the arcs removed: rejected", "≥ .8", 0.8, 1.0),
            ("learnt, new rows", "learnt graph rejected on new rows", "", None, None),
            ("learnt, own rows", "learnt graph rejected on its own rows", "", None, None),
            ("shuffled", "mean share of shuffled graphs as good as the right one", "", None, None),
            ("agreement", "agreement of fits to subsets of the columns", "", None, None),
        ):
            numbers = [one[name] for one in found if name in one]
            if not numbers:
                continue
            share = float(np.mean(numbers))
            met = None if low is None or high is None else low <= share <= high
            note = ""
            if name == "reversed":
                again = sum(one["same class"] for one in found)
                note = f"drawn again because the class was the same: {again:.0f}"
            made.append(
                Row(cell.section, cell.table, figure, target, share, met, len(numbers), note)
            )
    return made
