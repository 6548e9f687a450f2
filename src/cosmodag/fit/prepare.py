"""The first step of a fit: check, complete, diagnose and scale a table."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import before_fit, warn_about
from cosmodag.data.diagnose.scale import ABOUT_SCALE
from cosmodag.data.interventions import never_free, take_columns
from cosmodag.data.kinds import ColumnKind, with_kinds
from cosmodag.data.knowledge import Bounds, Knowledge, as_knowledge, bounds_of
from cosmodag.data.regimes import Regimes, label_texts, regimes_of
from cosmodag.data.time.window import Window
from cosmodag.errors import DataError, ScaleWarning
from cosmodag.fit.checks import seeds_from
from cosmodag.fit.kinds import check_levels, kinds_findings, models_kinds
from cosmodag.fit.known import NOTHING, Known
from cosmodag.fit.missing import REMEDY, Completed, complete
from cosmodag.fit.preparation import Preparation
from cosmodag.fit.regimes import targets_found
from cosmodag.fit.time.unroll import InTime, unroll
from cosmodag.io.tables.frames import Table
from cosmodag.solve.machine.memory import check_fits, main_memory

if TYPE_CHECKING:
    from cosmodag.data.diagnose import Finding
    from cosmodag.learners.base import StructureLearner

Bools = NDArray[np.bool_]

# Bytes that every machine has: below, the check of memory is omitted.
_NO_MATTER = 2**27


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table as learners use it, with knowledge, interventions and findings."""

    X: NDArray[np.float64]  # (n, d) float64: centred or standardised, in the units of the weights
    data: NDArray[np.float32]  # the same in the table's common unit, float32
    preparation: Preparation  # the map from the original table
    names: list[str]  # column names; generated if the table has none
    known: Known = NOTHING  # bounds on the graph, interventions, missing values
    is_named: bool = False  # whether the names are the table's own
    knowledge: Knowledge | None = None  # what the user knows of the graph
    # (k, d) bool: the distinct sets of variables that were set; None without interventions.
    target_sets: Bools | None = None
    # What the diagnosis found before the fit.
    findings: "list[Finding]" = field(default_factory=list)
    # Treatment of missing values; None if nothing was missing.
    missing_report: dict[str, Any] | None = None
    kinds: tuple[ColumnKind, ...] = ()  # what the numbers of each column of the original table mean
    # Variables and lags where the rows are windows of a time series; None otherwise.
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
        """Names of the columns; None where the table had none."""
        return np.array(self.names, dtype=object) if self.is_named else None

    @property
    def attributes(self) -> dict[str, Any]:
        """What a fitted learner shows of its table, by name."""
        found = {"feature_names_in_": self.columns, "missing_report_": self.missing_report}
        known = {name: value for name, value in found.items() if value is not None}
        return {"n_features_in_": len(self.names), **known}

    @property
    def in_own_units(self) -> NDArray[np.float64]:
        """(n, d): the table in its own units; categories as numbers of levels."""
        return self.X * self.preparation.factors + self.preparation.means

    @property
    def row_counts(self) -> NDArray[np.float32] | None:
        """(n, 1): number of times each row is in the resample; None for once each."""
        if self.draw is None:
            return None
        counts = np.bincount(self.draw(), minlength=len(self.data))
        return counts.astype(np.float32)[:, None]

    def drawn(self) -> "Prepared":
        """Take the rows of the resample; they are not prepared again."""
        if self.draw is None:
            return self
        rows = self.draw()
        known = self.known.of_rows(rows)
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

    The learner is not changed. Findings of the diagnosis are warnings at the caller of ``fit``.
    Rows in time become windows first: an ordinary table for the rest of the fit, with knowledge.
    """
    learner.check_settings()
    learner.refuse_idle()
    _check_regimes(learner, regimes)
    values, entries, labels = take_columns(X, interventions, regimes)
    is_named = not isinstance(values, np.ndarray | list | tuple)
    window, findings = None, []
    if learner.lags:
        remedy = REMEDY if learner.missing == "error" else None
        found = unroll(
            values, learner.lags, in_time or InTime(), entries, remedy=remedy, kinds=learner.kinds
        )
        values, entries, window = found.table, found.targets, found.window
        is_named, findings = True, found.findings
        if learner.missing == "impute" and entries is not None and np.isnan(values.X).any():
            raise DataError(  # their graph would have to be known
                "Missing values of a time series with interventions cannot be imputed: drop their "
                "windows with missing='drop' (--missing drop)."
            )
    elif in_time is not None and in_time.is_given:
        raise DataError("series and time have an effect only with lags (--lags): set it as well.")
    whole = complete(learner, values, entries, _asked_kinds(learner, window))
    table, grouped = whole.table, _grouped(whole, labels, find_targets)
    # Of a window, only the columns at time t: lagged copies repeat them.
    shown = table if window is None else table.of_columns(range(window.d))
    check_levels(learner, shown)
    learner.refuse_idle(shown)
    findings = [
        *findings,
        *kinds_findings(learner, shown),
        *before_fit(
            shown.X,
            shown.names,
            Known(None, whole.targets).untouched if grouped is None else grouped.reference,
            shown.kinds,
            in_time=window is not None,
            by_kind=models_kinds(learner, shown),
        ),
    ]
    warn_about(findings, stacklevel=4)
    check_memory(learner, *table.X.shape)
    prepared = prepare_table(learner, table, whole.targets, whole.absent, window, grouped)
    return replace(prepared, is_named=is_named, findings=findings, missing_report=whole.report)


def _asked_kinds(learner: "StructureLearner", window: Window | None) -> Any:
    """Kinds that the user declared; those of a window were decided before it was made."""
    return learner.kinds if window is None else "auto"


def _check_regimes(learner: "StructureLearner", regimes: Any) -> None:
    """Refuse regimes together with what is not defined across them."""
    if regimes is None:
        return
    if learner.missing == "impute":
        raise DataError(
            "Missing values cannot be estimated across regimes, whose equations differ: use "
            "missing='drop' (--missing drop)."
        )
    if learner.lags:
        raise DataError(
            "regimes and lags cannot be combined: give the targets of each row as interventions, "
            "or learn from each regime alone."
        )


def _grouped(whole: Completed, labels: Any, find_targets: bool) -> Regimes | None:
    """Group the rows that were kept by their labels; None without labels."""
    if labels is None:
        return None
    rows = len(whole.table.X) if whole.kept is None else len(whole.kept)
    texts = np.array(label_texts(labels, rows), object)
    texts = texts if whole.kept is None else texts[whole.kept]
    return regimes_of(texts.tolist(), whole.table.names, whole.targets, finds=find_targets)


def prepare_table(
    learner: "StructureLearner",
    table: Table,
    targets: Bools | None = None,
    absent: Bools | None = None,
    window: Window | None = None,
    regimes: Regimes | None = None,
) -> Prepared:
    """Prepare a complete table, and compile knowledge; contradictions raise `KnowledgeError`.

    With regimes, their targets are found first; all learners then take them as interventions.
    """
    table = with_kinds(table, _asked_kinds(learner, window))
    knowledge = as_knowledge(learner.knowledge)
    bounds = bounds_of(knowledge if window is None else window.knowledge(knowledge), table.names)
    target_sets, of_regimes = None, None
    if regimes is not None:
        (seed,) = seeds_from(learner.random_state, 1)
        of_regimes = targets_found(np.asarray(table.X, np.float64), regimes, Known(bounds), seed)
        targets = of_regimes[regimes.labels]
    if targets is not None:
        target_sets = np.unique(targets, axis=0)
        always = never_free(targets, table.names)
        if always.any():
            bounds = bounds or Bounds.none(len(table.names))
            bounds = bounds.without_causes(always, table.names)
            targets = targets & ~always
    known = Known(bounds, targets, absent, None if window is None else window.past)
    if learner.scale == "standardize" and learner.order_follows_units(None):
        text = f"The columns are standardised, and {ABOUT_SCALE}."
        warnings.warn(text, ScaleWarning, stacklevel=4)
    # The last bits of sums depend on the layout of a table in memory.
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

    Copies of the table and d × d arrays in double precision are counted.
    """
    needed = 8 * (4 * n * d + round(learner.square_arrays(d) * d * d))
    if needed > _NO_MATTER:
        what = f"{type(learner).__name__} on {d:,} columns"
        if learner.refinement_for(d) == "order":
            remedy = "use fewer columns, or refine='prune' (--refine prune), which needs less"
            check_fits(needed, main_memory(), what, remedy)
        else:
            check_fits(needed, main_memory(), what)
