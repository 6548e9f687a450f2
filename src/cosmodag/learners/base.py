"""The base class of learners: parameters, ``fit``, and what a learner defines of a fit."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.pipeline import FitInterrupt, fit_prepared
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.settle import Aligned
from cosmodag.fit.steps import FitResult, FitTask, Learning, Learnt, RefinedFit
from cosmodag.fit.time.unroll import InTime
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.learners.parameters import Setting, SharedParameters
from cosmodag.learners.registry import inherit_descriptions
from cosmodag.solve.watch import QuietWatch, Watch

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
            Present for compatibility with scikit-learn.
        interventions : sequence, str, or (n, d) Boolean table, optional
            Which variables were set from outside, row by row: a list with an entry for each row,
            nothing (None, ``""``) for plain observations, a column's name, or several; the name
            of a column of X that holds such entries, and is then not a variable; or a Boolean
            table. They are taken to be perfect: in its rows the variable does not depend on its
            causes, and its own equation is not learnt from them.
        series : sequence or str, optional
            With `lags`: the series of each row, as n labels or the name of a column of X, which is
            then not a variable. No lag crosses from one series into another.
        time : sequence or str, optional
            With `lags`: the time of each row, numbers or dates, as n entries or the name of a
            column of X, which is then not a variable. Rows are sorted by it, and no lag crosses a
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
        self.forget()
        try:
            (result,) = fit_prepared([FitTask(self, given)])
        except FitInterrupt as stop:
            self.take(*stop.results)
            raise
        return self.take(result)

    def take(self, result: FitResult) -> Self:
        """Make a result the fit of this learner, which has none, or has forgotten it."""
        for name, value in result.attributes.items():
            setattr(self, name, value)
        self.stopped_, self.findings_, self.fitted_ = result.stopped, result.findings, result.dag
        return self

    @classmethod
    def learn_many(cls, tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
        """Learn from many prepared tables, here one by one; results come in any order."""
        own = watch if len(tasks) == 1 else QuietWatch(watch)
        watch.begin(len(tasks))
        for place, task in enumerate(tasks):
            watch.advance(1)
            read = partial(task.learner._learn, watch=own)
            yield Learning(place, task.learner, watch.stop, read)

    def square_arrays(self, d: int) -> float:
        """Count the d × d float64 arrays that are held at once, without those of training."""
        from cosmodag.order.moments import WHOLE_BEYOND

        searched = 0.0
        if self.refinement_for(d) == "order":
            searched = 0.65 if d > WHOLE_BEYOND else 1.5
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def watch(self, fits: int = 1) -> Watch:
        """Make the watch of a number of fits: progress, and a limit on time if there is one."""
        limit = None if self.max_time is None else self.max_time * fits
        return Watch(1, type(self).__name__, limit, self.verbose)

    def forget(self) -> None:
        """Delete all fitted attributes."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _attributes_of(self, dag: FittedDAG, data: NDArray[np.float32]) -> dict[str, Any]:
        """Further fitted attributes, by name, from the graph and its training data, prepared."""
        return {}

    def _warn_if_repaired(self, found: Aligned) -> None:
        """Warn of dropped arcs, if the method should not need it."""

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit | None:
        """Turn the order that was learnt into a graph by evidence; None without refinement."""
        return None
