"""Missing values: refused, dropped with their rows, or imputed from the rest of the row."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.diagnose.row_findings import refuse_empty
from cosmodag.data.interventions import targets_of
from cosmodag.data.kinds import declared_names, with_kinds
from cosmodag.errors import CosmodagWarning, DataError, DataWarning, name_list
from cosmodag.evidence.gross_cells import MOST_GROSS, about_gross_cells, gross_cells
from cosmodag.fit.dag.known import Known
from cosmodag.fit.gaussian import GaussianEquations, Normal, effective_rows, fill
from cosmodag.fit.input_checks import seeds_from
from cosmodag.graph.texts import counted
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables.frames import Table, as_table
from cosmodag.runtime.warning_filters import ignoring

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

REMEDY = (
    "leave out the rows that hold them with missing='drop' (--missing drop), or have them "
    "estimated from the others with missing='impute' (--missing impute)"
)
"""Advice in the message about missing values."""

# Largest number of searches for a graph, and number of draws on each graph: the equations of a draw
# are fitted to the draw before.
_ROUNDS, _REPEATS = 4, 5

Targets = Bools | None


class Completed(NamedTuple):
    """A table whose missing values were dropped or imputed."""

    table: Table
    targets: Targets  # (n, d) bool: values that were set; None without interventions
    # Treatment of missing values, as plain values; None if nothing was missing.
    report: dict[str, Any] | None = None
    absent: Bools | None = None  # (n, d) bool: imputed values; None if there are none
    # (rows of the original table,) bool: rows that were not dropped; None if all were kept.
    kept: Bools | None = None
    is_named: bool = True  # whether the names are the table's own

    def of_rows(self, rows: Bools) -> "Completed":
        """Select some rows, by a mask."""
        targets = None if self.targets is None else self.targets[rows]
        absent = None if self.absent is None else self.absent[rows]
        return self._replace(table=self.table.of_rows(rows), targets=targets, absent=absent)


def without_gross_rows(whole: Completed) -> tuple[Completed, list[Finding]]:
    """Leave out rows with a cell far outside its column, if they are few; report these cells.

    Entries that were set or imputed are not judged.
    """
    table = whole.table
    parts = [part for part in (whole.targets, whole.absent) if part is not None]
    ignored = np.logical_or.reduce(parts) if parts else None
    X = np.asarray(table.X, np.float64)
    numbers = np.array([kind.kind in ("continuous", "count") for kind in table.kinds or ()])
    cells = gross_cells(X, ignored)
    if numbers.size:
        cells[:, ~numbers] = False
    rows: Bools = np.asarray(cells.any(axis=1))
    if not rows.any():
        return whole, []
    if rows.mean() > MOST_GROSS:  # far cells are then part of the distribution
        return whole, []
    kept = np.ones(len(rows), np.bool_) if whole.kept is None else whole.kept.copy()
    kept[np.flatnonzero(kept)[rows]] = False
    found = about_gross_cells(X, cells, table.names)
    return whole.of_rows(~rows)._replace(kept=kept), [found]


@dataclass(frozen=True)
class LevelColumns:
    """Indicator columns of a table: k − 1 columns of zeros and ones for a category of k levels.

    Ordered levels stay one column. Imputed values are turned back into levels: a category has the
    level of its largest indicator, where the first level has one minus the sum of the others; an
    ordered column has the nearest level.

    Examples
    --------
    >>> columns = LevelColumns((ColumnKind("continuous"), ColumnKind("categorical", tuple("abc"))))
    >>> columns.expanded(np.array([[0.5, 2.0], [1.5, np.nan]])).tolist()
    [[0.5, 0.0, 1.0], [1.5, nan, nan]]
    >>> columns.collapsed(np.array([[0.5, 0.0, 1.0], [1.5, 0.6, 0.1]])).tolist()
    [[0.5, 2.0], [1.5, 1.0]]
    """

    kinds: Sequence[ColumnKind]

    @property
    def are_ordered(self) -> bool:
        """Whether no column is an unordered category of three levels or more."""
        return all(kind.is_number for kind in self.kinds)

    def expanded(self, X: Floats) -> Floats:
        """Replace level numbers by indicators; missing values stay missing."""
        columns = []
        for v, kind in enumerate(self.kinds):
            column = X[:, [v]]
            if not kind.is_number:
                indicators = column == np.arange(1, len(kind.levels))
                column = np.where(np.isnan(column), np.nan, indicators.astype(np.float64))
            columns.append(column)
        return np.hstack(columns)

    def collapsed(self, filled: Floats) -> Floats:
        """Turn indicators, and values between ordered levels, into level numbers."""
        columns, first = [], 0
        for kind in self.kinds:
            width = 1 if kind.is_number else len(kind.levels) - 1
            part = filled[:, first : first + width]
            first += width
            if not kind.is_number:
                reference = 1 - part.sum(axis=1, keepdims=True)
                part = np.argmax(np.hstack([reference, part]), axis=1)[:, None]
            elif kind.is_levels:
                part = np.clip(np.rint(part), 0, len(kind.levels) - 1)
            columns.append(np.asarray(part, np.float64))
        return np.hstack(columns)


def complete(model: "StructureLearner", X: Any, entries: Any, kinds: Any = None) -> Completed:
    """Check a table, and treat missing values by the parameter ``missing`` of a learner.

    `entries` are the interventions of each row, as for ``fit``; `kinds` are the declared kinds of
    the columns, by default those of the learner.
    """
    kinds = model.kinds if kinds is None else kinds
    declared = declared_names(kinds, X)
    if model.missing == "error":
        table = with_kinds(as_table(X, remedy=REMEDY, declared=declared), kinds)
        return Completed(table, targets_of(entries, table.names, len(table.X)))
    table = with_kinds(as_table(X, missing="keep", declared=declared), kinds)
    targets = targets_of(entries, table.names, len(table.X))
    absent = np.isnan(table.X)
    if not absent.any():
        return Completed(table, targets)
    refuse_empty(absent, table.names)
    columns = absent.sum(axis=0)
    report = {
        "rows": len(absent),
        "entries": int(columns.sum()),
        "share": float(absent.mean()),
        "columns": {table.names[v]: int(columns[v]) for v in np.flatnonzero(columns)},
    }
    if model.missing == "drop":
        return _dropped(table, targets, absent.any(axis=1), report)
    return _imputed(model, _dropped(table, targets, absent.all(axis=1), report))


def _dropped(table: Table, targets: Targets, gone: Bools, report: dict[str, Any]) -> Completed:
    """Drop the rows of a mask, and warn with their number."""
    dropped, kept = int(gone.sum()), int((~gone).sum())
    listed = name_list(list(report["columns"]))
    if kept < 2:
        raise DataError(
            f"Dropping rows for missing values (in {listed}) leaves {counted(kept, 'row')} of "
            f"{len(gone)}: leave those columns out, or use missing='impute' (--missing "
            "impute), which drops only rows without any value."
        )
    if dropped:
        warnings.warn(
            f"{dropped} of {len(gone)} rows were dropped for missing values in {listed}.",
            DataWarning,
            stacklevel=5,
        )
    report = {**report, "method": "drop", "dropped": dropped}
    return Completed(table, targets, report, kept=~gone).of_rows(~gone)


def _imputed(model: "StructureLearner", given: Completed) -> Completed:
    """Impute missing values by draws given the rest of their row.

    Draws are conditional means plus noise of the conditional variance; means alone would have too
    little variance. Training, networks and residuals use these draws; refinement of linear
    equations estimates the covariance from the observed values (`Known.moments`).
    """
    table, names = _constants_filled(np.asarray(given.table.X, np.float64)), given.table.names
    levels, targets = LevelColumns(given.table.kinds or ()), given.targets
    if targets is not None:
        _check_ordered(levels, names)
    X = table if levels.are_ordered else levels.expanded(table)
    absent = np.isnan(X)
    (seed,) = seeds_from(model.random_state, 1)
    draws = np.random.default_rng([seed, 0x6D697373]).normal(size=int(absent.sum()))
    # The normal distribution is that of rows without interventions, if there are enough of these
    # and every column has a value in them.
    rows = Known(targets=targets).untouched
    some = slice(None) if rows is None or absent[rows].all(axis=0).any() else rows
    equations = GaussianEquations.of_normal(Normal.of(X[some], absent[some]), len(X[some]))
    if targets is None:
        filled, rounds = fill(X, absent, equations, draws, None), 1
    else:
        filled, rounds = _by_graphs(model, X, absent, targets, equations, draws, names)
    if any(kind.is_levels for kind in levels.kinds):
        filled, absent = levels.collapsed(filled), np.isnan(table)
    filled = _as_observed(filled, table, levels.kinds)
    report = {**(given.report or {}), "method": "impute", "rounds": rounds}
    report["effective_rows"] = round(effective_rows(absent), 1)
    return Completed(replace(given.table, X=filled), targets, report, absent)


def _constants_filled(table: Floats) -> Floats:
    """Fill columns of a single value with this value, which draws match only up to rounding."""
    values = np.nanmin(table, axis=0)
    is_constant = np.nanmax(table, axis=0) == values
    return np.where(is_constant & np.isnan(table), values, table)


def _as_observed(filled: Floats, table: Floats, kinds: Sequence[ColumnKind]) -> Floats:
    """Replace the draws of binary, ordered and count columns by the nearest observed values.

    Values that such a column cannot have would hide its kind from the diagnosis and from the
    decision about the noise, and samples would contain them.
    """
    for v, kind in enumerate(kinds):
        if kind.kind != "continuous" and not kind.is_levels:
            gaps = np.isnan(table[:, v])
            values = np.unique(table[~gaps, v])
            middles = (values[1:] + values[:-1]) / 2
            filled[gaps, v] = values[np.searchsorted(middles, filled[gaps, v])]
    return filled


def _check_ordered(levels: LevelColumns, names: list[str]) -> None:
    """Refuse categories in tables with interventions, which are imputed by linear equations."""
    if not levels.are_ordered:
        unordered = [
            name for name, kind in zip(names, levels.kinds, strict=True) if not kind.is_number
        ]
        hold = "hold" if len(unordered) > 1 else "holds"
        raise DataError(
            "missing='impute' (--missing impute) with interventions takes numbers only, but "
            f"{name_list(unordered)} {hold} categories: leave out incomplete rows with "
            "missing='drop' (--missing drop)."
        )


def _by_graphs(
    model: "StructureLearner",
    X: Floats,
    absent: Bools,
    targets: Bools,
    equations: GaussianEquations,
    draws: Floats,
    names: list[str],
) -> tuple[Floats, int]:
    """Impute a table with interventions, in alternation with searches for its graph.

    A value that was set carries information about its effects, but not about its causes, and which
    variables these are depends on the graph. Each search needs the values drawn on the graph before
    it, so that the searches run one after the other. Every round uses the same random numbers, so
    that the rounds can converge. Return the table and the number of rounds.
    """
    from cosmodag.fit.pipeline import FitTask, fit_prepared
    from cosmodag.fit.prepare import check_memory, prepare_table
    from cosmodag.learners.order_search import OrderSearch

    (seed,) = seeds_from(model.random_state, 1)
    learner = OrderSearch(
        noise="gaussian", knowledge=model.knowledge, random_state=seed, verbose=False
    )
    check_memory(learner, *X.shape)
    unknown = absent | targets
    numbers = np.zeros(X.shape)
    numbers[absent] = draws
    filled = np.where(absent, fill(X, unknown, equations, numbers[unknown], None), X)
    before: Bools | None = None
    rounds = 0
    with ignoring(CosmodagWarning):
        while rounds < _ROUNDS:
            rounds += 1
            given = prepare_table(learner, Table(filled, names), targets)
            (found,) = fit_prepared([FitTask(learner, given)], examine=False)
            arcs = found.dag.arcs.toarray()
            own = given.known.targets  # without variables that were set in every row
            for _ in range(_REPEATS):
                filled = fill(X, absent, GaussianEquations.on(arcs, filled, own), draws, own)
            if before is not None and np.array_equal(arcs, before):
                break
            before = arcs
    return filled, rounds
