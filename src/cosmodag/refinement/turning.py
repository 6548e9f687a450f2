"""What it costs to turn an arrow: the evidence behind directions that a graph's shape fixes."""

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.parents import check_order, scores_on
from cosmodag.order.problem import problem_of
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.scores import default_penalty

__all__ = ["turning_losses"]


def turning_losses(
    moments: Moments,
    order: NDArray[np.integer],
    tails: NDArray[np.integer],
    heads: NDArray[np.integer],
    *,
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    r"""Say how much of the score is lost where the head of each arc comes before its tail.

    Every graph of an equivalence class has the arrows that its shape fixes, but another class may
    fit nearly as well. For an arc u → v, four orders with v before u are tried: v goes before u,
    alone or with its ancestors in between; or u goes after v, alone or with its descendants in
    between. Parents are chosen anew on each, and the loss is the score of the given order less the
    best of the four: an upper bound of what the best graph with that arrow turned, or gone, loses.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        Causes first.
    tails, heads : (m,) arrays of int
        All arcs u → v of the graph, which agree with the order.
    penalty : float, optional
        Per arc; by default `default_penalty`.
    support, required : (d, d) arrays of bool, optional
        Arcs that may exist, and arcs that always do.

    Returns
    -------
    (m,) array
        In units of log-likelihood; never below zero, and infinite for a required arc.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> a, b, noise = random.normal(size=(3, 500))
    >>> moments = Moments.of(np.column_stack([a, b, a + b + noise]))
    >>> losses = turning_losses(moments, np.arange(3), np.array([0, 1]), np.array([2, 2]))
    >>> bool((losses > 5).all())
    True
    """
    d = moments.variables
    order = check_order(order, d, required)
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), d)
    problem = problem_of(moments, penalty, support=support, required=required)
    position = np.argsort(order)
    scores = scores_on(problem, order, 0, d)
    above = _ancestors(order, tails, heads)
    losses = np.full(len(tails), np.inf)
    for place, (u, v) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        if required is not None and required[u, v]:
            continue
        first, last = int(position[u]), int(position[v])
        now = float(scores[first : last + 1].sum())
        best = max(
            float(scores_on(problem, turned, first, last + 1).sum())
            for turned in _turned(order, first, last, above)
        )
        losses[place] = max(now - best, 0.0)
    return losses


def _ancestors(
    order: NDArray[np.int64], tails: NDArray[np.integer], heads: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """(d, d): whether u is an ancestor of v, at [u, v]."""
    arcs = np.zeros((len(order), len(order)), np.bool_)
    arcs[tails, heads] = True
    above = np.zeros_like(arcs)
    for v in order:
        parents = np.flatnonzero(arcs[:, v])
        above[parents, v] = True
        above[:, v] |= above[:, parents].any(axis=1)
    return above


def _turned(
    order: NDArray[np.int64], first: int, last: int, above: NDArray[np.bool_]
) -> list[NDArray[np.int64]]:
    """Orders in which the variable at ``last`` comes before that at ``first``."""
    u, v, between = order[first], order[last], order[first + 1 : last]
    with_v = above[between, v]
    with_u = above[u, between]
    segments = {
        (v, u, *between),
        (*between, v, u),
        (*between[with_v], v, u, *between[~with_v]),
        (*between[~with_u], v, u, *between[with_u]),
    }
    return [np.concatenate([order[:first], part, order[last + 1 :]]) for part in sorted(segments)]
