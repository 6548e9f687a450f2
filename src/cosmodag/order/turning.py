"""What it costs to turn an arrow: the evidence behind directions that a graph's shape fixes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.order import search
from cosmodag.order.moments import Moments
from cosmodag.order.parents import check_order, scores_on
from cosmodag.order.problem import problem_of
from cosmodag.order.scores import default_penalty

# Up to this many variables large losses are searched for; one search for each arc takes too long
# beyond, and with more variables the four orders alone leave fewer wrong arrows.
SEARCHED_UP_TO = 20
_RESTARTS = 2
# Losses beyond so many times `search_from` are not searched for again with restarts: where these
# took a loss below `search_from`, it was at most 1.9 times that before (14 of 774 losses; d = 8, 11
# and 20, 48 tables of weak and strong arcs).
_CLEAR = 4.0


def turning_losses(
    moments: Moments,
    order: NDArray[np.integer],
    tails: NDArray[np.integer],
    heads: NDArray[np.integer],
    *,
    asked: NDArray[np.bool_] | None = None,
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    search_from: float = np.inf,
    should_stop: Callable[[], bool] = lambda: False,
) -> NDArray[np.float64]:
    r"""Say how much of the score is lost where the head of each arc comes before its tail.

    Every graph of an equivalence class has the arrows that its shape fixes, but another class may
    fit nearly as well. For an arc u → v, four orders with v before u are tried: v goes before u,
    alone or with its ancestors in between; or u goes after v, alone or with its descendants in
    between. Parents are chosen anew on each, and the loss is the score of the given order less the
    best of the four: an upper bound of what the best graph with that arrow turned, or gone, loses.
    One further arc often makes up for a turned one, so that few losses exceed the price of an arc.

    Where an arrow rests on arcs around it that are doubtful themselves, a graph that turns it and
    changes those fits nearly as well, and none of the four orders leads to it. Among few variables
    it is searched for, without restarts and then with two of its own: ``restarts`` of a learner
    counts those of its search for a graph, not these of the evidence. Of the arrows with losses of
    5 or more 21 of 86 were wrong without that search (d = 8, n = 250, weights .15 to .6, 40 tables)
    and 3 of 25 with it (25 of these tables); with d = 11, n = 450 and weights of .1 to .5 still 7
    of 31.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        Causes first.
    tails, heads : (m,) arrays of int
        All arcs u → v of the graph, which agree with the order.
    asked : (m,) array of bool, optional
        Arcs whose losses are wanted; by default all.
    penalty : float, optional
        Per arc; by default `default_penalty`.
    support, required : (d, d) arrays of bool, optional
        Arcs that may exist, and arcs that always do.
    search_from : float
        Losses from which a better graph with the arrow turned is searched for, if nothing is
        required and there are at most ``SEARCHED_UP_TO`` variables; by default none.
    should_stop : function
        Asked before every arc; then losses that are left are NaN, or not searched for.

    Returns
    -------
    array
        One number for each arc asked for, in units of log-likelihood; never below zero, and
        infinite for a required arc.

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
    if asked is not None:
        tails, heads = tails[asked], heads[asked]
    losses = np.full(len(tails), np.nan)
    for place, (u, v) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        if should_stop():
            break
        if required is not None and required[u, v]:
            losses[place] = np.inf
            continue
        first, last = int(position[u]), int(position[v])
        now = float(scores[first : last + 1].sum())
        best = max(
            float(scores_on(problem, turned, first, last + 1).sum())
            for turned in _turned(order, first, last, above)
        )
        losses[place] = max(now - best, 0.0)
    if required is None and d <= SEARCHED_UP_TO:
        total = float(scores.sum())
        for place in np.flatnonzero(losses >= search_from).tolist():
            if should_stop():
                break
            ends = int(tails[place]), int(heads[place])
            for restarts in (0, _RESTARTS):
                if search_from <= losses[place] < (_CLEAR * search_from if restarts else np.inf):
                    found = _best_turned(moments, order, *ends, penalty, support, restarts)
                    losses[place] = min(losses[place], max(total - found, 0.0))
    return losses


def _best_turned(
    moments: Moments,
    order: NDArray[np.int64],
    u: int,
    v: int,
    penalty: float,
    support: NDArray[np.bool_] | None,
    restarts: int,
) -> float:
    """Score of the best graph that a search finds among those in which v comes before u."""
    before = np.zeros((len(order), len(order)), np.bool_)
    before[v, u] = True
    found = search(
        moments,
        respecting(order, before),
        penalty=penalty,
        support=support,
        before=before,
        random=np.random.default_rng(0),
        restarts=restarts,
        threads=1,  # to start others takes longer than such a search
    )
    return found.score


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
