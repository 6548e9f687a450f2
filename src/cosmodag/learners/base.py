"""The base class of learners: the stations of a fit."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from cosmodag.data.diagnose import Finding, warn_about
from cosmodag.data.diagnose.findings import stopped_early
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.known import Known
from cosmodag.fit.pipeline import FitTask, Learning, Learnt, RefinedFit, fit_prepared
from cosmodag.fit.preparation import Preparation
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.regimes.targets import fitted_regimes
from cosmodag.fit.settle import (
    about_lags,
    aligned,
    findings_after,
    refined_graph,
    turning_losses_of,
    unrefined_graph,
)
from cosmodag.fit.time.unroll import InTime
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.learners.documentation import inherit_descriptions
from cosmodag.learners.parameters import Setting, SharedParameters
from cosmodag.solve.watch import Ending, QuietWatch, Watch

__all__ = ["Learnt", "Prepared", "RefinedFit", "Setting", "StructureLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class StructureLearner(SharedParameters):
    r"""Base of all learners: validates, prepares, learns, refines, and reads out a DAG.

    A subclass adds parameters as fields, and implements :meth:`_learn`.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        Weights as optimised.
    weights_ : (d, d) array
        Acyclic weights: `raw_weights_` without the arcs against `causal_order_`, or weights from
        refinement.
    adjacency_ : (d, d) array
        `weights_` above the threshold; ``adjacency_[u, v]`` is the arc u → v.
    was_cyclic_ : bool
        Whether `raw_weights_` above the threshold have a cycle.
    dropped_arcs_ : int
        Number of arcs above the threshold in `raw_weights_` that are against `causal_order_`.
    graph_ : networkx.DiGraph
        The graph, with column names as nodes.
    causal_order_ : list
        Names or numbers of the variables, causes first.
    stopped_ : str or None
        ``"time"`` or ``"interrupt"`` if the fit ended early.
    kinds_ : tuple of ColumnKind
        What each column was taken for, and why.
    n_features_in_, feature_names_in_
        Number and names of the columns; with lags those of the window, ``x`` and ``x[t-1]``.
    """

    # Finding of the noise decision, until the fit is examined.
    _doubt: Finding | None = field(default=None, init=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherit_descriptions(cls)

    @abstractmethod
    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        """Learn from a prepared table."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        interventions: Any = None,
        series: Any = None,
        time: Any = None,
        regimes: Any = None,
        find_targets: bool = True,
    ) -> Self:
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
        series : sequence or str, optional
            With `lags`: the series of each row, as n labels or the name of a column of X, which is
            then no variable. No lag crosses from one series into another.
        time : sequence or str, optional
            With `lags`: the time of each row, numbers or dates, as n entries or the name of a
            column of X, which is then no variable. Rows are sorted by it, and no lag crosses a
            gap. By default rows are in order, without gaps.
        regimes : sequence or str, optional
            The regime of each row (a treatment, a batch, an experiment): a label for each row,
            nothing (None, ``""``) for plain observations, or the name of a column. The variables
            whose equations differ in a regime are found (``targets_``), beside those that
            `interventions` names, which may change in any way there. See ``docs/regimes.md``.
        find_targets : bool
            With `regimes`: whether variables that `interventions` does not name may change.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. The model holds the graph learnt so far, with ``stopped_`` set to
            ``"interrupt"``. A second Ctrl-C does not wait for that: the model is then not fitted.
        """
        given = prepare(self, X, interventions, regimes, find_targets, InTime(series, time))
        fit_prepared([FitTask(self, given)])
        return self

    @classmethod
    def learn_many(cls, tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
        """Learn from many prepared tables, here one by one; results come in any order."""
        own = watch if len(tasks) == 1 else QuietWatch(watch)
        watch.begin(len(tasks))
        for place, task in enumerate(tasks):
            watch.advance(1)
            yield Learning(place, watch.stop, partial(task.learner._learn, watch=own))

    def examine(self, given: Prepared, watch: Watch) -> None:
        """Record how firm arrows are, and warn of what the equations leave unexplained.

        A stop ends it within about two seconds, and is warned of.
        """
        dag, ending = self.fitted_, Ending(watch)
        regimes = fitted_regimes(given, dag)
        losses = turning_losses_of(dag, given, ending.of("the evidence for each arrow"))
        about_regimes = [] if regimes is None else regimes.findings(dag.texts)
        known = [*self.findings_, *about_regimes]
        if self.is_linear and dag.is_linear:
            found = findings_after(
                dag,
                given,
                known,
                self._doubt,
                ending.of("curved relations, uneven noise and hidden causes"),
            )
        else:
            found = about_lags(dag)
        found += stopped_early(ending.unfinished)
        if ending.unfinished:
            self.stopped_ = self.stopped_ or watch.stop
        warn_about(found, stacklevel=5)
        self.findings_ = [*known, *found]
        losses = dag.turning_losses if losses is None else losses
        self.fitted_ = dag.examined(regimes, losses)

    def begin(self, given: Prepared) -> None:
        """Delete an earlier fit, and set the attributes that are known before learning."""
        self.forget()
        self.n_features_in_ = len(given.names)
        if given.is_named:
            self.feature_names_in_ = np.array(given.names, dtype=object)
        if given.missing_report is not None:
            self.missing_report_ = given.missing_report
        self.findings_ = given.findings

    def square_arrays(self, d: int) -> float:
        """Count the d × d float64 arrays that are held at once, without those of training."""
        from cosmodag.order.moments import WHOLE_BEYOND

        searched = 0.0
        if self.refinement_for(d) == "order":
            searched = 0.65 if d > WHOLE_BEYOND else 1.5
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def finish(self, given: Prepared, learnt: Learnt, watch: Watch) -> None:
        """Turn what was learnt into a DAG, with or without refinement, and settle it."""
        self.stopped_ = learnt.stopped
        for name, value in learnt.extra.items():
            setattr(self, name, value)
        learnt = self._read_out(learnt, given.preparation, given.known)
        refined = None if self.refinement_ is None else self._refine(given, learnt, watch)
        if refined is None:
            graph = unrefined_graph(learnt, given.known, self.raw_threshold)
        else:
            self.noise_scores_, self.refine_report_ = refined.scores, refined.report
            self.stopped_ = self.stopped_ or refined.stopped
            self._doubt = refined.doubt
            for name, value in refined.extra.items():
                setattr(self, name, value)
            graph = refined_graph(refined, given.known, self.refined_threshold)
        if watch.stop == "interrupt":  # also where refinement had ended already
            self.stopped_ = "interrupt"
        self.fitted_ = FittedDAG(
            preparation=given.preparation,
            known=given.known,
            columns=getattr(self, "feature_names_in_", None),
            knowledge=given.knowledge,
            kinds=given.kinds,
            target_sets=given.target_sets,
            window=given.window,
            follows_units=self.order_follows_units(graph.get("noise")),
            learner=type(self).__name__,
            **graph,
        ).settled(given.data, recentre=self.scale != "none")
        if learnt.raw_weights is None and self.fitted_.weights is not None:
            self.raw_weights_ = self.fitted_.weights
        if self.refinement_ is None:
            self._warn_if_repaired()

    def watch(self, fits: int = 1) -> Watch:
        """Make the watch of a number of fits: progress, and a limit on time if there is one."""
        limit = None if self.max_time is None else self.max_time * fits
        return Watch(1, type(self).__name__, limit, self.verbose)

    def forget(self) -> None:
        """Delete all fitted attributes."""
        for name in [name for name in vars(self) if name.endswith("_") or name == "_doubt"]:
            delattr(self, name)

    def _read_out(self, learnt: Learnt, preparation: Preparation, known: Known) -> Learnt:
        """Bring weights and order in line with what is known, and keep the optimised weights."""
        found = aligned(learnt, preparation, known, self.raw_threshold)
        self.was_cyclic_, self.dropped_arcs_ = found.was_cyclic, found.dropped_arcs
        raw = found.learnt.raw_weights
        if raw is not None and not sparse.issparse(raw):
            self.raw_weights_ = raw
        return found.learnt

    def _warn_if_repaired(self) -> None:
        """Warn of dropped arcs, if the method should not need it."""

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit | None:
        """Turn the order that was learnt into a graph by evidence; None without refinement."""
        return None
