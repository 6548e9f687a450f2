"""A start for the search of networks: every variable as a sum of curves of its parents."""

import math
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.order import BlockProblem, search_blocks
from cosmodag.order.moments import Moments
from cosmodag.order.networks.problem import Arcs, NetworkProblem

# A number becomes three columns: itself, and its Legendre polynomials of degree 2 and 3.
_DEGREE = 3
# Values beyond these quantiles are clipped before polynomials are computed, to limit outliers.
_INNER = (0.005, 0.995)
_RESTARTS = 3


def additive_start(
    problem: NetworkProblem, order: NDArray[np.intp], *, random: Any = None
) -> tuple[NDArray[np.intp], Arcs]:
    """Search, near a given order, for the best graph in which variables are sums of curves.

    Rows in which a variable was set count like all others, since the result is only a start for
    further searches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 0] += x[:, 2] ** 2
    >>> first = np.array([0, 1, 2])
    >>> order, adjacency = additive_start(NetworkProblem(x, first), first)
    >>> bool(adjacency[2, 0]), int(adjacency.sum())
    (True, 1)
    """
    targets = [one.astype(np.float64) for one in problem.columns.targets]
    parts = [_curve(one) if one.ndim == 1 else one for one in targets]
    # A category that does not vary has no columns, but a block must have one.
    parts = [part if part.shape[1] else np.zeros((len(part), 1)) for part in parts]
    table = np.hstack(parts)
    blocks = BlockProblem(
        Moments.of(table),
        np.array([part.shape[1] for part in parts]),
        penalty=0.5 * math.log(len(table)),
        targets=np.array([1 if one.ndim == 1 else max(1, one.shape[1]) for one in targets]),
        support=problem.support,
        required=problem.required,
        before=closure(problem.before),
    )
    generator = np.random.default_rng(0 if random is None else random)
    found = search_blocks(blocks, order, random=generator, restarts=_RESTARTS)
    return found.order.astype(np.intp), found.adjacency


def _curve(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns that represent a number; the first is the number itself."""
    low, high = np.quantile(column, _INNER)
    if high <= low:
        low, high = column.min(), column.max() + 1e-9
    inner = np.clip(2 * (column - low) / (high - low) - 1, -1, 1)
    return np.column_stack([column, legendre.legvander(inner, _DEGREE)[:, 2:]])
