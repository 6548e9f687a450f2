"""Tables for questions.md with known effects: linear equations, and curved ones to simulate."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trust_sections.tables import NOISES, causes_first, coefficients, random_graph


@dataclass(frozen=True)
class Linear:
    """A table of linear equations: ``weights[u, v]`` is the arc u → v."""

    X: np.ndarray
    weights: np.ndarray

    @property
    def graph(self) -> np.ndarray:
        """Adjacency matrix of the graph."""
        return self.weights != 0

    @property
    def totals(self) -> np.ndarray:
        """Total effects: (I − W)⁻¹; exactly zero where no path leads."""
        d = len(self.weights)
        reached = np.linalg.matrix_power(np.eye(d) + self.graph, d) > 0
        return np.where(reached, np.linalg.inv(np.eye(d) - self.weights), 0.0)


def linear(
    seed: int,
    *,
    d: int,
    n: int,
    degree: float = 2.0,
    weights: tuple[float, float] = (0.3, 1.0),
    noise: str = "gaussian",
    deviations: tuple[float, float] = (0.5, 2.0),
) -> Linear:
    """Draw a graph with ``degree · d`` arcs on average, its weights, and n rows."""
    random = np.random.default_rng(seed)
    graph = random_graph(random, d, degree)
    W = coefficients(random, graph, *weights)
    sizes = random.uniform(*deviations, d)
    return Linear(_rows(random, W, sizes, noise, n), W)


def _rows(
    random: np.random.Generator, W: np.ndarray, sizes: np.ndarray, noise: str, n: int
) -> np.ndarray:
    X = np.zeros((n, len(W)))
    for v in causes_first(W != 0):
        X[:, v] = X @ W[:, v] + sizes[v] * NOISES[noise](random, n)
    return X


@dataclass(frozen=True)
class Curved:
    """Equations x_v = Σ_u a_uv tanh(b_uv x_u) + noise of deviation one."""

    a: np.ndarray
    b: np.ndarray

    @classmethod
    def draw(cls, seed: int, *, d: int, degree: float = 1.5) -> "Curved":
        """Draw a graph and its curves."""
        random = np.random.default_rng(seed)
        graph = random_graph(random, d, degree)
        return cls(coefficients(random, graph, 1.0, 2.0), random.uniform(0.5, 1.5, (d, d)))

    def rows(self, seed: int, n: int, do: Mapping[int, float] | None = None) -> np.ndarray:
        """Draw n rows, some variables set."""
        random = np.random.default_rng(seed)
        d = len(self.a)
        X = np.zeros((n, d))
        for v in causes_first(self.a != 0):
            signal = np.tanh(X * self.b[:, v]) @ self.a[:, v]
            X[:, v] = signal + random.normal(size=n)
            if do and v in do:
                X[:, v] = do[v]
        return X
