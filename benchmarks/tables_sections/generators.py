"""Tables of every kind, drawn from random graphs: categories, counts, curves, lines.

They are independent of `cosmodag.simulate`. Penalties, the number of polynomials and the logarithm
of counts were chosen on tables of other seeds: of these kinds, and with other curves (tanh, hinges,
squares, exponentials).
"""

from collections.abc import Callable

import networkx as nx
import numpy as np
import pandas as pd

Drawn = tuple[np.ndarray, pd.DataFrame]
"""The true graph as a (d, d) Boolean matrix, and the table."""


def random_graph(random: np.random.Generator, d: int, degree: float) -> tuple[np.ndarray, list]:
    """Draw a graph of an average degree, and return it with an order of it."""
    arcs = np.triu(random.random((d, d)) < degree / (d - 1), 1)
    shuffled = random.permutation(d)
    arcs = arcs[np.ix_(shuffled, shuffled)]
    graph = nx.from_numpy_array(arcs.astype(int), create_using=nx.DiGraph)
    return arcs, list(nx.topological_sort(graph))


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / max(values.std(), 1e-12)


def _sign(random: np.random.Generator, low: float, high: float) -> float:
    return random.uniform(low, high) * random.choice([-1, 1])


def _named(X: np.ndarray, categories: set[int]) -> pd.DataFrame:
    """Make a table with names, levels as text."""
    table = pd.DataFrame(X, columns=[f"v{v}" for v in range(X.shape[1])])
    for v in categories:
        table[f"v{v}"] = [f"level {level:.0f}" for level in X[:, v]]
    return table


def mixed(
    random: np.random.Generator, d: int, n: int, *, curved: bool, share: float = 0.5
) -> Drawn:
    """Draw numbers and categories of 2 to 4 levels, of average degree 4.

    The level of a category has the greatest utility; utilities and numbers are sums of effects and
    noise. The effect of a category is a random number per level, that of a number a line or a sine.
    """
    arcs, order = random_graph(random, d, 4)
    categories = set(random.choice(d, round(d * share), replace=False).tolist())
    levels = {v: int(random.integers(2, 5)) for v in categories}
    X = np.zeros((n, d))

    def effect(u: int) -> np.ndarray:
        if u in categories:
            return _standard(random.normal(size=levels[u]))[X[:, u].astype(int)]
        z = _standard(X[:, u])
        if not curved:
            return z
        return _standard(np.sin(random.uniform(1, 2) * z + random.uniform(-1, 1)) + 0.3 * z)

    for v in order:
        parents = np.flatnonzero(arcs[:, v])
        if v in categories:
            utilities = np.zeros((n, levels[v]))
            for level in range(levels[v]):
                for u in parents:
                    utilities[:, level] += _sign(random, 0.8, 1.6) * effect(u)
            X[:, v] = np.argmax(utilities + random.gumbel(size=utilities.shape), axis=1)
        else:
            X[:, v] = random.uniform(0.7, 1.3) * random.normal(size=n)
            for u in parents:
                X[:, v] += _sign(random, 0.5, 1.2) * effect(u)
            X[:, v] *= np.exp(random.normal())
    return arcs, _named(X, categories)


def joint(
    random: np.random.Generator, d: int, n: int, *, share: float = 0.5, units: int = 20
) -> Drawn:
    """Draw numbers and categories of 2 to 4 levels from networks of all parents, of degree 3.

    A number is a network of tanh units of its parents plus noise, in arbitrary units; the level of
    a category has the greatest utility, each utility a network of the same kind. A category enters
    networks as a random number per level.
    """
    arcs, order = random_graph(random, d, 3)
    categories = set(random.choice(d, round(d * share), replace=False).tolist())
    levels = {v: int(random.integers(2, 5)) for v in categories}
    X = np.zeros((n, d))

    def network(parents: np.ndarray) -> np.ndarray:
        inputs = np.zeros((n, len(parents)))
        for place, u in enumerate(parents):
            values = X[:, u]
            if u in categories:
                values = _standard(random.normal(size=levels[u]))[values.astype(int)]
            inputs[:, place] = _standard(values)
        weights = random.uniform(0.5, 2.0, (len(parents), units))
        weights *= random.choice([-1, 1], weights.shape)
        hidden = np.tanh(inputs @ weights + random.normal(size=units))
        return _standard(hidden @ random.normal(size=units)) if len(parents) else np.zeros(n)

    for v in order:
        parents = np.flatnonzero(arcs[:, v])
        if v in categories:
            utilities = np.column_stack([network(parents) for _ in range(levels[v])])
            utilities = random.uniform(1.5, 2.5) * utilities + random.gumbel(size=utilities.shape)
            X[:, v] = np.argmax(utilities, axis=1)
        else:
            noise = random.uniform(0.3, 0.7) if len(parents) else 1.0
            X[:, v] = network(parents) + noise * random.normal(size=n)
            X[:, v] *= np.exp(random.normal())
    return arcs, _named(X, categories)


