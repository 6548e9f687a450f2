"""Refinement of what a learner found: from an order to a graph, by evidence."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge import Bounds
from cosmodag.fit.checks import seeds_from
from cosmodag.fit.refined import Refined
from cosmodag.refinement.entropy.measure import non_gaussianity
from cosmodag.refinement.entropy.search import search_non_gaussian
from cosmodag.refinement.refine import Refined as FinishedOrder
from cosmodag.refinement.refine import refine_linear as refine_orders
from cosmodag.refinement.starts import respecting
from cosmodag.solve.plan import device_named

if TYPE_CHECKING:
    from cosmodag.learners.base import Prepared, StructureLearner
    from cosmodag.solve.watch import Watch

__all__ = ["refine", "refine_linear"]


# Variables up to which the search with entropies, O(n d²) a sweep, takes seconds.
_ENTROPY_LIMIT = 300


def refine_linear(
    model: "StructureLearner",
    given: "Prepared",
    orders: Mapping[str, NDArray[np.intp]],
    watch: "Watch",
    *,
    scale_free: bool = False,
) -> Refined:
    """Prune the orders of a linear learner, or search near them and elsewhere."""
    method = model._refinement
    assert method is not None
    noise = getattr(model, "noise", "auto")
    watch.begin(1, f"{type(model).__name__}: refining")
    (seed,) = seeds_from(getattr(model, "random_state", 0), 1)
    random = np.random.default_rng(seed)
    if noise == "non-gaussian" and method == "order":
        reason = "Noise that is not Gaussian was asked for."
        return _by_entropy(given, orders, random, watch, reason)
    known = given.known
    data = given.X if known.is_nothing else known.moments(given.X)
    finish = partial(
        refine_orders,
        data,
        method=method,
        support=known.support,
        required=known.required,
        before=None if known.bounds is None else known.bounds.beyond_support,
        random=random,
        scale_free=scale_free,
        should_stop=lambda: watch.stop is not None,
        device=device_named(getattr(model, "device", "auto")),
    )
    if known.targets is not None and noise == "auto" and method == "order":
        # Experiments tell directions whatever the noise: what is assumed of it comes after them.
        orders = {**orders, "experiments": finish(orders, score="gaussian").order}
    found = finish(orders, score="gaussian" if noise == "non-gaussian" else noise)
    if known.bounds is not None:
        found = _bound(found, known.bounds)
    result = Refined(
        found.order,
        found.weights,
        found.score,
        found.why,
        found.report,
        watch.stop if found.ended_early else None,
    )
    is_open = noise == "auto" and method == "order" and found.score == "gaussian"
    if not is_open or result.stopped or len(found.order) > _ENTROPY_LIMIT:
        return result
    # Where a variable was set, what is left of it is no noise.
    rows = slice(None) if known.targets is None else known.untouched
    if rows is None:
        return result
    # Variables without arcs have no direction to tell, whatever their distribution.
    pattern = abs(found.weights)
    joined = (pattern.sum(axis=0) + pattern.sum(axis=1)) > 0
    if not joined.any():
        return result
    verdict = non_gaussianity((given.X - given.X @ found.weights)[rows][:, joined])
    if not verdict.is_non_gaussian:
        return result
    starts = {**orders, "gaussian search": found.order}
    by_entropy = _by_entropy(given, starts, random, watch, verdict.explanation)
    return replace(by_entropy, report=[*result.report, *by_entropy.report])


def _bound(found: FinishedOrder, bounds: Bounds) -> FinishedOrder:
    """Bring the order of a search that obeyed the support alone into line; it changes no arc."""
    order = respecting(found.order, bounds.before | found.graph.adjacency().toarray())
    return replace(found, order=order)


def _by_entropy(
    given: "Prepared",
    orders: Mapping[str, NDArray[np.intp]],
    random: np.random.Generator,
    watch: "Watch",
    reason: str,
) -> Refined:
    """Search with the entropy of residuals as the score."""
    known = given.known
    found = search_non_gaussian(
        given.X,
        orders,
        random=random,
        support=known.support,
        required=known.required,
        before=known.before,
        counted=known.counted,
        should_stop=lambda: watch.stop is not None,
    )
    report = [
        {
            "start": start.name,
            "score": "non-gaussian",
            "before": start.score_before,
            "after": start.score_after,
            "moves": start.moves,
            "seconds": start.seconds,
            "chosen": start.score_after == max(s.score_after for s in found.starts),
        }
        for start in found.starts
    ]
    stopped = watch.stop if found.stopped else None
    return Refined(found.order, found.weights, "non-gaussian", reason, report, stopped)


def refine(
    model: Any,
    X: Any,
    *,
    method: str = "order",
    noise: str = "auto",
    knowledge: Any = None,
    interventions: Any = None,
    random_state: Any = None,
    max_time: float | None = None,
) -> "StructureLearner":
    """Refine any fitted linear learner on a table, or any order of its columns.

    Parameters
    ----------
    model : fitted learner, or sequence of column names or numbers
        What has an order, or an order itself, causes first.
    X : table
        With the columns that the learner was fitted on, or that the order speaks of.
    method : {"prune", "order"}
        Keep the order and choose arcs, or search for a better order near it and elsewhere.
    noise : {"auto", "gaussian", "equal-variance", "non-gaussian"}
        What is assumed of the noise; see :class:`cosmodag.Cosmo`.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph, by default what the model was given; an order that is against
        it is brought into line.
    interventions : optional
        What was set in each row, as for ``fit``.
    random_state : int, Generator, RandomState or None
    max_time : float, optional
        Seconds after which the search stops with the result so far.

    Returns
    -------
    fitted OrderSearch
        With the refined graph; the model given is not changed.

    Examples
    --------
    >>> from cosmodag import VarianceSort, refine, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> better = refine(VarianceSort().fit(data.X), data.X, random_state=0)
    >>> better.adjacency_.shape
    (10, 10)
    """
    from cosmodag.learners.order_search import OrderSearch

    order = model.causal_order_ if hasattr(model, "causal_order_") else list(model)
    learner = OrderSearch(
        noise=noise,
        knowledge=getattr(model, "knowledge_", None) if knowledge is None else knowledge,
        random_state=random_state,
        max_time=max_time,
    )
    return learner.fit_from(X, order, method, interventions=interventions)
