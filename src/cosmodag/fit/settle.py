"""The graph of a fit: choose its arcs after learning or refinement, and examine it."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose import Finding, after_fit, warn_about
from cosmodag.data.diagnose.findings import stopped_early
from cosmodag.data.diagnose.series import residuals_follow
from cosmodag.data.diagnose.table_checks import MOST_TESTED
from cosmodag.fit.dag.assertions import Doubt
from cosmodag.fit.dag.basis import FIRM
from cosmodag.fit.dag.known import Known
from cosmodag.fit.dag.preparation import Preparation
from cosmodag.fit.dag.regime_equations import fitted_regimes
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitResult, Learnt, RefinedFit
from cosmodag.graph.dags import DENSE_LIMIT, above, agreeing, drop_cycles, is_dag, topological_order
from cosmodag.solve.watch import Ending, Watch

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

# Largest number of variables with which arrows are turned one by one: it takes milliseconds for 50
# variables, and about a second for 200.
_MOST_TURNED = 200


def settled(
    learner: "StructureLearner", given: Prepared, learnt: Learnt, watch: Watch
) -> FitResult:
    """Turn the result of learning into a DAG, refine it if asked for, and fit its constants."""
    found = aligned(learnt, given.preparation, given.known, learner.raw_threshold)
    method = learner.refinement_for(len(given.names))
    attributes = {**given.attributes, **learnt.extra, **found.attributes, "refinement_": method}
    stopped, doubt = learnt.stopped, None
    if method is None:
        graph = unrefined_graph(found.learnt, given.known, learner.raw_threshold)
        learner.warn_if_repaired(found)
    else:
        refined = learner.refined(given, found.learnt, watch)
        attributes |= {"noise_scores_": refined.scores, "refine_report_": refined.report}
        attributes |= refined.extra
        stopped, doubt = stopped or refined.stopped, refined.doubt
        graph = _refined_graph(refined, given.known, learner.refined_threshold)
    if watch.stop == "interrupt":  # also after the end of refinement
        stopped = "interrupt"
    dag = FittedDAG(
        preparation=given.preparation,
        known=given.known,
        columns=given.columns,
        knowledge=given.knowledge,
        kinds=given.kinds,
        target_sets=given.target_sets,
        window=given.window,
        follows_units=learner.order_follows_units(graph.get("noise")),
        learner=type(learner).__name__,
        **graph,
    ).settled(given.data, recentre=learner.scale != "none")
    if learnt.raw_weights is None and dag.weights is not None:
        attributes["raw_weights_"] = dag.weights
    attributes |= learner.attributes_of(dag, given.data)
    return FitResult(dag, attributes, stopped, given.findings, doubt)


def examined(
    learner: "StructureLearner", given: Prepared, fit: FitResult, watch: Watch
) -> FitResult:
    """Compute the evidence for each arrow, and warn of what the equations leave unexplained.

    If the watch stops, the examination ends within about two seconds, with a warning.
    """
    dag, ending = fit.dag, Ending(watch)
    regimes = fitted_regimes(given, dag)
    losses = turning_losses_of(dag, given, ending.of("the evidence for each arrow"))
    known = [*fit.findings, *([] if regimes is None else regimes.findings(dag.texts))]
    if learner.is_linear and dag.is_linear:
        should_stop = ending.of("curved relations, uneven noise and hidden causes")
        found = _findings_after(dag, given, known, fit.doubt, should_stop)
    else:
        found = [*([] if fit.doubt is None else [fit.doubt]), *_about_lags(dag)]
    found += stopped_early(ending.unfinished)
    warn_about(found, stacklevel=5)
    losses = dag.turning_losses if losses is None else losses
    return replace(
        fit,
        dag=dag.examined(regimes, losses, Doubt.among([*known, *found])),
        stopped=fit.stopped or (watch.stop if ending.unfinished else None),
        findings=[*known, *found],
    )


class Aligned(NamedTuple):
    """Learnt weights of the arcs that may exist, and an order that agrees with knowledge.

    ``was_cyclic`` and ``dropped_arcs`` concern the weights above the threshold: whether they have
    a cycle, and how many of their arcs are against the order.
    """

    learnt: Learnt
    was_cyclic: bool = False
    dropped_arcs: int = 0

    @property
    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of a learner, by name; sparse weights are not kept."""
        found = {"was_cyclic_": self.was_cyclic, "dropped_arcs_": self.dropped_arcs}
        raw = self.learnt.raw_weights
        return found if raw is None or sparse.issparse(raw) else {**found, "raw_weights_": raw}


def aligned(learnt: Learnt, preparation: Preparation, known: Known, threshold: float) -> Aligned:
    """Isolate constant columns, and choose arcs and an order that agree with knowledge."""
    raw, order = learnt.raw_weights, learnt.order
    if raw is None:
        order = None if order is None else known.ordered(order)
        return Aligned(replace(learnt, order=order))
    raw = allowed(isolated(raw, preparation.constant), known.support)
    if order is None:
        # Arcs are inserted by falling strength, and arcs that would close a cycle are dropped:
        # infinite strengths enforce the partial order.
        before = known.before
        bound = raw if before is None else np.where(before, np.inf, raw)
        order = topological_order(drop_cycles(bound)[0])
    else:
        order = known.ordered(order)
    strong = above(raw, threshold)
    dropped = count_arcs(strong) - count_arcs(agreeing(strong, order))
    return Aligned(replace(learnt, raw_weights=raw, order=order), not is_dag(strong), dropped)


