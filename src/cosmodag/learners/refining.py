"""Refinement of what a learner found: from an order to a graph, by evidence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.learners.checks import seeds_from
from cosmodag.refine.refine import refine_linear as refine_orders

if TYPE_CHECKING:
    from cosmodag.learners.base import Prepared, Refined, StructureLearner
    from cosmodag.solver.watch import Watch

__all__ = ["refine", "refine_linear"]


def refine_linear(
    model: "StructureLearner",
    given: "Prepared",
    orders: Mapping[str, NDArray[np.intp]],
    watch: "Watch",
) -> "Refined":
    """Prune the orders of a linear learner, or search near them and elsewhere."""
    from cosmodag.learners.base import Refined

    method = model._refinement
    assert method is not None
    watch.begin(1, f"{type(model).__name__}: refining")
    (seed,) = seeds_from(getattr(model, "random_state", 0), 1)
    found = refine_orders(
        given.X,
        orders,
        method=method,
        score=getattr(model, "noise", "auto"),
        random=np.random.default_rng(seed),
        should_stop=lambda: watch.stop is not None,
    )
    stopped = watch.stop if found.ended_early else None
    return Refined(found.order, found.weights, found.score, found.why, found.report, stopped)


def refine(
    model: Any,
    X: Any,
    *,
    method: str = "order",
    noise: str = "auto",
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
    learner = OrderSearch(noise=noise, random_state=random_state, max_time=max_time)
    return learner.fit_from(X, order, method)
