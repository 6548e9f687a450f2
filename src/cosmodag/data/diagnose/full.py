"""The full diagnosis of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.column_findings import inferred_kinds
from cosmodag.data.diagnose.findings import SEVERITIES, Finding, about, chosen
from cosmodag.data.diagnose.row_findings import missing_values, refuse_empty, without_gaps
from cosmodag.data.diagnose.scale import (
    LARGE,
    SMALL,
    explained_variance,
    r2_sortability,
    standardised,
    varsortability,
)
from cosmodag.data.diagnose.table_checks import after_fit, before_fit
from cosmodag.data.kinds import with_kinds
from cosmodag.graph.dags import topological_order
from cosmodag.io.graphs.read_graph import GraphLike, arcs_among
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables.frames import as_table

# Limits on 1 − R² of a column given the others: the first is about the rounding error of a
# correlation matrix.
DEPENDENT, NEARLY_DEPENDENT = 1e-10, 1e-3
# The order is revealed if a score grows along at least this fraction of paths; for R², also if it
# falls along as many.
SORTED = 0.9
# Largest number of columns for which a graph is searched.
_MOST_SEARCHED = 100


def diagnose(
    data: Any, names: Sequence[str] | None = None, *, graph: GraphLike | None = None
) -> list[Finding]:
    """Run all checks of a table, and of a graph learnt from it.

    Parameters
    ----------
    data : DataFrame (pandas, polars), Arrow table, ndarray or list of rows
        The table. The checks take O(n·d² + d³) time, and without a graph also a search for one. The
        table may have gaps (NaN): they are counted, and the other checks use the complete rows.
    names : sequence of str, optional
        Column names, as for `cosmodag.io.as_table`.
    graph : graph, as for `cosmodag.io.as_graph`, optional
        A true or a learnt DAG; an array has the order of the columns. ``varsortability`` and
        ``r2_sortability`` need it, because sortability is a property of a table *and* a graph.
        Without it, the checks of a learnt graph use the result of an order search, for up to 100
        columns.

    Returns
    -------
    list of Finding
        Findings of `before_fit`, `after_fit` and `on_request`; warnings come first.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [1, 2, 1e6]
    >>> [finding.name for finding in diagnose(X, names=["age", "dose", "dollars"])]
    ['scale_ratio', 'variance_order', 'r2_order']
    """
    table = with_kinds(as_table(data, names, missing="keep"))
    columns, arcs = table.names, None if graph is None else arcs_among(graph, table.names)
    refuse_empty(np.isnan(table.X), columns)
    gaps = missing_values(table.X, columns)
    findings = list(inferred_kinds(table.kinds or (), columns))
    X = without_gaps(table.X)
    findings += before_fit(X, columns, kinds=table.kinds)
    X, columns, arcs = _numeric_columns(X, columns, arcs, table.kinds)
    if len(columns) < 2:
        return by_severity(gaps + findings)
    if not any(finding.severity == "error" for finding in findings):
        shape = arcs if arcs is not None else _search_graph(X)
        if shape is not None:
            findings += after_fit(X, columns, shape, topological_order(shape), known=findings)
    return by_severity(gaps + findings + on_request(X, columns, findings, arcs))


def by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """Sort findings, errors and warnings first."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def on_request(
    X: NDArray[Any],
    columns: Sequence[str],
    findings: Sequence[Finding],
    arcs: NDArray[np.bool_] | None = None,
    kinds: Sequence[ColumnKind] | None = None,
) -> list[Finding]:
    """Run the checks that are not part of every fit: O(n·d² + d³).

    `findings` are earlier ones: if columns have equal scale, their order by variance is not
    reported, and exact combinations are not reported twice. `arcs` are those of a DAG. Columns
    whose `kinds` are categories of more than two levels are left out. The findings are
    ``variance_order``, ``r2_order``, ``collinear``, ``varsortability`` and ``r2_sortability``.
    """
    found: list[Finding] = []
    X, columns, arcs = _numeric_columns(X, columns, arcs, kinds)
    if not columns:
        return found
    with np.errstate(over="ignore"):
        spans = X.max(axis=0).astype(np.float64) - X.min(axis=0)
    varying = np.flatnonzero((spans >= SMALL) & (spans <= LARGE)).tolist()
    kept = [columns[index] for index in varying]
    known = {finding.name for finding in findings}
    # If all variances are equal, their order only shows rounding errors.
    has_scale = "equal_scale" not in known
    if len(kept) > 1 and has_scale:
        deviations = np.std(X[:, varying], axis=0, dtype=np.float64)
        ordered, low, high = _order_by(deviations, kept)
        sentence = (
            f"The standard deviations of the columns grow {high / low:.3g}-fold from "
            f"{ordered[0]!r} to {ordered[-1]!r}: a learnt order that agrees with them may come "
            "from units."
        )
        found.append(Finding("variance_order", ordered, high / low, "notice", sentence))
    if len(X) > len(kept) > 1:  # with fewer rows, any column is explained by the others
        explained = explained_variance(X[:, varying].astype(np.float64, copy=False))
        if "collinear" not in known:
            found += _collinear(explained, kept)
        ordered, low, high = _order_by(explained, kept)
        sentence = (
            "The fraction of a column's variance that the others explain, R², ranges from "
            f"{low:.2f} for {ordered[0]!r} to {high:.2f} for {ordered[-1]!r}: unlike variance, R² "
            "does not depend on units, and sorting by it is a baseline to beat."
        )
        found.append(Finding("r2_order", ordered, high - low, "notice", sentence))
    among = None if arcs is None else arcs[np.ix_(varying, varying)]
    if among is not None and among.any():
        used = X[:, varying]
        if has_scale:
            found.append(_sorted_by_variance(varsortability(used, among)))
        if len(X) > X.shape[1]:
            found.append(_sorted_by_r2(r2_sortability(used, among)))
    return found


