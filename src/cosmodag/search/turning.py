"""Loss of score from reversing an arc: the evidence for directions fixed by a graph's shape."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.column_search import search
from cosmodag.search.constraints import agrees
from cosmodag.search.parents import scores_on
from cosmodag.search.search_run import Run, never

# Maximum number of variables for which large losses are checked by a search. With more variables,
# one search for each arc takes too long, and the four orders alone leave fewer wrong arrows.
SEARCHED_UP_TO = 20
_RESTARTS = 2
# Losses of at least this multiple of `search_from` are not checked again by a search with restarts:
# whenever restarts lowered a loss below `search_from`, it had been at most 1.9 times that (14 of
# 774 losses; d = 8, 11 and 20, 48 tables of weak and strong arcs).
_CLEAR = 4.0


def turning_losses(
    score: ColumnScore,
    order: NDArray[np.integer],
    tails: NDArray[np.integer],
    heads: NDArray[np.integer],
    *,
    asked: NDArray[np.bool_] | None = None,
    search_from: float = np.inf,
    should_stop: Callable[[], bool] = never,
) -> NDArray[np.float64]:
    r"""Compute how much the score falls if the head of an arc must come before its tail.

    All graphs of an equivalence class share the directions that its shape fixes, but another class
    may fit nearly as well. For an arc u → v, four orders with v before u are tried: v moves before
    u, alone or with its ancestors in between; or u moves after v, alone or with its descendants in
    between. Parents are chosen anew on each order. The loss is the score of the
    given order minus the best score of the four, an upper bound of the loss of the best graph
    in which the arc is reversed or missing. One additional arc often compensates for a reversed
    one, so that few losses exceed the penalty of an arc. A loss is infinite if required arcs lead
    from the tail of the arc to its head.

    If the direction of an arc depends on other doubtful arcs, a graph that reverses it and also
    changes these may fit nearly as well, and none of the four orders leads to it. With few
    variables, such a graph is searched for, first without restarts and then with two, which do not
    count as ``restarts`` of a learner. Of the arrows with losses of at least 5, 21 of 86 were wrong
    without that search (d = 8, n = 250, weights .15 to .6, 40 tables) and 3 of 25 with it (25 of
    these tables); with d = 11, n = 450 and weights of .1 to .5, still 7 of 31.

    Parameters
    ----------
    tails, heads : (m,) arrays of int
        All arcs u → v of the graph, which agree with the order.
    asked : (m,) array of bool, optional
        Arcs whose losses are computed; by default all.
    search_from : float
        Loss from which a better graph with the arc reversed is searched for, if no arcs are
        required and there are at most ``SEARCHED_UP_TO`` variables; by default infinite.
    should_stop : function
        Called before every arc; once it returns True, the remaining losses are NaN, or are not
        checked by a search.

    Examples
    --------
    >>> from cosmodag.search.moments import Moments
    >>> random = np.random.default_rng(0)
    >>> a, b, noise = random.normal(size=(3, 500))
    >>> score = ColumnScore.of(Moments.of(np.column_stack([a, b, a + b + noise])))
    >>> losses = turning_losses(score, np.arange(3), np.array([0, 1]), np.array([2, 2]))
    >>> bool((losses > 5).all())
    True
    """
    d, required = score.variables, score.constraints.required
    order, problem = score.constraints.checked(order, d), score.problem()
    position = np.argsort(order)
    scores = scores_on(problem, order, 0, d)
    arcs = np.zeros((d, d), np.bool_)
    arcs[tails, heads] = True
    is_ancestor = closure(arcs)
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
        # Required arcs are parents on every order: against one, the graph would have a cycle.
        best = max(
            (
                float(scores_on(problem, turned, first, last + 1).sum())
                for turned in _turned_orders(order, first, last, is_ancestor)
                if agrees(turned, score.constraints.precedence)
            ),
            default=-np.inf,
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
                    found = _best_reversed_score(score, order, *ends, restarts)
                    losses[place] = min(losses[place], max(total - found, 0.0))
    return losses


def _best_reversed_score(
    score: ColumnScore, order: NDArray[np.int64], u: int, v: int, restarts: int
) -> float:
    """Score of the best graph that a search finds if v must come before u."""
    before = np.zeros((len(order), len(order)), np.bool_)
    before[v, u] = True
    constraints = replace(score.constraints, before=before)
    turned = ColumnScore(score.moments, score.criterion, score.penalty, constraints)
    # Starting other threads takes longer than such a search.
    run = Run(np.random.default_rng(0), restarts=restarts, threads=1)
    return search(turned, constraints.respected(order), run).score


def _turned_orders(
    order: NDArray[np.int64], first: int, last: int, is_ancestor: NDArray[np.bool_]
) -> list[NDArray[np.int64]]:
    """Orders in which the variable at position ``last`` comes before that at ``first``."""
    u, v, between = order[first], order[last], order[first + 1 : last]
    with_v = is_ancestor[between, v]
    with_u = is_ancestor[u, between]
    segments = {
        (v, u, *between),
        (*between, v, u),
        (*between[with_v], v, u, *between[~with_v]),
        (*between[~with_u], v, u, *between[with_u]),
    }
    return [np.concatenate([order[:first], part, order[last + 1 :]]) for part in sorted(segments)]
