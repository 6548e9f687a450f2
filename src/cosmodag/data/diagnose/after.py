"""Findings after a fit: misfit of the learnt graph."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.diagnose.columns.scale import standardised
from cosmodag.data.diagnose.findings import Finding, not_examined
from cosmodag.data.diagnose.graph.hidden.finding import MOST_COLUMNS as MOST_SEARCHED
from cosmodag.data.diagnose.graph.hidden.finding import hidden_causes
from cosmodag.data.diagnose.graph.relations import examine_arcs, misfits
from cosmodag.data.kinds.value_counts import value_counts

__all__ = ["MOST_TESTED", "after_fit"]

MOST_TESTED = 1_000
"""Largest number of columns for which arcs are tested."""

_FEWEST_ROWS = 50
_MOST_ROWS = 20_000


def after_fit(
    X: NDArray[Any],
    names: Sequence[str],
    arcs: NDArray[np.bool_],
    order: ArrayLike,
    *,
    known: Sequence[Finding] = (),
    doubt: Finding | None = None,
    given: NDArray[np.bool_] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Finding]:
    """Test the linear equations of a learnt graph for misfit.

    Costs three products of n·d², and more if hidden causes seem possible.

    Parameters
    ----------
    X : (n, d) array
        The training data: rows in which every variable followed its own equation.
    names : sequence of str
    arcs : (d, d) array of bool
        The learnt DAG: True at [u, v] for u → v.
    order : (d,) array of int
        Its variables, causes first.
    known : sequence of Finding
        Earlier findings. After a finding that rows follow one another nothing is tested. After one
        of several populations or curved relations hidden causes are not searched for: both produce
        the same arcs.
    doubt : Finding, optional
        The finding of the noise decision's own tests, on the graph that it refused. It is returned
        unless the learnt graph shows it too, so that nothing is reported twice.
    given : (d,) array of bool, optional
        Columns without an equation, such as the past of a time series. Hidden causes are searched
        for among the residuals of the others after regression on these.
    should_stop : function
        Asked while tests are left, about twice a second; then the findings so far are returned.

    Returns
    -------
    list of Finding
        ``curved``, ``uneven_noise`` and ``hidden_causes``, if they apply.
    """
    found = _unexplained(X, names, arcs, order, known, given, should_stop)
    is_reported = {finding.name for finding in found} & {"curved", "uneven_noise"}
    if doubt is None or (is_reported and doubt.name in ("curved", "uneven_noise")):
        return found
    return [doubt, *found]


def _unexplained(
    X: NDArray[Any],
    names: Sequence[str],
    arcs: NDArray[np.bool_],
    order: ArrayLike,
    known: Sequence[Finding],
    given: NDArray[np.bool_] | None,
    should_stop: Callable[[], bool],
) -> list[Finding]:
    d = X.shape[1]
    used = np.asarray(X[:: max(1, len(X) // _MOST_ROWS)], np.float64)
    # The tests count rows as independent evidence.
    if len(used) < _FEWEST_ROWS or "rows_follow" in {finding.name for finding in known}:
        return []
    if d > MOST_TESTED:
        return [not_examined(d, "Curved relations, uneven noise and hidden causes")]
    varying = np.flatnonzero(used.max(axis=0) > used.min(axis=0))
    names, arcs = [names[v] for v in varying.tolist()], arcs[np.ix_(varying, varying)]
    # Columns with ties, such as counts, are covered by another finding.
    is_continuous = value_counts(used)[varying] == 0
    used = standardised(used[:, varying])
    findings = misfits(examine_arcs(used, arcs, is_continuous, should_stop), names)
    reported = {finding.name for finding in (*known, *findings)}
    if reported & {"several_populations", "curved"}:
        return findings
    place = np.full(d, -1, np.intp)
    place[varying] = np.arange(len(varying))
    kept = place[np.asarray(order, np.intp)]
    kept = kept[kept >= 0]
    if given is not None and given[varying].any():
        used, free = _without_given(used, given[varying])
        arcs, names = arcs[np.ix_(free, free)], [names[v] for v in free.tolist()]
        kept = np.searchsorted(free, kept[np.isin(kept, free)])
    if len(names) > MOST_SEARCHED:
        return [*findings, not_examined(len(names), "Hidden causes")]
    correlations = used.T @ used / len(used)
    np.fill_diagonal(correlations, 1.0)
    return [*findings, *hidden_causes(correlations, arcs, len(used), kept, names, should_stop)]


def _without_given(
    X: NDArray[np.float64], given: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Regress the other columns on those given; return what is left, standardised, and which."""
    free = np.flatnonzero(~given)
    left = X[:, free] - X[:, given] @ np.linalg.lstsq(X[:, given], X[:, free], rcond=None)[0]
    is_left = left.std(axis=0) > 1e-6
    return standardised(left[:, is_left]), free[is_left]
