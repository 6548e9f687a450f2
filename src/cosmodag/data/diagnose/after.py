"""Findings after a fit: misfit of the learnt graph."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.diagnose.columns.scale import standardised
from cosmodag.data.diagnose.findings import Finding, not_examined
from cosmodag.data.diagnose.graph.hidden.search import find_hidden_causes
from cosmodag.data.diagnose.graph.relations import examine_arcs, misfits
from cosmodag.data.kinds.decision import value_counts
from cosmodag.errors import name_list

__all__ = ["MOST_TESTED", "after_fit"]

MOST_TESTED = 1_000
"""Largest number of columns for which arcs are tested."""

_FEWEST_ROWS = 50
_MOST_ROWS = 20_000
# Columns and rows with which hidden causes are searched for: one factor may explain four columns.
_FEWEST_COLUMNS, _MOST_SEARCHED, _FEWEST_SEARCHED = 4, 60, 100
# Gains, in units of log-likelihood, above which hidden causes are reported, called likely, and
# called very likely; benchmarks/trust.md shows how often each is right.
_REPORTED, _LIKELY, _VERY_LIKELY = 8.0, 15.0, 30.0
_SINGULAR = 1e-7


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
    used = np.asarray(X[:: max(1, len(X) // _MOST_ROWS)], np.float64)
    # The tests count rows as independent evidence.
    if len(used) < _FEWEST_ROWS or "rows_follow" in {finding.name for finding in known}:
        return []
    if X.shape[1] > MOST_TESTED:
        what = "Curved relations, uneven noise and hidden causes"
        return [not_examined(X.shape[1], what)]
    columns = np.flatnonzero(used.max(axis=0) > used.min(axis=0))
    # Columns with ties, such as counts, are covered by another finding.
    is_continuous = value_counts(used)[columns] == 0
    used = standardised(used[:, columns])
    tests = examine_arcs(used, arcs[np.ix_(columns, columns)], is_continuous, should_stop)
    findings = misfits(tests, [names[v] for v in columns.tolist()])
    reported = {finding.name for finding in (*known, *findings)}
    if reported & {"several_populations", "curved"}:
        return findings
    if given is not None and given[columns].any():
        is_given = given[columns]
        before, own = used[:, is_given], used[:, ~is_given]
        left = own - before @ np.linalg.lstsq(before, own, rcond=None)[0]
        is_left = left.std(axis=0) > 1e-6
        used, columns = standardised(left[:, is_left]), columns[~is_given][is_left]
    order = np.asarray(order, np.intp)
    order = np.searchsorted(columns, order[np.isin(order, columns)])
    arcs, names = arcs[np.ix_(columns, columns)], [names[v] for v in columns.tolist()]
    return [*findings, *_hidden_causes(used, names, arcs, order, should_stop)]


def _hidden_causes(
    X: NDArray[np.float64],
    names: Sequence[str],
    arcs: NDArray[np.bool_],
    order: NDArray[np.intp],
    should_stop: Callable[[], bool],
) -> list[Finding]:
    """Search for hidden causes that explain groups of columns better than the arcs among them."""
    n, d = X.shape
    if d > _MOST_SEARCHED:
        return [not_examined(d, "Hidden causes")]
    if n < max(_FEWEST_SEARCHED, 2 * d) or d < _FEWEST_COLUMNS:
        return []
    correlations = X.T @ X / n
    np.fill_diagonal(correlations, 1.0)
    if np.linalg.eigvalsh(correlations)[0] < _SINGULAR:
        return []  # columns that determine one another are covered by another finding
    found = find_hidden_causes(correlations, arcs, n, order, should_stop)
    if found is None or found.gain < _REPORTED:
        return []
    columns = sorted({column for effects in found.effects for column in effects})
    named = tuple(names[column] for column in columns)
    first = name_list([names[column] for column in found.effects[0]])
    number = len(found.effects)
    causes = (
        f"A hidden common cause (of {first}) explains"
        if number == 1
        else f"{number} hidden common causes (of {first}, and others) explain"
    )
    sentence = (
        f"{causes} the columns better than arcs among them, {_how_sure(found.gain)} (penalised "
        f"log-likelihood higher by {found.gain:.0f}, with {found.arcs_after} arcs instead of "
        f"{found.arcs_before}), so arcs among {name_list(named)} may reflect causes that are not "
        "in the table: measure them, or read those arcs as associations."
    )
    return [Finding("hidden_causes", named, found.gain, "warning", sentence)]


def _how_sure(gain: float) -> str:
    if gain >= _VERY_LIKELY:
        return "very likely"
    return "likely" if gain >= _LIKELY else "possibly"
