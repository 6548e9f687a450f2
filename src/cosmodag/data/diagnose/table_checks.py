"""The checks of every fit: of the table before it, and of the learnt graph after it."""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.diagnose.arc_findings import examine_arcs, misfits
from cosmodag.data.diagnose.column_findings import (
    collinear,
    duplicates,
    equal_columns,
    near_duplicates,
    rare_levels,
    running_ids,
    unlike_lines,
)
from cosmodag.data.diagnose.findings import Finding, not_examined
from cosmodag.data.diagnose.hidden_causes import find_hidden_causes
from cosmodag.data.diagnose.hidden_groups import Equations
from cosmodag.data.diagnose.mixtures import shifted_rows
from cosmodag.data.diagnose.row_findings import few_rows, rows_follow, several_populations
from cosmodag.data.diagnose.scale import (
    LARGE,
    SMALL,
    constant,
    different_scales,
    out_of_range,
    outliers,
    sizes_of,
    standardised,
)
from cosmodag.data.diagnose.series import changing_series
from cosmodag.data.kinds.inferred import FEW_VALUES, value_counts
from cosmodag.errors import name_list
from cosmodag.graph.texts import counted
from cosmodag.io.kind_names import NOT_EXAMINED, ColumnKind

MOST_CORRELATED = 500
"""Largest number of columns whose correlations are checked in every fit."""

_SAMPLED_ROWS = 5_000
_WITH_OWN_EQUATION = ("binary", "categorical", "count")

MOST_TESTED = 1_000
"""Largest number of columns for which arcs are tested."""

_FEWEST_ROWS = 50
_MOST_ROWS = 20_000

# Limits of the search for hidden causes: fewest and most columns, fewest rows. Four columns are the
# fewest that one factor can explain better than arcs.
_FEWEST_COLUMNS, _MOST_SEARCHED, _FEWEST_SEARCHED = 4, 60, 100

# Smallest gains, in units of log-likelihood, with which hidden causes are reported, called likely,
# and called very likely; benchmarks/trust.md shows how often each is right.
_REPORTED, _LIKELY, _VERY_LIKELY = 8.0, 15.0, 30.0

# Deviation of residuals of standardised columns below which they are rounding errors.
_NO_NOISE = 1e-6

# Smallest eigenvalue of the correlations of columns that do not determine one another.
_SINGULAR = 1e-7


