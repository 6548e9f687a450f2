"""The first step of a fit: check, complete, diagnose and scale a table."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import before_fit, warn_about
from cosmodag.data.diagnose.scale import ABOUT_SCALE
from cosmodag.data.interventions import never_free, take_columns
from cosmodag.data.kinds import ColumnKind, with_kinds
from cosmodag.data.knowledge import Knowledge, as_knowledge, bounds_of
from cosmodag.data.regime_table import Regimes
from cosmodag.data.time.window import Window
from cosmodag.errors import DataError, ScaleWarning, name_list
from cosmodag.fit.dag.known import NOTHING, Known
from cosmodag.fit.dag.preparation import Preparation, deviations_of
from cosmodag.fit.fitted_kinds import check_levels, kinds_findings, models_kinds
from cosmodag.fit.input_checks import seeds_from
from cosmodag.fit.missing import REMEDY, Completed, complete, without_gross_rows
from cosmodag.fit.regimes import check_regimes, grouped_rows, targets_found
from cosmodag.fit.time.unroll import InTime, Unrolled, unroll
from cosmodag.io.tables.frames import Table
from cosmodag.runtime.memory import check_fits, main_memory

if TYPE_CHECKING:
    from cosmodag.data.diagnose import Finding
    from cosmodag.learners.structure_learner import StructureLearner

Bools = NDArray[np.bool_]

# Memory in bytes that every machine has: a fit that needs less is not checked.
_ALWAYS_FREE = 2**27


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table as learners use it, with knowledge, interventions and findings."""

    X: NDArray[np.float64]  # (n, d) float64: centred or standardised, in the units of the weights
    data: NDArray[np.float32]  # (n, d) float32: `X` divided by the common unit of the table
    preparation: Preparation  # the map from the original table
    names: list[str]  # column names; generated if the table has none
    known: Known = NOTHING  # bounds on the graph, interventions, missing values
    is_named: bool = False  # whether the names are the table's own
    knowledge: Knowledge | None = None  # the user's background knowledge
    # (k, d) bool: the distinct sets of variables that were set; None without interventions.
    target_sets: Bools | None = None
    # Findings of the diagnosis before the fit.
    findings: "list[Finding]" = field(default_factory=list)
    # Treatment of missing values; None if nothing was missing.
    missing_report: dict[str, Any] | None = None
    kinds: tuple[ColumnKind, ...] = ()  # kind of each column of the original table
    # Variables and lags if the rows are windows of a time series; None otherwise.
    window: Window | None = None
    # The regime of each row; None if all rows follow the same equations.
    regimes: Regimes | None = None
    # (k, d) bool: the targets of each regime, stated or found; None without regimes.
    targets: Bools | None = None
    # Function that draws the row numbers of a resample, with repetitions; None for the table
    # itself. They are drawn on demand, so that many resamples share the memory of one table.
    draw: Callable[[], NDArray[np.intp]] | None = None

    @property
    def columns(self) -> NDArray[Any] | None:
        """Names of the columns; None if the table has none."""
        return np.array(self.names, dtype=object) if self.is_named else None

    @property
    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of a learner that describe the table, by name."""
        found = {"feature_names_in_": self.columns, "missing_report_": self.missing_report}
        known = {name: value for name, value in found.items() if value is not None}
        return {"n_features_in_": len(self.names), **known}

    @property
    def in_own_units(self) -> NDArray[np.float64]:
        """(n, d): the table in its own units; categories are level numbers."""
        return self.X * self.preparation.factors + self.preparation.means

    @cached_property
    def deviations(self) -> NDArray[np.float64]:
        """(d,): standard deviations of the columns in prepared units; 1 for constant columns."""
        # Computed in the table's own units, so that a factor of two in a column changes no
        # rounding.
        deviations, unit = deviations_of(self.X, self.known.counted), self.preparation.unit
        return np.where(deviations > 0, deviations, unit) / unit

    @property
    def without_equation(self) -> Bools | None:
        """(d,): columns whose noise is not estimated; None if there are none.

        These are the past of a time series, and columns that interventions set in every row.
        """
        past = self.known.given
        if self.target_sets is None:
            return past
        always: Bools = np.asarray(self.target_sets.all(axis=0))
        if not always.any():
            return past
        return always if past is None else past | always

    @property
    def row_counts(self) -> NDArray[np.float32] | None:
        """(n, 1): number of times each row is in the resample; None for once each."""
        if self.draw is None:
            return None
        counts = np.bincount(self.draw(), minlength=len(self.data))
        return counts.astype(np.float32)[:, None]

    def drawn(self) -> "Prepared":
        """Select the rows of the resample, without preparing them again."""
        if self.draw is None:
            return self
        rows = self.draw()
        known = self.known.of_resample(rows, self.names)
        regimes = None if self.regimes is None else self.regimes.of_rows(rows)
        X, data = self.X[rows], self.data[rows]
        return replace(self, X=X, data=data, known=known, regimes=regimes, draw=None)


def prepare(
    learner: "StructureLearner",
    X: Any,
    interventions: Any = None,
    regimes: Any = None,
    find_targets: bool = True,
    in_time: InTime | None = None,
) -> Prepared:
    """Check the parameters of a learner and a table, and prepare the table for it.

    A table that is `Completed` has its interventions already. The learner is not changed. Findings
    of the diagnosis are issued as warnings at the caller of ``fit``. Rows in time become windows
    first: for the rest of the fit these are an ordinary table, with knowledge about the order of
    its columns.
    """
    learner.check_settings()
    learner.refuse_idle()
    check_regimes(learner, regimes)
    labels, window, findings = None, None, []
    if isinstance(X, Completed):
        whole = X
        _check_measured(whole)
    else:
        values, entries, labels = take_columns(X, interventions, regimes)
        is_named = not isinstance(values, np.ndarray | list | tuple)
        if learner.lags:
            found = _in_time(learner, values, entries, in_time or InTime())
            values, entries, window = found.table, found.targets, found.window
            is_named, findings = True, found.findings
        elif in_time is not None and in_time.is_given:
            raise DataError(
                "series and time have an effect only with lags (--lags): set lags as well."
            )
        # A table of windows has the declared kinds already.
        whole = complete(learner, values, entries, "auto" if learner.lags else learner.kinds)
        whole = whole._replace(is_named=is_named)
    if learner.leaves_out_gross and labels is None:
        whole, gross = without_gross_rows(whole)
        findings = [*findings, *gross]
    table, grouped = whole.table, grouped_rows(whole, labels, find_targets)
    # Only the columns at time t are diagnosed, since lagged copies repeat them.
    present = table if window is None else table.of_columns(range(window.d))
    check_levels(learner, present)
    learner.refuse_idle(present)
    findings = [
        *findings,
        *kinds_findings(learner, present),
        *before_fit(
            present.X,
            present.names,
            Known(None, whole.targets).untouched if grouped is None else grouped.reference,
            present.kinds,
            in_time=window is not None,
            by_kind=models_kinds(learner, present),
        ),
    ]
    warn_about(findings, stacklevel=4)
    check_memory(learner, *table.X.shape)
    prepared = prepare_table(learner, table, whole.targets, whole.absent, window, grouped)
    return replace(
        prepared, is_named=whole.is_named, findings=findings, missing_report=whole.report
    )


def _check_measured(whole: Completed) -> None:
    """Refuse a part of a table, such as a fold, in which all values of a column are imputed."""
    empty = [] if whole.absent is None else np.flatnonzero(whole.absent.all(axis=0)).tolist()
    if empty:
        raise DataError(
            f"{name_list([whole.table.names[v] for v in empty])} "
            f"{'has' if len(empty) == 1 else 'have'} no measured value in some part of the rows, "
            "such as all folds but one, that is fitted alone: leave columns with so few values out."
        )


def _in_time(learner: "StructureLearner", values: Any, entries: Any, in_time: InTime) -> Unrolled:
    """Turn rows in time into windows."""
    remedy = REMEDY if learner.missing == "error" else None
    found = unroll(values, learner.lags, in_time, entries, remedy=remedy, kinds=learner.kinds)
    # Imputation beside interventions searches for a graph, which it cannot do for windows.
    if learner.missing == "impute" and found.targets is not None and np.isnan(found.table.X).any():
        raise DataError(
            "Missing values of a time series with interventions cannot be imputed: drop their "
            "windows with missing='drop' (--missing drop)."
        )
    return found


def prepare_table(
    learner: "StructureLearner",
    table: Table,
    targets: Bools | None = None,
    absent: Bools | None = None,
    window: Window | None = None,
    regimes: Regimes | None = None,
) -> Prepared:
    """Prepare a complete table, and compile knowledge; contradictions raise `KnowledgeError`.

    With regimes, their targets are found first, and become the interventions of the fit.
    """
    table = with_kinds(table)  # kinds that were declared are decided already
    knowledge = as_knowledge(learner.knowledge)
    bounds = bounds_of(knowledge if window is None else window.knowledge(knowledge), table.names)
    target_sets, of_regimes = None, None
    if regimes is not None:
        (seed,) = seeds_from(learner.random_state, 1)
        of_regimes = targets_found(np.asarray(table.X, np.float64), regimes, Known(bounds), seed)
        targets = of_regimes[regimes.labels]
    known = Known(bounds, targets, absent, None if window is None else window.past)
    if targets is not None:
        target_sets = np.unique(targets, axis=0)
        always = never_free(targets, table.names, absent)
        known = known.without_causes(always, table.names)
    if learner.scale == "standardize" and learner.order_follows_units(None):
        text = f"The columns are standardised, and {ABOUT_SCALE}."
        warnings.warn(text, ScaleWarning, stacklevel=4)
    # One memory layout for every table, since the rounding of sums depends on it.
    X = np.ascontiguousarray(table.X)
    labels = np.array([not kind.is_number for kind in table.kinds or ()])
    preparation = Preparation.of(X, learner.scale, known.centred_on, labels)
    return Prepared(
        preparation.centre(X),
        preparation.apply(X),
        preparation,
        table.names,
        known,
        knowledge=knowledge,
        target_sets=target_sets,
        kinds=table.kinds or (),
        window=window,
        regimes=regimes,
        targets=of_regimes,
    )


def check_memory(learner: "StructureLearner", n: int, d: int) -> None:
    """Refuse a table whose fit would need too much memory; training is checked separately.

    The estimate counts copies of the table and d × d arrays, in double precision.
    """
    needed = 8 * (4 * n * d + round(learner.square_arrays(d) * d * d))
    if needed > _ALWAYS_FREE:
        what = f"{type(learner).__name__} on {d:,} columns"
        if learner.refinement_for(d) == "order":
            remedy = "use fewer columns, or refine='prune' (--refine prune), which needs less"
            check_fits(needed, main_memory(), what, remedy)
        else:
            check_fits(needed, main_memory(), what)
