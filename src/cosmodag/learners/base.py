"""The contract of every learner: what goes in, what is done to it, and that a DAG comes out."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose import after_fit, warn_about
from cosmodag.data.diagnose.after import MOST_TESTED
from cosmodag.fit.checks import check_choice, check_number
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.learnt import Learning, Learnt, Task
from cosmodag.fit.matrices import chosen_arcs, count_arcs, isolated
from cosmodag.fit.missing import CHOICES
from cosmodag.fit.pipeline import fit_many
from cosmodag.fit.preparation import SCALES
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.refined import Refined
from cosmodag.graph.dags import DENSE_LIMIT, above, agreeing, drop_cycles, is_dag, topological_order
from cosmodag.solve.machine import blas_threads, threads_worth
from cosmodag.solve.watch import QuietWatch, Watch

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


@dataclass(kw_only=True, eq=False, repr=False)
class StructureLearner(FittedGraph):
    """Base of all learners: validates, prepares, learns, refines, and reads out a DAG.

    Parameters are the keyword-only fields of the dataclasses a learner inherits from. A subclass
    adds fields of its own, and implements :meth:`_learn`.
    """

    threshold: Setting = "auto"
    knowledge: Any = None
    missing: str = "error"
    scale: str = "center"

    @abstractmethod
    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        """Learn from a prepared table."""

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        if self.threshold != "auto":
            check_number("threshold", self.threshold, low=0.0, low_allowed=True)
        check_choice("scale", self.scale, SCALES)
        check_choice("missing", self.missing, CHOICES)
        if getattr(self, "refine", None) is not None:
            check_choice("refine", self.refine, ("auto", *METHODS))
        if hasattr(self, "noise"):
            check_choice("noise", self.noise, NOISES)

    def refinement_for(self, d: int) -> str | None:
        """Say what is done with an order; ``"auto"`` searches as long as that costs little."""
        refine: str | None = getattr(self, "refine", None)
        if refine == "auto":
            return "order" if d <= SEARCHED else "prune"
        return refine

    @property
    def refinement_(self) -> str | None:
        """What is done with the learnt order: None, ``"prune"`` or ``"order"``."""
        return self.refinement_for(self.n_features_in_)

    @property
    def raw_threshold(self) -> float:
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
        given = prepare(self, X, interventions)
        self.forget()
        n, d = given.data.shape
        is_complete = False
        try:
            with self._watch() as watch, blas_threads(threads_worth(float(n) * d * d)):
                (outcome,) = fit_many([Task(self, given)], watch, finish_stopped=True)
                if outcome.error is not None:
                    raise outcome.error
                self._look_at_residuals(given)
                is_complete = True
        except KeyboardInterrupt:
            if is_complete:
                self.stopped_ = "interrupt"
            else:
                self.forget()
            raise
        return self

    @classmethod
    def learn_many(cls, tasks: Sequence[Task], watch: Watch) -> Iterator[Learning]:
        """Learn from many prepared tables, here one by one.

        Parameters
        ----------
        tasks : sequence of Task
            Learners of this class and their tables.
        watch : Watch
            Shows progress, and says when to stop.

        Yields
        ------
        Learning
            As learning ends, in any order.
        """
        own = watch if len(tasks) == 1 else QuietWatch(watch)
        watch.begin(len(tasks))
        for place, task in enumerate(tasks):
            watch.advance(1)
            yield Learning(place, watch.stop, partial(task.learner._learn, watch=own))

    def _look_at_residuals(self, given: Prepared) -> None:
        """Warn of what linear equations on the learnt graph leave unexplained."""
        rows, d = given.known.untouched, self.n_features_in_
        is_observed = given.known.targets is None or rows is not None
        if not self.is_linear or d > MOST_TESTED or not is_observed:
            return
        arcs = self._arcs.toarray()
        names = [str(name) for name in getattr(self, "feature_names_in_", self._made_up_names())]
        found = after_fit(
            given.X if rows is None else given.X[rows],
            names,
            arcs,
            self.order_,
            known=self.findings_,
        )
        warn_about(found, stacklevel=3)
        self.findings_ = [*self.findings_, *found]

    def begin(self, given: Prepared) -> None:
        """Forget an earlier fit, and remember what is known of the table before learning."""
        self.forget()
        self.n_features_in_ = len(given.names)
        if given.is_named:
            self.feature_names_in_ = np.array(given.names, dtype=object)
        self.knowledge_ = given.knowledge
        if given.target_sets is not None:
            self.target_sets_ = given.target_sets
        if given.missing_report is not None:
            self.missing_report_ = given.missing_report
        self.findings_ = given.findings
        self.preparation_, self.known_ = given.preparation, given.known

    def square_arrays(self, d: int) -> float:
        """Count the d × d arrays of double precision that are held at once, training aside."""
        searched = 1.5 if self.refinement_for(d) == "order" else 0.0
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def finish(self, given: Prepared, learnt: Learnt, watch: Watch) -> None:
        """Turn what was learnt into a graph, refined where that is asked for, and settle it."""
        self.stopped_ = learnt.stopped
        for name, value in learnt.extra.items():
            setattr(self, name, value)
        learnt = self._read_out(learnt)
        if self.refinement_ is None:
            self._take_raw(learnt)
            self._warn_if_repaired()
        else:
            self._take(self._refine(given, learnt, watch))
            if learnt.raw_weights is None and hasattr(self, "weights_"):
                self.raw_weights_ = self.weights_
        if watch.stop == "interrupt":  # also where refinement had ended already
            self.stopped_ = "interrupt"
        self.settle(given.data)

    def _watch(self) -> Watch:
        """Make what looks after the run; learners without a limit on time have none to give."""
        verbose = bool(getattr(self, "verbose", True))
        return Watch(1, type(self).__name__, getattr(self, "max_time", None), verbose)

    def forget(self) -> None:
        """Drop what an earlier fit left, so that no attribute of it outlives this one."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def settle(self, data: NDArray[np.float32]) -> None:
        """Keep what is left of the training data once the graph is known."""
        if self.known_.targets is not None and self.scale != "none":
            data = self._recentred(data)
        self.residuals_ = np.asarray(data - self.predict_prepared(data), np.float32)
        scaled = self.residuals_.astype(np.float64) * self.preparation_.scales
        self.noise_variances_ = np.average(scaled**2, axis=0, weights=self.known_.counted)
        self.deviations_ = _deviations(data, self.known_.counted) * self.preparation_.scales

    def _recentred(self, data: NDArray[np.float32]) -> NDArray[np.float32]:
        """Centre the columns so that residuals of each equation have mean zero over its own rows.

        The means that obey all equations are those of plain observations, whether or not the
        table has such rows.
        """
        counted = self.known_.counted
        residuals = data.astype(np.float64) - self.predict_prepared(data)
        shift = np.average(residuals, axis=0, weights=counted)
        shift[self.preparation_.constant] = 0.0
        for v in self.order_:
            shift[v] += self._fitted_column(shift[None], v)[0]
        self.preparation_ = self.preparation_.moved(shift)
        return np.asarray(data - shift, np.float32)

    def _read_out(self, learnt: Learnt) -> Learnt:
        """Bring weights and order in line with constant columns and with what is known.

        Of the weights, only what users ask of them is kept; the graph is made by refinement, or by
        :meth:`_take_raw`.
        """
        order = learnt.order
        raw, self.was_cyclic_, self.dropped_arcs_ = learnt.raw_weights, False, 0
        if raw is not None:
            raw = isolated(raw, self.preparation_.constant)
            order = self._order_from(raw) if order is None else self.known_.ordered(order)
            strong = above(raw, self.raw_threshold)
            self.was_cyclic_ = not is_dag(strong)
            self.dropped_arcs_ = count_arcs(strong) - count_arcs(agreeing(strong, order))
            if not sparse.issparse(raw):
                self.raw_weights_ = raw
        elif order is not None:
            order = self.known_.ordered(order)
        return replace(learnt, raw_weights=raw, order=order)

    def _take_raw(self, learnt: Learnt) -> None:
        """Make a graph of the weights as optimised; arcs against the order are dropped."""
        assert learnt.order is not None
        self.order_ = learnt.order
        weights = agreeing(learnt.raw_weights, learnt.order)
        if not sparse.issparse(weights):
            self.weights_ = weights
        self.adjacency_ = chosen_arcs(weights, self.raw_threshold, self.known_.required)

    def _order_from(self, raw: NDArray[np.float64]) -> NDArray[np.intp]:
        """Order of weights that may have cycles: what is known is inserted first."""
        before = self.known_.before
        # Infinitely strong: inserted before all others, of which those that disagree are dropped.
        bound = raw if before is None else np.where(before, np.inf, raw)
        return topological_order(drop_cycles(bound)[0])

    def _warn_if_repaired(self) -> None:
        """Say that arcs were dropped, where that is not how the method works."""

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> Refined:
        """Turn the order that was learnt into a graph by evidence."""
        from cosmodag.fit.refining import refine_linear

        learnt_order = {} if learnt.order is None else {"learnt": learnt.order}
        orders = {**learnt_order, **learnt.orders}
        return refine_linear(self, given, orders, watch, scale_free=learnt.scale_free)

    def _take(self, refined: Refined) -> None:
        """Put what refinement found in the place of what was read out."""
        self.order_ = np.asarray(refined.order)
        self.noise_, self.noise_reason_ = refined.noise, refined.reason
        self.noise_scores_, self.refine_report_ = refined.scores, refined.report
        self.stopped_ = self.stopped_ or refined.stopped
        chosen = chosen_arcs(refined.weights, self._refined_cut, self.known_.required)
        if len(self.order_) > DENSE_LIMIT:
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
