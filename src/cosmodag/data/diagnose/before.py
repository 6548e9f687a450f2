"""Findings before a fit: cheap checks of the table alone."""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.columns.copies import (
    collinear,
    duplicates,
    equal_columns,
    near_duplicates,
)
from cosmodag.data.diagnose.columns.kinds import rare_levels, running_ids, unlike_lines
from cosmodag.data.diagnose.columns.scale import (
    LARGE,
    SMALL,
    constant,
    different_scales,
    out_of_range,
    outliers,
    standardised,
    summary_of,
)
from cosmodag.data.diagnose.findings import Finding, not_examined
from cosmodag.data.diagnose.rows.populations import several_populations
from cosmodag.data.diagnose.rows.sampling import few_rows, rows_follow
from cosmodag.data.diagnose.rows.series import changing_series
from cosmodag.data.kinds.decision import FEW_VALUES, value_counts
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind

__all__ = ["MOST_CORRELATED", "before_fit"]

MOST_CORRELATED = 500
"""Largest number of columns whose correlations are checked in every fit."""

_SAMPLED_ROWS = 5_000
_WITH_OWN_EQUATION = ("binary", "categorical", "count")


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

    Exact linear combinations are searched among up to 1,000 columns, in d + 200 rows.

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
        Kinds of the columns. Numbers of levels without order are checked for rare levels only.
    in_time : bool
        Whether the rows are those of time series, in order, and are learnt from as such: they may
        follow one another, but their distribution must not change.
    by_kind : bool
        Whether levels and counts have equations of their kinds: they are then not reported as
        values that do not suit linear equations.

    Returns
    -------
    list of Finding
        The findings of `docs/diagnose.md` that apply and need no graph.

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
    lines = np.array([not (by_kind and kinds[v].kind in _WITH_OWN_EQUATION) for v in places])
    X, names = X[:, places], [names[v] for v in places]
    deviations, spans, distances = summary_of(X)
    is_constant = spans == 0
    varying = np.flatnonzero((spans >= SMALL) & (spans <= LARGE)).tolist()
    groups = equal_columns(X, np.flatnonzero(~is_constant).tolist())
    repeats = {column for group in groups for column in group[1:]}
    distinct = [column for column in varying if column not in repeats]
    number = value_counts(X)
    alike = collinear(X, distinct, names)
    rows = X if untouched is None else X[untouched]
    following = [] if in_time else rows_follow(rows, varying, names)
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
        *unlike_lines(X[:, lines], number[lines], list(compress(names, lines))),
    ]
    # The other checks need correlations between columns; some thousand rows are enough.
    if len(distinct) > MOST_CORRELATED:
        what = "Near-duplicates and several populations"
        return [*findings, not_examined(len(distinct), what)]
    sample = rows[:: max(1, len(rows) // _SAMPLED_ROWS), distinct]
    if len(sample) < 10 or len(distinct) < 2:
        return findings
    standard = standardised(sample)
    if not alike:
        findings += near_duplicates(standard, [names[column] for column in distinct])
    if not (in_time or following):
        few = (number[distinct] > 0) & (number[distinct] <= FEW_VALUES)
        findings += several_populations(standard[:, ~few], standard[:, few])
    return findings
