"""Refinement of a learnt order: a graph chosen by evidence."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cosmodag.data.diagnose.findings import Finding
from cosmodag.fit.block_refining import refine_blocks
from cosmodag.fit.fitted_kinds import needs_blocks
from cosmodag.fit.input_checks import refuse_lags, seeds_from
from cosmodag.fit.regimes import graph_over_regimes
from cosmodag.fit.steps import RefinedFit
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.graph.dags import respecting
from cosmodag.runtime.devices import device_named
from cosmodag.search.noise_decision import NoiseInputs, decide_noise
from cosmodag.search.search_run import Run

if TYPE_CHECKING:
    from cosmodag.learners.parameters import Noise
    from cosmodag.learners.refined import SearchedLearner
    from cosmodag.learners.structure_learner import Prepared, StructureLearner
    from cosmodag.search.graph_search import Doubt
    from cosmodag.solve.watch import Watch


def refine_table(
    model: "SearchedLearner",
    given: "Prepared",
    orders: Mapping[str, NDArray[np.intp]],
    watch: "Watch",
) -> RefinedFit:
    """Prune the orders of a linear learner, or search near them and from other starts.

    `orders` are the learnt orders, by name. `decide_noise` chooses the noise model; the result has
    a ``doubt`` if the table contradicts every noise model that directs more arrows than the
    equivalence class. Tables with categories or counts are searched as blocks of columns.
    """
    # A search whose score does not depend on units does not start from orders that do.
    method = model.refinement_for(len(given.names))
    is_by_units = method != "prune" and model.order_follows_units(None)
    if needs_blocks(given.kinds):
        return refine_blocks(model, given, {} if is_by_units else orders, watch)
    assert method is not None
    watch.begin(1, f"{type(model).__name__}: refining")
    (seed,) = seeds_from(model.random_state, 1)
    run = Run(
        np.random.default_rng(seed),
        restarts=model.most_restarts,
        should_stop=lambda: watch.stop is not None,
        device=device_named(getattr(model, "device", "auto")),
    )
    known = given.known
    found = decide_noise(
        _inputs(given),
        orders,
        run,
        noise=model.noise,
        method=method,
        by_units=tuple(orders) if is_by_units else (),
    )
    order, weights = found.order, found.weights
    if given.regimes is not None and method == "order" and found.noise == "gaussian":
        regime_run = replace(run, random=np.random.default_rng(seed), restarts=None)
        order, weights = graph_over_regimes(given, found.adjacency(), regime_run)
    elif known.bounds is not None:
        # The search did not enforce order constraints that the support implies for all arcs: the
        # order is corrected here, and no arc changes.
        order = respecting(order, known.bounds.before | found.adjacency())
    return RefinedFit(
        order,
        weights,
        found.noise,
        found.reason,
        found.report,
        watch.stop if found.ended_early else None,
        found.scores,
        doubt=None if found.doubt is None else _finding(found.doubt, given.names),
    )


def _finding(doubt: "Doubt", names: list[str]) -> Finding:
    """Name the columns of a doubt about the noise."""
    columns = tuple(names[place] for place in doubt.columns)
    return Finding(doubt.kind, columns, doubt.share, "warning", doubt.sentence)


def _inputs(given: "Prepared") -> NoiseInputs:
    """Collect what the decision about the noise, and the search under it, need of a table."""
    known, moments = given.known, None
    if not known.is_nothing:
        moments = replace(known.moments(given.X), given=given.without_equation)
    return NoiseInputs(
        given.X,
        given.names,
        moments=moments,
        constraints=known.constraints,
        fewest=known.fewest_constraints,
        counted=known.counted,
        means=given.preparation.means / given.preparation.factors,
        given=given.without_equation,
    )


def refine(
    model: Any,
    X: Any,
    *,
    method: str = "order",
    noise: "Noise" = "auto",
    knowledge: Any = None,
    interventions: Any = None,
    random_state: Any = 0,
    max_time: float | None = None,
) -> "StructureLearner":
    """Refine any fitted linear learner on a table, or any order of its columns.

    Parameters
    ----------
    model : fitted learner, or sequence of column names or numbers
        A learner with a causal order, whose `kinds` and `missing` are used, or the order itself,
        causes first.
    X : table
        With the columns that the learner was fitted on, or that the order names.
    method : {"prune", "order"}
        Keep the order and choose arcs, or search for a better order near it and from other starts.
    noise : {"auto", "gaussian", "equal-variance", "non-gaussian"}
        What is assumed of the noise; see :class:`cosmodag.Cosmo`.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph, by default the knowledge of `model`; an order that contradicts
        it is changed.
    interventions : optional
        What was set in each row, as for ``fit``.
    random_state : int, Generator, RandomState or None
    max_time : float, optional
        Seconds after which the search stops with the best graph so far.

    Returns
    -------
    fitted OrderSearch
        With the refined graph; `model` is not changed.

    Examples
    --------
    >>> from cosmodag import VarianceSort, refine, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> better = refine(VarianceSort().fit(data.X), data.X, random_state=0)
    >>> better.adjacency_.shape
    (10, 10)
    """
    from cosmodag.learners.order_search import OrderSearch

    if isinstance(model, FittedGraph):
        check_is_fitted(model, "fitted_")
        refuse_lags(model, "refine", "fit OrderSearch with these lags")
        model.fitted_.ask_for_targets(interventions)
        order = model.causal_order_
    else:
        order = list(model)
    learner = OrderSearch(
        kinds=getattr(model, "kinds", "auto"),
        missing=getattr(model, "missing", "error"),
        noise=noise,
        knowledge=getattr(model, "knowledge_", None) if knowledge is None else knowledge,
        random_state=random_state,
        max_time=max_time,
    )
    return learner.fit_from(X, order, method, interventions=interventions)
