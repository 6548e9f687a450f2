"""The contract of every learner: what goes in, what is done to it, and that a DAG comes out."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose import Finding, after_fit, warn_about
from cosmodag.data.diagnose.after import MOST_TESTED
from cosmodag.fit.checks import check_choice, check_number
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.known import Known
from cosmodag.fit.learnt import Learning, Learnt, Task
from cosmodag.fit.matrices import chosen_arcs, count_arcs, isolated
from cosmodag.fit.missing import CHOICES
from cosmodag.fit.pipeline import fit_many
from cosmodag.fit.preparation import SCALES, Preparation
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
SEARCHED = 50_000
"""Variables up to which ``refine="auto"`` searches for a better order (times:
``benchmarks/answer_large.md``); the correlations then take 20 GB."""

NOISES = ("auto", "gaussian", "equal-variance", "non-gaussian")

_RAW_CUT = 0.3
# Variables up to which arrows are turned one by one: milliseconds at 50, a second or so at 200.
_MOST_WEIGHED = 200


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
                self._weigh_arrows(given)
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

    def _weigh_arrows(self, given: Prepared) -> None:
        """Keep the loss of score from turning each arrow, if that score alone decides."""
        dag, known = self.fitted_, given.known
        if dag.noise != "gaussian" or dag.d > _MOST_WEIGHED:
            return
        from cosmodag.refinement.turning import turning_losses

        edges = dag.edges
        losses = np.full((dag.d, dag.d), np.nan)
        losses[edges.row, edges.col] = turning_losses(
            known.moments(given.X),
            dag.order,
            edges.row,
            edges.col,
            support=known.support,
            required=known.required,
        )
        self.fitted_ = replace(dag, turning_losses=losses)

    def _look_at_residuals(self, given: Prepared) -> None:
        """Warn of what linear equations on the learnt graph leave unexplained."""
        rows, d = given.known.untouched, self.n_features_in_
        is_observed = given.known.targets is None or rows is not None
        if not self.is_linear or d > MOST_TESTED or not is_observed:
            return
        arcs = self.fitted_.arcs.toarray()
        found = after_fit(
            given.X if rows is None else given.X[rows],
            self.fitted_.texts,
            arcs,
            self.order_,
            known=self.findings_,
            doubt=self._doubt,
        )
        warn_about(found, stacklevel=3)
        self.findings_ = [*self.findings_, *found]

    def begin(self, given: Prepared) -> None:
        """Forget an earlier fit, and remember what is known of the table before learning."""
        self.forget()
        self.n_features_in_ = len(given.names)
        if given.is_named:
            self.feature_names_in_ = np.array(given.names, dtype=object)
        if given.missing_report is not None:
            self.missing_report_ = given.missing_report
        self.findings_ = given.findings

    def square_arrays(self, d: int) -> float:
        """Count the d × d arrays of double precision that are held at once, training aside."""
        searched = 1.5 if self.refinement_for(d) == "order" else 0.0
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def finish(self, given: Prepared, learnt: Learnt, watch: Watch) -> None:
        """Turn what was learnt into a DAG, refined where that is asked for, and settle it."""
        self.stopped_ = learnt.stopped
        for name, value in learnt.extra.items():
            setattr(self, name, value)
        learnt = self._read_out(learnt, given.preparation, given.known)
        if self.refinement_ is None:
            graph = self._unrefined(learnt, given.known)
        else:
            graph = self._refined(self._refine(given, learnt, watch), given.known)
        if watch.stop == "interrupt":  # also where refinement had ended already
            self.stopped_ = "interrupt"
        self.fitted_ = FittedDAG(
            preparation=given.preparation,
            known=given.known,
            columns=getattr(self, "feature_names_in_", None),
            knowledge=given.knowledge,
            target_sets=given.target_sets,
            follows_units=self.order_follows_units(graph.get("noise")),
            learner=type(self).__name__,
            **graph,
        ).settled(given.data, recentre=self.scale != "none")
        if learnt.raw_weights is None and self.fitted_.weights is not None:
            self.raw_weights_ = self.fitted_.weights
        if self.refinement_ is None:
            self._warn_if_repaired()

    def _watch(self) -> Watch:
        """Make what looks after the run; learners without a limit on time have none to give."""
        verbose = bool(getattr(self, "verbose", True))
        return Watch(1, type(self).__name__, getattr(self, "max_time", None), verbose)

    def forget(self) -> None:
        """Drop what an earlier fit left, so that no attribute of it outlives this one."""
        for name in [name for name in vars(self) if name.endswith("_") or name == "_doubt"]:
            delattr(self, name)

    def _read_out(self, learnt: Learnt, preparation: Preparation, known: Known) -> Learnt:
        """Bring weights and order in line with constant columns and with what is known.

        Of the weights, only what users ask of them is kept; the graph is made by refinement, or by
        :meth:`_unrefined`.
        """
        order = learnt.order
        raw, self.was_cyclic_, self.dropped_arcs_ = learnt.raw_weights, False, 0
        if raw is not None:
            raw = isolated(raw, preparation.constant)
            order = _order_from(raw, known) if order is None else known.ordered(order)
            strong = above(raw, self.raw_threshold)
            self.was_cyclic_ = not is_dag(strong)
            self.dropped_arcs_ = count_arcs(strong) - count_arcs(agreeing(strong, order))
            if not sparse.issparse(raw):
                self.raw_weights_ = raw
        elif order is not None:
            order = known.ordered(order)
        return replace(learnt, raw_weights=raw, order=order)

    def _unrefined(self, learnt: Learnt, known: Known) -> dict[str, Any]:
        """Make a graph of the weights as optimised; arcs against the order are dropped."""
        assert learnt.order is not None
        weights = agreeing(learnt.raw_weights, learnt.order)
        return {
            "order": learnt.order,
            "weights": None if sparse.issparse(weights) else weights,
            "adjacency": chosen_arcs(weights, self.raw_threshold, known.required),
            "equations": learnt.equations,
        }

    def _warn_if_repaired(self) -> None:
        """Say that arcs were dropped, where that is not how the method works."""

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> Refined:
        """Turn the order that was learnt into a graph by evidence."""
        from cosmodag.fit.refining import refine_linear

        learnt_order = {} if learnt.order is None else {"learnt": learnt.order}
        orders = {**learnt_order, **learnt.orders}
        return refine_linear(self, given, orders, watch, scale_free=learnt.scale_free)

    def _refined(self, refined: Refined, known: Known) -> dict[str, Any]:
        """Make a graph of what refinement found."""
        self.noise_scores_, self.refine_report_ = refined.scores, refined.report
        self.stopped_ = self.stopped_ or refined.stopped
        self._doubt = refined.doubt
        chosen = chosen_arcs(refined.weights, self._refined_cut, known.required)
        is_sparse = len(refined.order) > DENSE_LIMIT
        return {
            "order": np.asarray(refined.order),
            "weights": None if is_sparse else refined.weights.toarray(),
            "adjacency": chosen if is_sparse else chosen.toarray(),
            "equations": refined.equations,
            "noise": refined.noise,
            "noise_reason": refined.reason,
        }


def _order_from(raw: NDArray[np.float64], known: Known) -> NDArray[np.intp]:
    """Order of weights that may have cycles: what is known is inserted first."""
    before = known.before
    # Infinitely strong: inserted before all others, of which those that disagree are dropped.
    bound = raw if before is None else np.where(before, np.inf, raw)
    return topological_order(drop_cycles(bound)[0])
