"""Tables with few rows: the limit on the number of parents of a variable.

    python benchmarks/few_rows.py --output benchmarks/few_rows.md

`OrderSearch()` is fitted with several limits on the number of parents: as many as the rows allow
(n − 2), and (n − 5) / k for k = 4 (the package's own limit, `gaussian_scores.most_parents`),
5 and 8. Independent columns have no arcs, so every arc found there is false. On tables of random
graphs the error is the structural Hamming distance between the equivalence classes of the true and
the estimated graph, per variable.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag import OrderSearch, metrics, simulate
from cosmodag.errors import CosmodagWarning
from environment import header, table, with_error

FIRST_SEED = 570_000
USERS = ("cosmodag.search.column_problem", "cosmodag.search.polish")
"""Modules that call `most_parents` in a search among columns."""
INDEPENDENT = ((10, 30), (20, 30), (40, 100))
"""Rows and columns of tables without arcs."""
GRAPHS = [(graph, d, n) for graph in ("ER4", "SF2") for d, n in ((100, 60), (300, 120), (300, 200))]
"""Kind of graph, number of variables and of rows."""
Limit = Callable[[ArrayLike], NDArray[np.float64]]


def per_rows(k: int, without: int) -> Limit:
    """Allow (rows − `without`) // k parents, at least one."""
    return lambda rows: np.maximum((np.asarray(rows, float) - without) // k, 1.0)


LIMITS = {
    "n − 2": per_rows(1, 2),
    "(n − 5) / 4": per_rows(4, 5),
    "(n − 5) / 5": per_rows(5, 5),
    "(n − 5) / 8": per_rows(8, 5),
}


@contextmanager
def limited(limit: Limit) -> Iterator[None]:
    """Replace the package's limit on the number of parents."""
    with patch(f"{USERS[0]}.most_parents", limit), patch(f"{USERS[1]}.most_parents", limit):
        yield


def fit(X: NDArray[np.float64], limit: Limit) -> NDArray[np.bool_]:
    """Return the arcs that a search finds."""
    with limited(limit):
        model = OrderSearch(noise="gaussian", random_state=0, verbose=False).fit(X)
    return np.asarray(model.adjacency_ != 0)


def independent_rows(tables: int) -> Iterator[list[object]]:
    """Tabulate the number of arcs found among independent columns."""
    for place, (n, d) in enumerate(INDEPENDENT):
        cells: list[object] = [f"n={n}; d={d}", tables]
        for limit in LIMITS.values():
            found = []
            for number in range(tables):
                random = np.random.default_rng(FIRST_SEED + 1000 * place + number)
                found.append(int(fit(random.normal(size=(n, d)), limit).sum()))
            cells.append(f"{np.mean(found):.1f} ({min(found)} to {max(found)})")
        print(cells, flush=True)
        yield cells


def distance(data: simulate.Dataset, limit: Limit) -> float:
    """Return the distance between the true and the estimated equivalence class, per variable."""
    found = fit(data.X / data.X.std(axis=0), limit)
    return float(metrics.evaluate(data.graph, found, threshold=0.0)["shd_class"])


def graph_rows(tables: int) -> Iterator[list[object]]:
    """Tabulate the distances on tables of random graphs."""
    for place, (graph, d, n) in enumerate(GRAPHS):
        cells: list[object] = [f"{graph}; d={d}; n={n}", tables]
        first = FIRST_SEED + 100_000 + 1000 * place
        drawn = [simulate.load(f"n{n}_d{d}_{graph}_gauss", seed=first + k) for k in range(tables)]
        for limit in LIMITS.values():
            distances = [distance(data, limit) / d for data in drawn]
            cells.append(with_error(np.array(distances), 2))
        print(cells, flush=True)
        yield cells


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10, help="number of tables of each kind")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    text = header("Few rows: the limit on the number of parents", ("numba", "numpy"))
    text += "\n## Arcs among independent columns\n\nMean (range); the true graph has none.\n\n"
    text += table(["data", "tables", *LIMITS], list(independent_rows(options.tables)))
    text += (
        "\n## Distance between equivalence classes, per variable\n\n"
        "Standardised columns, Gaussian noise, mean ± standard error.\n\n"
    )
    text += table(["data", "tables", *LIMITS], list(graph_rows(options.tables)))
    options.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
