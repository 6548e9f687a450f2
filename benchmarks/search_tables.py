"""Tables of the comparison of searches, and the referee score of all graphs."""

from dataclasses import dataclass

import numpy as np

# Numbers of parents in local graphs, their probabilities, and the largest distance of a parent.
LOCAL = ((0, 1, 2, 3, 4), (0.25, 0.35, 0.25, 0.1, 0.05), 15)


@dataclass(frozen=True)
class Cell:
    """One kind of table; degree 0 is local."""

    variables: int
    degree: int
    rows: int
    units: str
    tables: int

    @property
    def name(self) -> str:
        """Name of the row on the page."""
        graph = f"degree {self.degree}" if self.degree else "local"
        return f"d={self.variables}; {graph}; n={self.rows}; {self.units}"


# Searches of FLOP: ``flop 20`` makes 20 restarts.
ARMS = ("flop 0", "flop 20", "flop 100")
CELLS = [
    *(Cell(50, k, n, "standardised", 10) for k in (8, 10) for n in (500, 1000, 10_000)),
    Cell(50, 8, 1000, "random units", 10),
    *(Cell(d, 0, n, "random units", 10) for d in (40, 100) for n in (500, 1000)),
    *(Cell(150, 6, n, "standardised", 10) for n in (500, 1000, 10_000)),
    Cell(150, 12, 500, "standardised", 10),
    Cell(150, 12, 1000, "random units", 10),
    Cell(150, 12, 10_000, "standardised", 10),
    Cell(500, 6, 1000, "standardised", 3),
    Cell(1000, 6, 1000, "standardised", 3),
]
BY_NAME = {cell.name: cell for cell in CELLS}
BOSS_CELL = "d=50; degree 8; n=1000; standardised"


def drawn_graph(cell: Cell, random: np.random.Generator) -> np.ndarray:
    """Upper triangular adjacency."""
    d = cell.variables
    if cell.degree:
        return np.triu(random.random((d, d)) < cell.degree / (d - 1), 1)
    counts, shares, reach = LOCAL
    upper = np.zeros((d, d), bool)
    for v in range(d):
        near = np.arange(max(0, v - reach), v)
        size = min(int(random.choice(counts, p=shares)), len(near))
        upper[random.choice(near, size, replace=False), v] = size > 0
    return upper


def simulated(cell: Cell, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Adjacency of a random graph and a table of its linear model."""
    random = np.random.default_rng(seed)
    d = cell.variables
    upper = drawn_graph(cell, random)
    weights = upper * random.uniform(0.25, 1, (d, d)) * random.choice([-1, 1], (d, d))
    noise = random.normal(size=(cell.rows, d)) * random.uniform(0.5, 2, d)
    X = np.linalg.solve((np.eye(d) - weights).T, noise.T).T
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if cell.units != "standardised":
        X *= 10.0 ** random.uniform(-3, 3, d)
    shuffle = random.permutation(d)
    return upper[np.ix_(shuffle, shuffle)], X[:, shuffle]


def referee(X: np.ndarray, adjacency: np.ndarray) -> float:
    """Compute n log RSS + 2 log n per arc, RSS relative to each variable's sum of squares."""
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
    """Return a DAG of the class that FLOP reports, by removing sinks (Dor and Tarsi 1992)."""
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
