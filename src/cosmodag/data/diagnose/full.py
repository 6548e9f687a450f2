"""Everything that can be found in a table, on request."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.diagnose.one_pass import quick
from cosmodag.data.diagnose.sortability import explained_variance, r2_sortability, varsortability
from cosmodag.errors import DataError, name_list
from cosmodag.io.graphs import Graph
from cosmodag.io.tables import as_table

_SEVERITIES = ("error", "warning", "notice")

__all__ = ["DEPENDENT", "NEARLY_DEPENDENT", "SORTED", "diagnose"]

# 1 − R² of a column given the others: about the rounding error of a correlation matrix, and high.
DEPENDENT = 1e-10
NEARLY_DEPENDENT = 1e-3
# A share of sorted paths above this, or below one minus it, gives the order away.
SORTED = 0.9


def diagnose(
    data: Any, names: Sequence[str] | None = None, *, graph: Graph | ArrayLike | None = None
) -> list[Finding]:
    """Look for everything in a table that bears on a graph learnt from it.

    Parameters
    ----------
    data : DataFrame (pandas, polars), Arrow table, ndarray or list of rows
        The table; looking at it costs O(n·d² + d³).
    names : sequence of str, optional
        Column names, as for `cosmodag.io.as_table`.
    graph : Graph or array of shape (d, d), optional
        A true or a learnt DAG, non-zero at [u, v] for the arc u → v. Sortability belongs to a
        table *and* a graph, so that only with one can ``varsortability`` and ``r2_sortability``
        be found.

    Returns
    -------
    list of Finding
        What `quick` finds, and ``variance_order``, ``r2_order``, ``collinear``,
        ``varsortability`` and ``r2_sortability`` where they apply; warnings come first. Columns
        of equal scale have no order by variance, so that nothing is said of it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [1, 2, 1e6]
    >>> [finding.name for finding in diagnose(X, names=["age", "dose", "dollars"])]
    ['scale_ratio', 'variance_order', 'r2_order']
    """
    table = as_table(data, names)
    X, columns = table.X, table.names
    findings = quick(X, columns)
    cannot_be_squared = {
        name
        for finding in findings
        if finding.name in ("too_large", "too_small")
        for name in finding.columns
    }
    varying = [
        index
        for index in np.flatnonzero(X.max(axis=0) > X.min(axis=0)).tolist()
        if columns[index] not in cannot_be_squared
    ]
    kept = [columns[index] for index in varying]
    known = {finding.name for finding in findings}
    # Columns of one scale have no order by variance, but for their rounding errors.
    has_scale = "equal_scale" not in known
    if len(kept) > 1 and has_scale:
        findings += _variance_order(np.std(X[:, varying], axis=0, dtype=np.float64), kept)
    if len(X) > len(kept) > 1:  # with fewer rows, any column is explained by the others
        explained = explained_variance(X[:, varying].astype(np.float64, copy=False))
        if "collinear" not in known:
            findings += _collinear(explained, kept)
        findings += _r2_order(explained, kept)
    arcs = None if graph is None else _arcs(graph, columns)
    if arcs is not None and arcs.any():
        if has_scale:
            findings += _sorted_by_variance(varsortability(X, arcs))
        if len(X) > X.shape[1]:
            findings += _sorted_by_r2(r2_sortability(X, arcs))
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))


def _variance_order(deviations: NDArray[np.float64], names: list[str]) -> Iterator[Finding]:
    order = np.argsort(deviations, kind="stable")
    ordered = tuple(names[index] for index in order)
    ratio = float(deviations[order[-1]] / deviations[order[0]])
    yield Finding(
        "variance_order",
        ordered,
        ratio,
        "notice",
        f"Sorted by standard deviation, which grows {ratio:.3g}-fold, the columns run from "
        f"{ordered[0]!r} to {ordered[-1]!r}: a learnt order that agrees may come from units.",
    )


def _collinear(explained: NDArray[np.float64], names: list[str]) -> Iterator[Finding]:
    most = float(explained.max())
    dependent = tuple(names[index] for index in np.flatnonzero(1 - explained < DEPENDENT))
    nearly = tuple(names[index] for index in np.flatnonzero(1 - explained < NEARLY_DEPENDENT))
    if dependent:
        yield Finding(
            "collinear",
            dependent,
            most,
            "warning",
            "Columns that others determine exactly, such as totals or the same quantity in two "
            f"units, make arcs arbitrary: leave out one or more of {name_list(dependent)}.",
        )
    elif nearly:
        yield Finding(
            "collinear",
            nearly,
            most,
            "notice",
            f"The other columns explain all but a thousandth of {name_list(nearly)}: arcs among "
            "them may be redistributed by small changes of the data.",
        )


def _r2_order(explained: NDArray[np.float64], names: list[str]) -> Iterator[Finding]:
    order = np.argsort(explained, kind="stable")
    ordered = tuple(names[index] for index in order)
    low, high = float(explained[order[0]]), float(explained[order[-1]])
    yield Finding(
        "r2_order",
        ordered,
        high - low,
        "notice",
        f"The share of a column that the others explain, R², runs from {low:.2f} for "
        f"{ordered[0]!r} to {high:.2f} for {ordered[-1]!r}: unlike variance, it does not change "
        "with units, and sorting by it is a baseline to beat.",
    )


def _arcs(graph: Graph | ArrayLike, columns: list[str]) -> NDArray[np.bool_]:
    """Give a graph as a dense mask in the order of the columns."""
    if isinstance(graph, Graph):
        return graph.aligned(columns).mask()
    mask: NDArray[np.bool_] = np.asarray(graph) != 0
    if mask.shape != (len(columns), len(columns)):
        raise DataError(
            f"the graph has shape {mask.shape} but the table {len(columns)} columns: give a square "
            "matrix with one row and column per variable."
        )
    return mask


def _sorted_by_variance(share: float) -> Iterator[Finding]:
    told = (
        "sorting the columns by variance finds its order, so that it stands or falls with their "
        "units."
        if share >= SORTED
        else "the units of the columns do not give its order away."
    )
    yield Finding(
        "varsortability",
        (),
        share,
        "warning" if share >= SORTED else "notice",
        f"Variance grows along {share:.0%} of the graph's paths: {told}",
    )


def _sorted_by_r2(share: float) -> Iterator[Finding]:
    telling = max(share, 1 - share) >= SORTED
    told = "finds its order, whatever their units." if telling else "does not find its order."
    yield Finding(
        "r2_sortability",
        (),
        share,
        "notice",
        f"R² grows along {share:.0%} of the graph's paths: sorting the columns by it {told}",
    )