def unrefined_graph(learnt: Learnt, known: Known, threshold: float) -> dict[str, Any]:
    """Fields of a `FittedDAG` without refinement; arcs against the order are dropped."""
    assert learnt.order is not None
    weights = agreeing(learnt.raw_weights, learnt.order)
    return {
        "order": learnt.order,
        "weights": None if sparse.issparse(weights) else weights,
        "adjacency": chosen_arcs(weights, threshold, known.required),
        "equations": learnt.equations,
    }


def _refined_graph(refined: RefinedFit, known: Known, threshold: float) -> dict[str, Any]:
    """Fields of a `FittedDAG` from the result of refinement."""
    chosen = chosen_arcs(refined.weights, threshold, known.required)
    is_sparse = len(refined.order) > DENSE_LIMIT
    return {
        "order": np.asarray(refined.order),
        "weights": None if is_sparse else refined.weights.toarray(),
        "adjacency": chosen if is_sparse else chosen.toarray(),
        "equations": refined.equations,
        "noise": refined.noise,
        "noise_reason": refined.reason,
        "turning_losses": refined.turning_losses,
    }


def turning_losses_of(
    dag: FittedDAG, given: Prepared, should_stop: Callable[[], bool]
) -> NDArray[np.float64] | None:
    """Compute the loss of score when each arrow is turned: (d, d).

    NaN where there is no arrow, or the time was over before it was turned; None if the score was
    not the Gaussian one, or there are too many variables.
    """
    if dag.noise != "gaussian" or dag.d > _MOST_TURNED or not dag.is_linear:
        return None
    if given.regimes is not None:  # the graph was chosen by a score over all regimes
        return None
    from cosmodag.search.column_score import ColumnScore
    from cosmodag.search.constraints import Constraints
    from cosmodag.search.turning import turning_losses

    edges, known = dag.edges, given.known
    constraints = Constraints(known.support, known.required)
    # Arcs out of columns without equations cannot be turned.
    can_turn = np.ones(edges.nnz, np.bool_) if known.given is None else ~known.given[edges.row]
    losses = np.full((dag.d, dag.d), np.nan)
    losses[edges.row[can_turn], edges.col[can_turn]] = turning_losses(
        ColumnScore.of(known.moments(given.X), constraints=constraints),
        dag.order,
        edges.row,
        edges.col,
        asked=can_turn,
        search_from=FIRM,
        should_stop=should_stop,
    )
    return losses


def _findings_after(
    dag: FittedDAG,
    given: Prepared,
    known: list[Finding],
    doubt: Finding | None,
    should_stop: Callable[[], bool],
) -> list[Finding]:
    """Find what linear equations on the learnt graph leave unexplained in its training data.

    `known` are the findings before the fit. `doubt` is that of the noise decision, about the graph
    that it rejected: it is left out if it is about arcs, and the learnt graph has such a finding.
    """
    rows = given.known.untouched
    has_observations = given.known.targets is None or rows is not None
    if dag.d > MOST_TESTED or not has_observations:
        return []
    X = given.X if rows is None else given.X[rows]
    found = after_fit(
        X,
        dag.texts,
        dag.arcs.toarray(),
        dag.order,
        known=known,
        given=given.known.given,
        any_shape=dag.noise == "non-gaussian",
        should_stop=should_stop,
    )
    of_arcs = {"curved", "uneven_noise"}
    if doubt is not None and not (doubt.name in of_arcs and any(f.name in of_arcs for f in found)):
        found = [doubt, *found]
    return [*found, *_about_lags(dag)]


def _about_lags(dag: FittedDAG) -> list[Finding]:
    """Report residuals of a time series that depend on earlier ones: there are too few lags."""
    if dag.window is None or dag.residuals is None:
        return []
    numbers = np.array([kind.is_number for kind in dag.kinds] or [True] * dag.d)
    columns = np.flatnonzero(dag.has_noise & numbers).tolist()
    return list(residuals_follow(dag.residuals, columns, dag.texts, dag.window.lags))


def chosen_arcs(weights: Any, threshold: float, required: NDArray[np.bool_] | None) -> Any:
    """Keep the arcs above a threshold, and required arcs whatever their weights.

    A sparse matrix stores a required arc of weight zero; a dense one cannot.
    """
    strong = above(weights, threshold)
    if required is None:
        return strong
    if not sparse.issparse(weights):
        return np.where(required, weights, strong)
    tails, heads = np.nonzero(required)
    values = np.asarray(sparse.csr_array(weights)[tails, heads]).ravel()
    others = sparse.coo_array(strong)
    new = ~required[others.row, others.col]
    places = (np.append(others.row[new], tails), np.append(others.col[new], heads))
    return sparse.csr_array((np.append(others.data[new], values), places), shape=weights.shape)


def isolated(weights: Any, constant: NDArray[np.bool_]) -> Any:
    """Drop all arcs of constant columns: float64, dense or sparse like `weights`."""
    keep = (~constant).astype(np.float64)
    if sparse.issparse(weights):
        diagonal = sparse.diags_array(keep)
        return sparse.csr_array(diagonal @ weights @ diagonal)
    return np.asarray(weights, np.float64) * keep[:, None] * keep


def allowed(weights: Any, support: NDArray[np.bool_] | None) -> Any:
    """Drop the arcs that knowledge excludes, in case a learner has not."""
    if support is None:
        return weights
    if sparse.issparse(weights):
        return sparse.csr_array(sparse.csr_array(weights).multiply(support))
    return np.where(support, weights, 0.0)


def count_arcs(weights: Any) -> int:
    """Count the arcs of a matrix, dense or sparse."""
    return int(weights.count_nonzero() if sparse.issparse(weights) else np.count_nonzero(weights))
