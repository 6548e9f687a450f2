"""Parents of every variable among its predecessors in an order."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.order.local import LocalSearch
from cosmodag.order.problem import problem_of
from cosmodag.refinement.graph import Graph
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.prune import check_order
from cosmodag.refinement.scores import default_penalty

__all__ = ["choose_parents", "graph_of"]


def choose_parents(
    moments: Moments,
    order: ArrayLike,
    *,
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
) -> Graph:
    r"""Choose the parents of each variable among its predecessors, and refit the weights.

    *Grow* adds the predecessor that raises the local score

    .. math:: -\tfrac{n}{2} \log \mathrm{var}(v \mid P) - c\,|P|

    most, at a smaller penalty (`growing_penalty`), so that parents which only matter together get
    in; *shrink* takes away the parent whose loss lowers the score least while that raises it.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        The variables, causes first.
    penalty : float, optional
        c, per arc; by default `default_penalty`.
    support, required : (d, d) arrays of bool, optional
        Arcs that may exist, and arcs that are always in; the latter must agree with the order.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> y = 2 * x + random.normal(size=500)
    >>> z = random.normal(size=500) - y
    >>> moments = Moments.of(np.column_stack([z, y, x]))
    >>> choose_parents(moments, [2, 1, 0]).matrix().toarray().round(1)
    array([[ 0.,  0.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  2.,  0.]])
    """
    d = moments.variables
    checked = check_order(order, d, required)
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), d)
    problem = problem_of(moments, penalty, support=support, required=required)
    one_by_one: Callable[..., list[object]] = lambda f, items: list(map(f, items))  # noqa: E731
    return graph_of(moments, LocalSearch(problem, checked, one_by_one, 1, lambda: False))


def graph_of(moments: Moments, local: LocalSearch) -> Graph:
    """Graph of the parents that a local search has chosen, with least-squares weights."""
    d = moments.variables
    parents = [np.sort(local.parents(v)) for v in range(d)]
    counts = np.array([len(of_one) for of_one in parents])
    weights = [_weights(moments, v, parents[v]) for v in range(d)]
    record = local.state.shared[1]
    return Graph(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *parents]),
        np.concatenate([np.zeros(0), *weights]),
        local.residuals(),
        local.state.reals[record],
    )


def _weights(moments: Moments, v: int, parents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights in the data's own units; zero for a parent that the others determine."""
    group = moments.group[v]
    correlations, scales = moments.correlations[group], moments.scales[group]
    among, along = correlations[np.ix_(parents, parents)], correlations[parents, v]
    standard = np.linalg.lstsq(among, along, rcond=1e-12)[0] if len(parents) else along
    down = scales[parents]
    return np.where(down > 0, standard * scales[v] / np.where(down > 0, down, 1.0), 0.0)