def _numeric_columns(
    X: NDArray[Any],
    columns: Sequence[str],
    arcs: NDArray[np.bool_] | None,
    kinds: Sequence[ColumnKind] | None,
) -> tuple[NDArray[Any], list[str], NDArray[np.bool_] | None]:
    """Leave out categories, whose level numbers have no order."""
    places = [v for v in range(len(columns)) if kinds is None or kinds[v].is_number]
    if len(places) == len(columns):
        return X, list(columns), arcs
    part = None if arcs is None else arcs[np.ix_(places, places)]
    return X[:, places], [columns[v] for v in places], part


def _search_graph(X: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Learn a graph by an order search; None with too many columns or too few rows."""
    varying = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    if not 1 < len(varying) <= _MOST_SEARCHED or len(X) <= X.shape[1]:
        return None
    from cosmodag.search import Run, refine_linear

    found = refine_linear(standardised(X[:, varying]), {}, Run.seeded(0), score="gaussian")
    arcs = np.zeros((X.shape[1], X.shape[1]), np.bool_)
    arcs[np.ix_(varying, varying)] = found.weights.toarray() != 0
    return arcs


def _order_by(sizes: NDArray[np.float64], names: list[str]) -> tuple[tuple[str, ...], float, float]:
    """Sort columns by `sizes`; return them with the smallest and the largest size."""
    order = np.argsort(sizes, kind="stable")
    return tuple(names[v] for v in order), float(sizes[order[0]]), float(sizes[order[-1]])


def _collinear(explained: NDArray[np.float64], names: list[str]) -> list[Finding]:
    most = float(explained.max())
    exactly = about(
        "collinear",
        chosen(names, 1 - explained < DEPENDENT),
        "The other columns determine {columns} exactly, as with totals or the same quantity in two "
        "units, so the arcs among them are arbitrary: leave out one or more of these columns.",
        most,
    )
    return exactly or about(
        "collinear",
        chosen(names, 1 - explained < NEARLY_DEPENDENT),
        "The other columns explain all but a thousandth of the variance of {columns}: arcs among "
        "them may change with small changes in the data.",
        most,
        "notice",
    )


def _sorted_by_variance(share: float) -> Finding:
    is_sorted = share >= SORTED
    result = (
        "sorting the columns by variance recovers its order, so the order depends on their units."
        if is_sorted
        else "the units of the columns do not reveal its order."
    )
    sentence = f"Variance grows along {share:.0%} of the graph's paths: {result}"
    return Finding("varsortability", (), share, "warning" if is_sorted else "notice", sentence)


def _sorted_by_r2(share: float) -> Finding:
    is_sorted = max(share, 1 - share) >= SORTED
    result = "recovers its order in any units." if is_sorted else "does not recover its order."
    sentence = (
        f"R² grows along {share:.0%} of the graph's paths: sorting the columns by R² {result}"
    )
    return Finding("r2_sortability", (), share, "notice", sentence)