def all_levels(random: np.random.Generator, d: int, n: int) -> Drawn:
    """Draw categories of 2 to 4 levels whose effects add up, of average degree 4."""
    return mixed(random, d, n, curved=False, share=1.0)


def level_tables(random: np.random.Generator, d: int, n: int) -> Drawn:
    """Draw categories of 2 or 3 levels with a random distribution for each state of the parents."""
    arcs, order = random_graph(random, d, 3)
    levels = random.integers(2, 4, d)
    X = np.zeros((n, d), int)
    for v in order:
        parents = np.flatnonzero(arcs[:, v])
        state = np.zeros(n, int)
        for u in parents:
            state = state * levels[u] + X[:, u]
        shares = random.dirichlet(np.ones(levels[v]), state.max() + 1)[state]
        X[:, v] = (np.cumsum(shares, axis=1)[:, :-1] < random.random((n, 1))).sum(axis=1)
    return arcs, _named(X.astype(float), set(range(d)))


def counts(random: np.random.Generator, d: int, n: int, *, spread: bool) -> Drawn:
    """Draw counts with a logarithmic link: Poisson, or with gamma-distributed rates."""
    arcs, order = random_graph(random, d, 3)
    X = np.zeros((n, d))
    for v in order:
        rate = np.full(n, random.uniform(0.5, 2.5))
        for u in np.flatnonzero(arcs[:, v]):
            rate += _sign(random, 0.3, 0.7) * _standard(np.log1p(X[:, u]))
        means = np.exp(np.clip(rate, -4, 6))
        X[:, v] = random.poisson(means * random.gamma(2.0, 0.5, n) if spread else means)
    return arcs, _named(X, set())


def processes(random: np.random.Generator, d: int, n: int) -> Drawn:
    """Draw sums of Gaussian processes of the parents (ER2), standardised."""
    arcs, order = random_graph(random, d, 4)
    X = np.zeros((n, d))
    for v in order:
        X[:, v] = random.normal(size=n) * random.uniform(0.5, 1)
        for u in np.flatnonzero(arcs[:, v]):
            distances = (X[:, u, None] - X[:, u]) ** 2 / (2 * X[:, u].var())
            root = np.linalg.cholesky(np.exp(-distances) + 1e-6 * np.eye(n))
            X[:, v] += root @ random.normal(size=n)
    return arcs, _named((X - X.mean(axis=0)) / X.std(axis=0), set())


def lines(
    random: np.random.Generator, d: int, n: int, *, noise: str = "normal", weak: bool = False
) -> Drawn:
    """Draw linear equations with average degree 4, in arbitrary units."""
    arcs, order = random_graph(random, d, 4)
    X = np.zeros((n, d))
    low, high = (0.1, 0.5) if weak else (0.3, 1.0)
    for v in order:
        X[:, v] = getattr(random, noise)(size=n) * random.uniform(0.5, 2)
        for u in np.flatnonzero(arcs[:, v]):
            X[:, v] += _sign(random, low, high) * _standard(X[:, u])
        X[:, v] *= np.exp(random.normal())
    return arcs, _named(X, set())


GENERATORS: dict[str, Callable[..., Drawn]] = {
    "mixed": mixed,
    "joint": joint,
    "all_levels": all_levels,
    "level_tables": level_tables,
    "counts": counts,
    "processes": processes,
    "lines": lines,
}


def class_errors(truth: np.ndarray, found: np.ndarray) -> int:
    """Count pairs of variables at which the equivalence classes of two graphs differ."""
    from scipy import sparse

    from cosmodag.graph.equivalence import essential_graph

    one, other = (
        essential_graph(sparse.csr_array(np.asarray(graph) != 0), None).toarray()
        for graph in (truth, found)
    )
    return int(np.triu((one != other) | (one.T != other.T), 1).sum())
