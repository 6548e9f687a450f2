"""Data sets by name: ``n1000_d30_ER4_gauss``."""

import re
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from cosmodag.errors import DataError
from cosmodag.io.datasets import Dataset, dense_if_small
from cosmodag.simulate.mechanisms import (
    NOISES,
    NONLINEAR,
    Matrix,
    propagate,
    sample_linear,
    sample_nonlinear,
)
from cosmodag.simulate.random_graphs import (
    SparseMatrix,
    bipartite,
    erdos_renyi,
    random_weights,
    scale_free,
)

_COUNT = "[1-9][0-9]{0,11}"
_PATTERN = re.compile(
    rf"n(?P<n>inf|{_COUNT})_d(?P<d>{_COUNT})_(?P<kind>[A-Za-z]+)(?P<k>0|{_COUNT})_(?P<m>[A-Za-z-]+)"
)


@dataclass(frozen=True)
class DatasetName:
    """The parts of the name ``n{samples}_d{nodes}_{ER|SF|BP}{k}_{mechanism}`` of a data set.

    Attributes
    ----------
    samples : int or None
        The number of rows; None for ``inf``, the population.
    nodes : int
        The number of variables d.
    kind : {"ER", "SF", "BP"}
        Erdős–Rényi, scale-free or bipartite.
    degree : int
        k, the number of arcs per node.
    mechanism : str
        A noise family of the linear model, or a non-linear mechanism.
    """

    samples: int | None
    nodes: int
    kind: str
    degree: int
    mechanism: str


def parse_name(name: str) -> DatasetName:
    """Parse the name of a data set; the error about an invalid name says which part is wrong.

    Examples
    --------
    >>> parse_name("n1000_d30_SF4_exp")
    DatasetName(samples=1000, nodes=30, kind='SF', degree=4, mechanism='exp')
    """
    match = _PATTERN.fullmatch(name)
    if match is None:
        shown = name if len(name) <= 80 else f"{name[:80]}…"
        raise DataError(
            f"The data set name {shown!r} does not parse: write n<samples>_d<nodes>_<ER|SF|BP><k>_"
            "<mechanism>, for example n1000_d30_ER4_gauss."
        )
    if match["kind"] not in ("ER", "SF", "BP"):
        raise DataError(
            f"The graph {match['kind']!r} in the data set name {name!r} is unknown: "
            "use ER, SF or BP."
        )
    mechanisms = (*NOISES, *NONLINEAR)
    if match["m"] not in mechanisms:
        raise DataError(
            f"The mechanism {match['m']!r} in the data set name {name!r} is unknown: "
            f"use one of {', '.join(mechanisms)}."
        )
    if match["n"] == "inf" and match["m"] != "gauss":
        raise DataError(
            f"The data set name {name!r} asks for the population of {match['m']!r} data, which is "
            "known only for gauss: give a number of samples."
        )
    samples = None if match["n"] == "inf" else int(match["n"])
    return DatasetName(samples, int(match["d"]), match["kind"], int(match["k"]), match["m"])


def load(name: str, seed: int = 0) -> Dataset:
    """Simulate a named data set.

    The graph, the weights and the samples are drawn from three independent streams of `seed`. With
    one seed, names that differ only in the mechanism therefore share their graph (and linear ones
    their weights), and names that differ only in n share their first rows (except with Gaussian
    processes).

    Parameters
    ----------
    name : str
        ``n{samples}_d{nodes}_{ER|SF|BP}{k}_{mechanism}``. ``ERk`` and ``BPk`` have exactly k·d
        arcs, ``SFk`` has k·d − k(k+1)/2. Weights are ±U(0.5, 2), noise has scale 1.
    seed : int
        Zero or more; the same name and seed give the same data on every call.

    Returns
    -------
    Dataset
        For ``ninf`` the table has d + 1 rows whose column means are zero and whose covariance
        XᵀX/(d+1) is exactly that of the population. For a full-batch learner, this is equivalent to
        infinitely many samples.

    Examples
    --------
    >>> data = load("n1000_d30_ER4_gauss", seed=0)
    >>> data.X.shape, int(data.graph.sum()), data.names[:3]
    ((1000, 30), 120, ('x0', 'x1', 'x2'))
    """
    parts = parse_name(name)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise DataError(f"seed is {seed!r}: it must be an integer of zero or more.")
    graph_rng, weight_rng, sample_rng = streams_of(seed)
    if parts.kind == "SF":
        graph = scale_free(parts.nodes, parts.degree, graph_rng)
    else:
        draw = erdos_renyi if parts.kind == "ER" else bipartite
        graph = draw(parts.nodes, parts.degree * parts.nodes, graph_rng)
    is_linear = parts.mechanism in NOISES
    weights = random_weights(graph, weight_rng) if is_linear else None
    return Dataset(
        name=name,
        seed=int(seed),
        X=_draw_table(parts, graph, weights, sample_rng),
        names=tuple(f"x{index}" for index in range(parts.nodes)),
        weights=None if weights is None else dense_if_small(weights),
        graph=dense_if_small(graph),
    )


def streams_of(seed: int) -> list[np.random.Generator]:
    """Return the generators of graph, weights and samples for a seed of `load`."""
    return [np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(3)]


def _draw_table(
    parts: DatasetName, graph: SparseMatrix, weights: SparseMatrix | None, rng: np.random.Generator
) -> Matrix:
    if parts.samples is None:
        return _population_table(weights)
    if weights is None:
        return sample_nonlinear(graph, parts.samples, rng, mechanism=parts.mechanism)
    return sample_linear(weights, parts.samples, rng, noise=parts.mechanism)


def _population_table(weights: SparseMatrix) -> Matrix:
    """Return d + 1 rows with mean zero whose covariance is exactly the population's.

    The columns of the transposed Helmert matrix are orthonormal and orthogonal to the constant
    vector, so that they have exactly the moments of standard noise, also after centring.
    """
    rows = weights.shape[0] + 1
    return propagate(weights, np.sqrt(rows) * helmert(rows).T)
