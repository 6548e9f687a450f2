"""The contract of every learner: what goes in, what is done to it, and that a DAG comes out."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose import Finding, after_fit, before_fit, warn_about
from cosmodag.data.diagnose.after import MOST_TESTED
from cosmodag.data.diagnose.scale import ABOUT_SCALE
from cosmodag.data.interventions import never_free, take_column
from cosmodag.data.knowledge import Bounds, as_knowledge, bounds_of
from cosmodag.errors import ScaleWarning
from cosmodag.fit.checks import check_choice, check_number
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.known import NOTHING, Known
from cosmodag.fit.matrices import chosen_arcs, count_arcs, isolated
from cosmodag.fit.missing import CHOICES, complete
from cosmodag.fit.preparation import SCALES, Preparation
from cosmodag.fit.refined import Refined
from cosmodag.graph.dags import DENSE_LIMIT, above, agreeing, drop_cycles, is_dag, topological_order
from cosmodag.solve.machine import blas_threads, main_memory, threads_worth
from cosmodag.solve.watch import Watch

__all__ = [
    "METHODS",
    "NOISES",
    "SEARCHED",
    "Learnt",
    "Prepared",
    "Refined",
    "Setting",
    "StructureLearner",
]

Setting = float | str
"""A number, or ``"auto"`` for the one that a rule gives."""

METHODS = ("prune", "order")
SEARCHED = 5_000
"""Variables up to which ``refine="auto"`` searches for a better order: within a minute on simulated
data (``benchmarks/answer_large.md``)."""

NOISES = ("auto", "gaussian", "equal-variance", "non-gaussian")

_RAW_CUT = 0.3
# Variables up to which arrows are turned one by one: milliseconds at 50, a second or so at 200.
_MOST_WEIGHED = 200

# Bytes that every machine has, so that nobody needs to ask.
_NO_MATTER = 2**27


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table as learners see it.

    Attributes
    ----------
    X
        (n, d) float64: centred or standardised, in the units of the weights.
    data
        The same in the table's common unit, float32.
    preparation
        How it was made.
    known
        What was said beside the table: bounds on the graph, interventions.
    """

    X: NDArray[np.float64]
    data: NDArray[np.float32]
    preparation: Preparation
    known: Known = NOTHING

    def of_rows(self, rows: NDArray[np.intp]) -> "Prepared":
        """Take some rows, in any number of repetitions, prepared as they are here."""
        return replace(self, X=self.X[rows], data=self.data[rows], known=self.known.of_rows(rows))


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a learner found, before it is made a DAG.

    Attributes
    ----------
    raw_weights
        (d, d) strengths as optimised; for very many variables a sparse matrix of those above the
        threshold; None where a learner has an order only, and leaves the weights to refinement.
    order
        Causal order, causes first; None to take it from the weights.
    stopped
        Why learning ended early (``"time"``, ``"interrupt"``), or None.
    extra
        Fitted attributes of the learner's own, by name.
    orders
        Further orders that refinement may start from, by name.
    scale_free
        Whether refinement starts from none of these orders, but from its own that do not depend on
        units.
    """

    raw_weights: Any
    order: NDArray[np.intp] | None = None
    stopped: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    orders: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    scale_free: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class StructureLearner(FittedGraph):
    """Base of all learners: validates, prepares, learns, refines, and reads out a DAG.

    Parameters are the keyword-only fields of the dataclasses a learner inherits from. A subclass
    adds fields of its own, and implements :meth:`_learn`.
    """

    # Of the noise decision, until the findings of the fit are put together.
    _doubt: Finding | None = field(default=None, init=False)

    threshold: Setting = "auto"
    knowledge: Any = None
    missing: str = "error"
    scale: str = "center"

    @abstractmethod
    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        """Learn from a prepared table."""

    def _check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        if self.threshold != "auto":
            check_number("threshold", self.threshold, low=0.0, low_allowed=True)
        check_choice("scale", self.scale, SCALES)
        check_choice("missing", self.missing, CHOICES)
        if getattr(self, "refine", None) is not None:
            check_choice("refine", self.refine, ("auto", *METHODS))
        if hasattr(self, "noise"):
            check_choice("noise", self.noise, NOISES)

    def _refinement_for(self, d: int) -> str | None:
        """Say what is done with an order; ``"auto"`` searches as long as that costs little."""
        refine: str | None = getattr(self, "refine", None)
        if refine == "auto":
            return "order" if d <= SEARCHED else "prune"
        return refine

    @property
    def _refinement(self) -> str | None:
        return self._refinement_for(self.n_features_in_)

    @property
    def _raw_cut(self) -> float:
        """Threshold on optimised weights."""
        return _RAW_CUT if self.threshold == "auto" else float(self.threshold)

    @property
    def _refined_cut(self) -> float:
        """Threshold on weights that refinement chose by evidence."""
        return 0.0 if self.threshold == "auto" else float(self.threshold)

    def fit(self, X: Any, y: Any = None, *, interventions: Any = None) -> Self:
        """Learn a graph.

        Parameters
        ----------
        X : DataFrame (pandas, polars), Arrow table or (n, d) array
            One row per sample, one column per variable; finite numbers.
        y : ignored
            Present for scikit-learn's sake.
        interventions : sequence, str, or (n, d) Boolean table, optional
            Which variables were set from outside, row by row: a list with an entry for each row,
            nothing (None, ``""``) for plain observations, a column's name, or several; the name
            of a column of X that holds such entries, and is then no variable; or a Boolean table.
            They are taken to be perfect: in its rows the variable does not depend on its causes,
            and its own equation is not learnt from them.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. The model holds the graph learnt so far, with ``stopped_`` set to
            ``"interrupt"``. A second Ctrl-C does not wait for that: the model is then not fitted.
        """
        given = self._begin(X, interventions)
        n, d = given.data.shape
        is_complete = False
        try:
            with self._watch() as watch, blas_threads(threads_worth(float(n) * d * d)):
                self._finish(given, self._learn(given, watch), watch)
                if watch.stop == "interrupt":  # also where refinement had ended already
                    self.stopped_ = "interrupt"
                self._settle(given.data)
                self._weigh_arrows(given)
                self._look_at_residuals(given)
                is_complete = True
        except KeyboardInterrupt:
            if is_complete:
                self.stopped_ = "interrupt"
            else:
                self._forget()
            raise
        return self

    def _weigh_arrows(self, given: Prepared) -> None:
        """Keep what the score loses where each arrow is turned, if that score alone decides."""
        d = self.n_features_in_
        if getattr(self, "noise_", None) != "gaussian" or d > _MOST_WEIGHED:
            return
        from cosmodag.refinement.turning import turning_losses

        edges, known = self.edges_, given.known
        self.turning_losses_ = np.full((d, d), np.nan)
        self.turning_losses_[edges.row, edges.col] = turning_losses(
            known.moments(given.X),
            self._order,
            edges.row,
            edges.col,
            support=known.support,
            required=known.required,
        )

    def _look_at_residuals(self, given: Prepared) -> None:
        """Warn of what linear equations on the learnt graph leave unexplained."""
        rows, d = given.known.untouched, self.n_features_in_
        is_observed = given.known.targets is None or rows is not None
        if hasattr(self, "effect") or d > MOST_TESTED or not is_observed:
            return
        arcs = self._arcs.toarray()
        names = [str(name) for name in getattr(self, "feature_names_in_", self._made_up_names())]
        found = after_fit(
            given.X if rows is None else given.X[rows],
            names,
            arcs,
            self._order,
            known=self.findings_,
            doubt=self._doubt,
        )
        warn_about(found, stacklevel=3)
        self.findings_ = [*self.findings_, *found]

    def _begin(self, X: Any, interventions: Any = None) -> Prepared:
        """Check parameters and table, forget an earlier fit, and prepare the table."""
        self._check_settings()
        X, entries = take_column(X, interventions)
        table, targets, report, absent = complete(self, X, entries)
        findings = before_fit(table.X, table.names, Known(None, targets).untouched)
        warn_about(findings, stacklevel=4)
        self._forget()
        self.findings_ = findings
        if report is not None:
            self.missing_report_ = report
        self._remember_names(X, table.names)
        self._check_memory(*table.X.shape)
        return self._prepare(table.X, self._known(table.names, targets, absent))

    def _check_memory(self, n: int, d: int) -> None:
        """Refuse a table whose fit cannot end well for lack of memory; training has its own check.

        Copies of the table, and d × d arrays in double precision.
        """
        needed = 8 * (4 * n * d + round(self._squares(d) * d * d))
        if needed > _NO_MATTER:
            from cosmodag.solve.cost import check_fits

            check_fits(needed, main_memory(), f"{type(self).__name__} on {d:,} columns")

    def _squares(self, d: int) -> float:
        """Count the d × d arrays of double precision that are held at once, training aside."""
        searched = 1.5 if self._refinement_for(d) == "order" else 0.0
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def _finish(self, given: Prepared, learnt: Learnt, watch: Watch) -> None:
        """Turn what was learnt into a graph, refined where that is asked for."""
        self._read_out(learnt)
        if self._refinement is None:
            self._warn_if_repaired()
            return
        self._take(self._refine(given, learnt, watch))
        if learnt.raw_weights is None and hasattr(self, "weights_"):
            self.raw_weights_ = self.weights_

    def _known(
        self,
        names: list[str],
        targets: NDArray[np.bool_] | None = None,
        absent: NDArray[np.bool_] | None = None,
    ) -> Known:
        """Compile what is known for a table, and remember it; contradictions are refused."""
        self.knowledge_ = as_knowledge(self.knowledge)
        bounds = bounds_of(self.knowledge_, names)
        if targets is not None:
            self.target_sets_ = np.unique(targets, axis=0)
            always = never_free(targets, names)
            if always.any():
                bounds = (bounds or Bounds.none(len(names))).without_causes(always, names)
                targets = targets & ~always
        self._told = Known(bounds, targets, absent)
        return self._told

    def _prepare(self, X: NDArray[Any], known: Known = NOTHING) -> Prepared:
        # However the caller's table lies in memory, sums over it are the same to the last bit.
        X = np.ascontiguousarray(X)
        if self.scale == "standardize" and self._order_from_units:
            text = f"The columns are standardised, and {ABOUT_SCALE}."
            warnings.warn(text, ScaleWarning, stacklevel=4)
        self._preparation = Preparation.of(X, self.scale, known.centred_on)
        centred, data = self._preparation.centre(X), self._preparation.apply(X)
        return Prepared(centred, data, self._preparation, known)

    def _watch(self) -> Watch:
        """Make what looks after the run; learners without a limit on time have none to give."""
        verbose = bool(getattr(self, "verbose", True))
        return Watch(1, type(self).__name__, getattr(self, "max_time", None), verbose)

    def _forget(self) -> None:
        """Drop what an earlier fit left, so that no attribute of it outlives this one."""
        kept = ("_preparation", "_told", "_doubt")
        for name in [name for name in vars(self) if name.endswith("_") or name in kept]:
            delattr(self, name)

    def _settle(self, data: NDArray[np.float32]) -> None:
        """Keep what is left of the training data once the graph is known."""
        if self._told.targets is not None and self.scale != "none":
            data = self._recentred(data)
        self.residuals_ = np.asarray(data - self._fitted(data), np.float32)
        scaled = self.residuals_.astype(np.float64) * self._preparation.scales
        self.noise_variances_ = np.average(scaled**2, axis=0, weights=self._told.counted)
        self.deviations_ = _deviations(data, self._told.counted) * self._preparation.scales

    def _recentred(self, data: NDArray[np.float32]) -> NDArray[np.float32]:
        """Centre the columns so that residuals of each equation have mean zero over its own rows.

        The means that obey all equations are those of plain observations, whether or not the
        table has such rows.
        """
        counted = self._told.counted
        residuals = data.astype(np.float64) - self._fitted(data)
        shift = np.average(residuals, axis=0, weights=counted)
        shift[self._preparation.constant] = 0.0
        for v in self._order:
            shift[v] += self._fitted_column(shift[None], v)[0]
        self._preparation = self._preparation.moved(shift)
        return np.asarray(data - shift, np.float32)

    def _read_out(self, learnt: Learnt) -> None:
        """Turn what was learnt into fitted attributes; arcs against the order are dropped."""
        self.stopped_ = learnt.stopped
        for name, value in learnt.extra.items():
            setattr(self, name, value)
        raw = isolated(_matrix_of(learnt), self._preparation.constant)
        if learnt.order is None:
            self._order = self._order_from(raw)
        else:
            self._order = self._told.ordered(learnt.order)
        weights = agreeing(raw, self._order)
        if not sparse.issparse(raw):
            self.raw_weights_, self.weights_ = raw, weights
        strong = above(raw, self._raw_cut)
        self.adjacency_ = chosen_arcs(weights, self._raw_cut, self._told.required)
        self.was_cyclic_ = not is_dag(strong)
        self.dropped_arcs_ = count_arcs(strong) - count_arcs(above(weights, self._raw_cut))

    def _order_from(self, raw: NDArray[np.float64]) -> NDArray[np.intp]:
        """Order of weights that may have cycles: what is known is inserted first."""
        before = self._told.before
        # Infinitely strong: inserted before all others, of which those that disagree are dropped.
        bound = raw if before is None else np.where(before, np.inf, raw)
        return topological_order(drop_cycles(bound)[0])

    def _warn_if_repaired(self) -> None:
        """Say that arcs were dropped, where that is not how the method works."""

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> Refined:
        """Turn the order that was learnt into a graph by evidence."""
        from cosmodag.fit.refining import refine_linear

        orders = {} if learnt.scale_free else {"learnt": self._order, **learnt.orders}
        return refine_linear(self, given, orders, watch, scale_free=learnt.scale_free)

    def _take(self, refined: Refined) -> None:
        """Put what refinement found in the place of what was read out."""
        self._order = np.asarray(refined.order)
        self.noise_, self.noise_reason_ = refined.noise, refined.reason
        self.noise_scores_, self.refine_report_ = refined.scores, refined.report
        self.stopped_ = self.stopped_ or refined.stopped
        self._doubt = refined.doubt
        chosen = chosen_arcs(refined.weights, self._refined_cut, self._told.required)
        if len(self._order) > DENSE_LIMIT:
            self.adjacency_ = chosen
            return
        self.weights_ = refined.weights.toarray()
        self.adjacency_ = chosen.toarray()


def _deviations(
    data: NDArray[np.float32], counted: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Give the standard deviation of each column over the rows in which it was not set."""
    if counted is None:
        return np.asarray(data.std(axis=0, dtype=np.float64))
    means = np.average(data, axis=0, weights=counted)
    return np.asarray(np.sqrt(np.average((data - means) ** 2, axis=0, weights=counted)))


def _matrix_of(learnt: Learnt) -> Any:
    """Weights that were learnt, or none at all."""
    if learnt.raw_weights is not None:
        return learnt.raw_weights
    assert learnt.order is not None
    d = len(learnt.order)
    return sparse.csr_array((d, d)) if d > DENSE_LIMIT else np.zeros((d, d))
