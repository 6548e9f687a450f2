"""Tests of graphs: how often they reject correct and wrong graphs, at 1,000 rows.

A wrong graph has a fifth of its arcs reversed or removed at random. If reversed arcs leave the
class of the graph unchanged, no data can detect them: such graphs are drawn again, and counted.
Ten tables test correct and wrong graphs for each table that a graph is learnt from.
"""

import warnings
from typing import Any

import numpy as np

from questions_sections.tables import Curved, linear
from trust_sections.base import Cell, Found, Row

ROWS = 1_000
DRAWS = 10
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
    """Test true graphs and wrong ones, and one learnt graph on new and on its own rows."""
    tested = [_tested(cell, seed * DRAWS + draw) for draw in range(DRAWS)]
    names = dict.fromkeys(name for one in tested for name in one)
    found = {name: float(np.mean([one[name] for one in tested if name in one])) for name in names}
    return found | ({} if cell.settings.get("curved") else _learnt(cell, seed))


def _tested(cell: Cell, seed: int) -> Found:
    """Test the true graph of a table, and wrong ones."""
    from cosmodag.assess import validate_graph

    random = np.random.default_rng(seed + 1)
    if cell.settings.get("curved"):
        equations = Curved.draw(seed, d=10)
        graph, X, test = equations.a != 0, equations.rows(seed + 1, ROWS), "curved"
    else:
        drawn = linear(seed, n=ROWS, **KINDS[cell.settings["kind"]])
        graph, X, test = drawn.graph, drawn.X, "partial-correlation"
    turned, skipped = _reversed(graph, random)
    graphs = {"right": graph, "reversed": turned, "removed": _removed(graph, random)}
    found = {
        name: float(validate_graph(one, X, test=test, shuffles=0).rejected)
        for name, one in graphs.items()
        if one is not None
    }
    return found | {"same class": float(skipped)}


def _learnt(cell: Cell, seed: int) -> Found:
    """Learn a graph, and test it on its own rows and on as many new rows."""
    from cosmodag import OrderSearch

    drawn = linear(seed, n=2 * ROWS, **KINDS[cell.settings["kind"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OrderSearch(random_state=seed, verbose=False).fit(drawn.X[:ROWS])
        new = model.validate(drawn.X[ROWS:], shuffles=20, random_state=seed)
        own = model.validate(shuffles=0)
    return {
        "learnt, new rows": float(new.rejected),
        "learnt, own rows": float(own.rejected),
        "shuffled": new.shuffled_p,
    }


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
    """Rows of the fractions of graphs that are rejected."""
    made: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        for name, figure, target, low, high in (
            ("right", "right graph rejected", "≤ .05", 0.0, 0.05),
            ("reversed", "a fifth of the arcs reversed: rejected", "≥ .8", 0.8, 1.0),
            ("removed", "a fifth of the arcs removed: rejected", "≥ .8", 0.8, 1.0),
            ("learnt, new rows", "learnt graph rejected on new rows", "", None, None),
            ("learnt, own rows", "learnt graph rejected on its own rows", "", None, None),
            (
                "shuffled",
                "share of 20 shuffled graphs that fit as well as the learnt one",
                "",
                None,
                None,
            ),
        ):
            numbers = [one[name] for one in found if name in one]
            if not numbers:
                continue
            share = float(np.mean(numbers))
            met = None if low is None or high is None else low <= share <= high
            note = ""
            if name == "reversed":
                again = DRAWS * sum(one["same class"] for one in found)
                note = f"drawn again because the class was the same: {again:.0f}"
            tables = len(numbers) * (DRAWS if target else 1)
            made.append(Row(cell.section, cell.table, figure, target, share, met, tables, note))
    return made
