"""Tables for trust.md, independent of `cosmodag.simulate`: graphs, noises, mechanisms, units."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Draw = Callable[[np.random.Generator, int], np.ndarray]


class Drawn(NamedTuple):
    """A table and the graph behind it: ``graph[u, v]`` is the arc u → v."""

    X: np.ndarray
    graph: np.ndarray


def random_graph(random: np.random.Generator, d: int, degree: float) -> np.ndarray:
    """Directed acyclic graph with independent arcs: on average ``degree · d`` of them."""
    share = min(1.0, 2.0 * degree / (d - 1))
    upper = np.triu(random.random((d, d)) < share, 1)
    places = random.permutation(d)
    return upper[np.ix_(places, places)]


def coefficients(
    random: np.random.Generator, graph: np.ndarray, low: float, high: float
) -> np.ndarray:
    """Weights of either sign with sizes between two bounds."""
    signs = random.choice([-1.0, 1.0], graph.shape)
    return np.where(graph, signs * random.uniform(low, high, graph.shape), 0.0)


def causes_first(graph: np.ndarray) -> list[int]:
    """Order in which every node follows its parents."""
    left = np.array(graph, bool)
    order: list[int] = []
    while len(order) < len(left):
        free = [v for v in range(len(left)) if v not in order and not left[:, v].any()]
        order += free
        left[free] = False
    return order


NOISES: dict[str, Draw] = {
    "gaussian": lambda random, n: random.normal(size=n),
    "laplace": lambda random, n: random.laplace(size=n) / np.sqrt(2.0),
    "uniform": lambda random, n: random.uniform(-np.sqrt(3.0), np.sqrt(3.0), n),
    "exponential": lambda random, n: random.exponential(size=n) - 1.0,
    "t5": lambda random, n: random.standard_t(5, n) / np.sqrt(5.0 / 3.0),
    "gumbel": lambda random, n: (random.gumbel(size=n) - np.euler_gamma) * np.sqrt(6.0) / np.pi,
}
"""Noise of mean 0 and variance 1."""


def linear(
    seed: int,
    *,
    d: int,
    n: int,
    degree: float,
    weights: tuple[float, float],
    noise: str = "gaussian",
    deviations: tuple[float, float] = (1.0, 1.0),
    units: str = "own",
) -> Drawn:
    """Draw linear equations; each variable has its own noise deviation.

    ``units`` is ``"own"``, ``"random"`` (each column times a factor between 1/30 and 30) or
    ``"standardised"``.
    """
    random = np.random.default_rng(seed)
    graph = random_graph(random, d, degree)
    W = coefficients(random, graph, *weights)
    sizes = random.uniform(*deviations, d)
    X = np.zeros((n, d))
    for v in causes_first(graph):
        X[:, v] = X @ W[:, v] + sizes[v] * NOISES[noise](random, n)
    return Drawn(in_units(random, X, units), graph)


def in_units(random: np.random.Generator, X: np.ndarray, units: str) -> np.ndarray:
    """Keep the units of the columns, draw random ones, or standardise."""
    if units == "standardised":
        return (X - X.mean(axis=0)) / X.std(axis=0)
    if units == "random":
        return X * np.exp(random.uniform(-np.log(30), np.log(30), X.shape[1]))
    return X


def binary(seed: int, *, d: int, n: int, degree: float = 1.5) -> Drawn:
    """0/1 columns: logistic regressions on the parents."""

    def equation(random: np.random.Generator, parents: np.ndarray) -> np.ndarray:
        sizes = random.choice([-1, 1], parents.shape[1]) * random.uniform(1, 2, parents.shape[1])
        log_odds = (2 * parents - 1) @ sizes + random.uniform(-0.5, 0.5)
        return (random.random(len(parents)) < 1 / (1 + np.exp(-log_odds))).astype(float)

    return _by_equation(seed, d, n, degree, equation)


def counts(seed: int, *, d: int, n: int, degree: float = 1.5, logs: bool = False) -> Drawn:
    """Poisson counts whose log rate is linear in the logarithms of the parents' counts."""

    def equation(random: np.random.Generator, parents: np.ndarray) -> np.ndarray:
        sizes = random.choice([-1, 1], parents.shape[1]) * random.uniform(
            0.3, 0.7, parents.shape[1]
        )
        log_rate = random.uniform(1.0, 3.0) + _standard(np.log1p(parents)) @ sizes
        return random.poisson(np.exp(np.clip(log_rate, -3.0, 6.0))).astype(float)

    drawn = _by_equation(seed, d, n, degree, equation)
    return Drawn(np.log1p(drawn.X), drawn.graph) if logs else drawn


def heteroscedastic(seed: int, *, d: int, n: int, degree: float = 1.5) -> Drawn:
    """Linear means; the deviation of the noise grows with one of the parents."""

    def equation(random: np.random.Generator, parents: np.ndarray) -> np.ndarray:
        k = parents.shape[1]
        noise = random.normal(size=len(parents)) * random.uniform(0.5, 1.5)
        if not k:
            return noise
        z = _standard(parents)
        sizes = random.choice([-1, 1], k) * random.uniform(0.5, 1.5, k)
        return z @ sizes + noise * np.exp(0.5 * np.clip(z[:, random.integers(k)], -3.0, 3.0))

    return _by_equation(seed, d, n, degree, equation)


def curved(seed: int, *, d: int, n: int, degree: float = 1.5, curve: str = "slight") -> Drawn:
    """Draw sums of curves of the parents: x + x²/10, sine and square, or tanh; Gaussian noise."""
    shapes: dict[str, list[Callable[[np.ndarray], np.ndarray]]] = {
        "slight": [lambda z: z + 0.1 * z**2],
        "sin/quadratic": [lambda z: np.sin(2 * z), lambda z: (z**2 - 1) / np.sqrt(2)],
        "tanh": [lambda z: np.tanh(2 * z)],
    }

    def equation(random: np.random.Generator, parents: np.ndarray) -> np.ndarray:
        total = random.normal(size=len(parents)) * random.uniform(0.5, 1.0)
        for z in _standard(parents).T:
            shape = shapes[curve][random.integers(len(shapes[curve]))]
            total += random.choice([-1, 1]) * random.uniform(0.5, 1.5) * shape(z)
        return total

    return _by_equation(seed, d, n, degree, equation)


def _by_equation(
    seed: int,
    d: int,
    n: int,
    degree: float,
    equation: Callable[[np.random.Generator, np.ndarray], np.ndarray],
) -> Drawn:
    random = np.random.default_rng(seed)
    graph = random_graph(random, d, degree)
    X = np.zeros((n, d))
    for v in causes_first(graph):
        X[:, v] = equation(random, X[:, graph[:, v]])
    return Drawn(X, graph)


def _standard(columns: np.ndarray) -> np.ndarray:
    deviations = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