def before_fit(
    X: NDArray[Any],
    names: Sequence[str],
    untouched: NDArray[np.bool_] | None = None,
    kinds: Sequence[ColumnKind] | None = None,
    *,
    in_time: bool = False,
    by_kind: bool = False,
) -> list[Finding]:
    """Check the table alone: O(n·d), plus correlations for up to 500 columns.

    The findings are those of `docs/diagnose.md` that apply and need no graph. Exact linear
    combinations are searched for among up to 1,000 columns, first in d + 200 rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite floats, as `cosmodag.io.as_table` returns them.
    names : sequence of str
        One name per column.
    untouched : (n,) array of bool, optional
        Rows without interventions, by default all. Only these are checked for dependence between
        rows and for clusters.
    kinds : sequence of ColumnKind, optional
        Kinds of the columns. Categories of more than two levels are only checked for rare levels.
    in_time : bool
        Whether the rows are those of time series, in order, and the fit treats them as such:
        successive rows may be correlated, but their distribution must not change.
    by_kind : bool
        Whether levels and counts have equations of their kinds, so that they are not reported as
        unsuitable for linear equations.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 1] = 7
    >>> for finding in before_fit(X, ["a", "b", "c"]):
    ...     print(finding.name, finding.columns, finding.sentence)
    constant ('b',) A column with a single value stays isolated in the graph: leave out 'b'.
    """
    kinds = kinds or (NOT_EXAMINED,) * len(names)
    rare = rare_levels(X, kinds, names)
    places = [v for v, kind in enumerate(kinds) if kind.is_number]
    if not places:
        return rare
    is_linear = np.array([not (by_kind and kinds[v].kind in _WITH_OWN_EQUATION) for v in places])
    everything = (X if untouched is None else X[untouched]), names
    X, names = X[:, places], [names[v] for v in places]
    deviations, spans, distances = sizes_of(X)
    is_constant = spans == 0
    varying = np.flatnonzero((spans >= SMALL) & (spans <= LARGE)).tolist()
    groups = equal_columns(X, np.flatnonzero(~is_constant).tolist())
    repeats = {column for group in groups for column in group[1:]}
    distinct = [column for column in varying if column not in repeats]
    n_values = value_counts(X)
    alike = collinear(X, distinct, names)
    rows = X if untouched is None else X[untouched]
    following = [] if in_time else rows_follow(rows, varying, names, everything)
    findings = [
        *rare,
        *constant(is_constant, names),
        *out_of_range(spans, names),
        *duplicates(groups, names),
        *alike,
        *different_scales(deviations, is_constant, names),
        *few_rows(*X.shape),
        *running_ids(X, varying, names),
        *following,
        *(changing_series(rows, varying, names) if in_time else []),
        *outliers(distances, names),
        *unlike_lines(X[:, is_linear], n_values[is_linear], list(compress(names, is_linear))),
    ]
    # The other checks need correlations between columns; a few thousand rows are enough.
    if len(distinct) > MOST_CORRELATED:
        what = "Near-duplicates and several populations"
        return [*findings, not_examined(len(distinct), what)]
    sample = rows[:: max(1, len(rows) // _SAMPLED_ROWS), distinct]
    if len(sample) < 10 or len(distinct) < 2:
        return findings
    standard = standardised(sample)
    if not alike:
        findings += near_duplicates(standard, [names[column] for column in distinct])
    if not (in_time or "rows_follow" in {finding.name for finding in following}):
        few = (n_values[distinct] > 0) & (n_values[distinct] <= FEW_VALUES)
        findings += several_populations(standard[:, ~few], standard[:, few])
    return findings


def after_fit(
    X: NDArray[Any],
    names: Sequence[str],
    arcs: NDArray[np.bool_],
    order: ArrayLike,
    *,
    known: Sequence[Finding] = (),
    given: NDArray[np.bool_] | None = None,
    any_shape: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Finding]:
    """Test the linear equations of a learnt graph for misfit.

    The findings are ``curved``, ``uneven_noise``, ``several_populations`` and ``hidden_causes``, if
    they apply. The tests
    cost about three products of n·d², and more if hidden causes seem possible.

    Parameters
    ----------
    X : (n, d) array
        The rows of the training data in which every variable followed its own equation.
    names : sequence of str
        One name per column.
    arcs : (d, d) array of bool
        The learnt DAG: True at [u, v] for u → v.
    order : (d,) array of int
        The variables in a causal order of the DAG.
    known : sequence of Finding
        Earlier findings. If rows depend on one another, nothing is tested. With several populations
        or curved relations, hidden causes are not searched for, because both produce the same arcs
        as hidden causes.
    given : (d,) array of bool, optional
        Columns without an equation, such as the past of a time series. Hidden causes are searched
        for among the residuals of the other columns after regression on these.
    any_shape : bool
        Whether the graph was chosen for noise of any shape.
    should_stop : function
        Called before every test. Once it returns True, the findings so far are returned.
    """
    used = np.asarray(X[:: max(1, len(X) // _MOST_ROWS)], np.float64)
    # The tests assume independent rows.
    if len(used) < _FEWEST_ROWS or "rows_follow" in {finding.name for finding in known}:
        return []
    if X.shape[1] > MOST_TESTED:
        what = "Curved relations, uneven noise and hidden causes"
        return [not_examined(X.shape[1], what)]
    columns = np.flatnonzero(used.max(axis=0) > used.min(axis=0))
    # Other findings report columns with ties, such as counts.
    is_continuous = value_counts(used)[columns] == 0
    used = standardised(used[:, columns])
    tests = examine_arcs(used, arcs[np.ix_(columns, columns)], is_continuous, should_stop)
    findings = misfits(tests, [names[v] for v in columns.tolist()])
    reported = {finding.name for finding in (*known, *findings)}
    if not reported & {"several_populations", "curved"} and given is None:
        noise = _residuals(used, arcs[np.ix_(columns, columns)])[:, is_continuous]
        findings += shifted_rows(noise[:, noise.std(axis=0) > _NO_NOISE], any_shape=any_shape)
        reported |= {finding.name for finding in findings}
    if reported & {"several_populations", "curved"}:
        return findings
    if given is not None and given[columns].any():
        is_given = given[columns]
        past, present = used[:, is_given], used[:, ~is_given]
        residuals = present - past @ np.linalg.lstsq(past, present, rcond=None)[0]
        is_noise = residuals.std(axis=0) > _NO_NOISE
        used, columns = standardised(residuals[:, is_noise]), columns[~is_given][is_noise]
    order = np.asarray(order, np.intp)
    order = np.searchsorted(columns, order[np.isin(order, columns)])
    arcs, names = arcs[np.ix_(columns, columns)], [names[v] for v in columns.tolist()]
    return [*findings, *_hidden_causes(used, names, arcs, order, should_stop)]


def _residuals(standard: NDArray[np.float64], arcs: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Residuals of the linear equations of a graph, for standardised columns."""
    parents = [np.flatnonzero(column).tolist() for column in arcs.T]
    weights, _ = Equations(standard.T @ standard / len(standard), parents).fitted
    return np.asarray(standard - standard @ weights)


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
        return []  # another finding reports columns that determine one another
    found = find_hidden_causes(correlations, arcs, n, order, should_stop)
    if found is None or found.gain < _REPORTED:
        return []
    columns = sorted({column for effects in found.effects for column in effects})
    named = tuple(names[column] for column in columns)
    first = name_list([names[column] for column in found.effects[0]])
    number = len(found.effects)
    sure = "likely" if found.gain >= _LIKELY else "possibly"
    sure = "very likely" if found.gain >= _VERY_LIKELY else sure
    explanation = (
        f"A hidden common cause (of {first}) {sure} explains"
        if number == 1
        else f"{number} hidden common causes (of {first}, and others) {sure} explain"
    )
    sentence = (
        f"{explanation} the columns better than arcs among them (penalised log-likelihood higher "
        f"by {found.gain:.0f}, with {counted(found.arcs_after, 'arc')} instead of "
        f"{found.arcs_before}), so arcs among {name_list(named)} may reflect causes that are not "
        "in the table: measure these, or read the arcs as associations."
    )
    return [Finding("hidden_causes", named, found.gain, "warning", sentence)]
