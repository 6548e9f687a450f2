"""The base class of all learners."""

import numbers
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds import check_kinds
from cosmodag.errors import DataError
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import check_count
from cosmodag.fit.pipeline import FitInterrupt, fit_prepared
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.settle import Aligned
from cosmodag.fit.steps import FitResult, FitTask, Learning, Learnt, RefinedFit
from cosmodag.fit.time.unroll import InTime
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.learners.declarations import Parameter, declared
from cosmodag.learners.docstrings import complete_docstring
from cosmodag.learners.parameters import SharedParameters
from cosmodag.solve.watch import QuietWatch, Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

__all__ = ["Learnt", "Prepared", "RefinedFit", "StructureLearner"]

_RAW_CUT = 0.3


@dataclass(kw_only=True, eq=False, repr=False)
class StructureLearner(SharedParameters, FittedGraph):
    r"""Base class of all learners.

    :meth:`fit` prepares a table, learns from it, refines the result and returns a DAG. A subclass
    adds parameters as keyword-only dataclass fields (`cosmodag.learners.declarations.parameter`)
    and implements :meth:`_learn`. It inherits parameters together with their descriptions.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        Weights as optimised, before refinement and thresholding; they may contain cycles.
    weights_ : (d, d) array
        Acyclic weights: those of refinement or, without it, `raw_weights_` without the arcs that
        contradict `causal_order_`.
    adjacency_ : (d, d) array
        `weights_` above the threshold, and zero elsewhere; always a DAG. A non-zero entry
        ``adjacency_[u, v]`` is the arc u → v.
    was_cyclic_ : bool
        Whether the arcs of `raw_weights_` above the threshold contain a cycle.
    dropped_arcs_ : int
        Number of arcs of `raw_weights_` above the threshold that contradict `causal_order_`.
    graph_ : networkx.DiGraph
        The learnt graph, with column names as nodes.
    causal_order_ : list
        Names or numbers of the variables, causes first.
    refinement_ : str or None
        Method of refinement that was used: None, ``"prune"`` or ``"order"``.
    stopped_ : str or None
        ``"time"`` or ``"interrupt"`` if the fit ended early, otherwise None.
    kinds_ : tuple of ColumnKind
        The kind of each column, declared or inferred, and the reason.
    n_features_in_, feature_names_in_
        Number and names of the columns; with `lags`, those of the window: ``x`` and ``x[t-1]``.
    fitted_ : FittedDAG
        The result of the fit without the learner; most other attributes are read from it.
    order_ : (d,) array of int
        `causal_order_` as column numbers.
    noise_, noise_reason_ : str
        The noise that refinement assumed, and the reason; missing without refinement.
    noise_scores_ : dict of float
        The numbers that were compared to choose the noise, by name; missing without refinement.
    refine_report_ : list of dict
        For each start of refinement: its name, scores before and after, moves, and seconds.
    turning_losses_ : (d, d) array
        Loss of the Gaussian score if the arc u → v is turned, at [u, v]; NaN where there is no arc.
        Missing if another score chose the graph.
    findings_ : list of Finding
        What was found about the table before the fit, and about its graph afterwards.
    residuals_ : (n, d) array
        Residuals of the training data, in prepared units.
    noise_variances_, deviations_ : (d,) array
        Variances of the residuals, and standard deviations of the columns, in the table's own
        units.
    preparation_ : Preparation
        How columns are centred and scaled.
    knowledge_ : Knowledge or None
        The background knowledge that was given.
    known_ : Known
        Bounds on the graph, interventions and missing values of the training data.
    target_sets_ : (k, d) array of bool
        The distinct sets of variables that were set; missing without interventions.
    regimes_ : FittedRegimes
        Targets of regimes and their own equations; missing without `regimes`.
    missing_report_ : dict
        What was done about missing values; missing if there were none.
    bootstrap_ : BootstrapResult
        The result of :meth:`bootstrap`, after a call.
    """

    # Declarations of all parameters, by name.
    parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.parameters = declared(cls)
        complete_docstring(cls, cls.parameters)

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        for name, parameter in self.parameters.items():
            parameter.check(getattr(self, name))
        check_kinds(self.kinds)
        if isinstance(self.random_state, str | numbers.Real):
            check_count("random_state", self.random_state, low=0)

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Find parameters whose values would have no effect, and the reason for each.

        A reason also says what to do instead. Defaults and ``"auto"`` are never listed. Some values
        have no effect only if the table has categories or counts.
        """
        return {}

    def refuse_idle(self, table: "Table | None" = None) -> None:
        """Raise a `DataError` for a parameter value that would have no effect."""
        for name, reason in self.idle_settings(table).items():
            raise DataError(f"{name} is {getattr(self, name)!r}, but {reason}.")

    def refinement_for(self, d: int) -> str | None:
        """Choose the method of refinement for d variables: None, ``"prune"`` or ``"order"``."""
        return None

    def why_no_levels(self, d: int) -> str | None:
        """Name the learner, with the setting that rules out categories; None if it can use them.

        Linear learners use categories in refinement, not in training.
        """
        if self.takes_levels and self.refinement_for(d) is not None:
            return None
        return type(self).__name__ + (" without refinement" if self.takes_levels else "")

    @property
    def raw_threshold(self) -> float:
        """Threshold on weights as optimised."""
        return _RAW_CUT if self.threshold == "auto" else float(self.threshold)

    @property
    def refined_threshold(self) -> float:
        """Threshold on the weights of arcs that refinement chose."""
        return 0.0 if self.threshold == "auto" else float(self.threshold)

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
        """Learn a graph from a table.

        Parameters
        ----------
        X : DataFrame (pandas, polars), Arrow table or (n, d) array
            One row per sample, one column per variable. Numbers must be finite; `missing` says
            what to do with missing values, and `kinds` what columns of text hold.
        y : ignored
            Present for compatibility with scikit-learn.
        interventions : sequence, str, or (n, d) Boolean table, optional
            The variables that were set by intervention in each row: a sequence with one entry per
            row, which is empty (None or ``""``) for an observation, the name of a column, or
            several names; the name of a column of X with such entries, which is then not a
            variable; or a Boolean table. Interventions are assumed to be perfect: a variable that
            was set does not depend on its causes in that row, which is left out when its equation
            is learnt.
        series : sequence or str, optional
            With `lags`: the series that each row belongs to, as n labels or the name of a column
            of X, which is then not a variable. Lags do not cross from one series into another.
        time : sequence or str, optional
            With `lags`: the time of each row, as n numbers or dates or the name of a column of X,
            which is then not a variable. Rows are sorted by time, and lags do not cross gaps. By
            default the rows are assumed to be in order, without gaps.
        regimes : sequence or str, optional
            The regime of each row (a treatment, a batch, an experiment): n labels, empty (None or
            ``""``) for plain observations, or the name of a column. The fit finds the variables
            whose equations differ in each regime (``targets_``), in addition to those that
            `interventions` names, whose equations may change in any way. See ``docs/regimes.md``.
        find_targets : bool
            With `regimes`: whether equations of variables that `interventions` does not name may
            change.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. The model holds the graph learnt so far, and ``stopped_`` is
            ``"interrupt"``. A second Ctrl-C ends the fit at once and leaves the model unfitted.
        """
        learner = self.unfitted()
        given = prepare(learner, X, interventions, regimes, find_targets, InTime(series, time))
        return self.take_fit(FitTask(learner, given))

    def unfitted(self) -> Self:
        """Copy the learner without its fit: choices of an earlier fit must not affect the next."""
        learner = copy(self)
        learner.forget()
        return learner

    def take_fit(self, task: FitTask) -> Self:
        """Carry out a task of a copy of this learner, and store the result in this one."""
        self.forget()
        try:
            (result,) = fit_prepared([task])
        except FitInterrupt as stop:
            self.take(*stop.results)
            raise
        for name, value in vars(task.learner).items():
            if name.endswith("_"):  # a subclass may set its own attributes while it learns
                setattr(self, name, value)
        return self.take(result)

    def take(self, result: FitResult) -> Self:
        """Store the result of a fit in this learner, which must not be fitted already."""
        for name, value in result.attributes.items():
            setattr(self, name, value)
        self.stopped_, self.findings_, self.fitted_ = result.stopped, result.findings, result.dag
        return self

    @classmethod
    def learn_many(cls, tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
        """Learn from many prepared tables, by default one by one; results come in any order."""
        own = watch if len(tasks) == 1 else QuietWatch(watch)
        watch.begin(len(tasks))
        for place, task in enumerate(tasks):
            watch.advance(1)
            read = partial(task.learner._learn, watch=own)
            yield Learning(place, task.learner, watch.stop, read)

    def square_arrays(self, d: int) -> float:
        """Peak number of d × d float64 arrays that a fit holds, without those of training."""
        from cosmodag.search.moments import WHOLE_BEYOND

        searched = 0.0
        if self.refinement_for(d) == "order":
            searched = 0.65 if d > WHOLE_BEYOND else 1.5
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def watch(self, fits: int = 1) -> Watch:
        """Create the watch that shows the progress of some fits and limits their time."""
        limit = None if self.max_time is None else self.max_time * fits
        return Watch(1, type(self).__name__, limit, self.verbose)

    def forget(self) -> None:
        """Delete all fitted attributes."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def attributes_of(self, dag: FittedDAG, data: NDArray[np.float32]) -> dict[str, Any]:
        """Return further fitted attributes, given the graph and its prepared training data."""
        return {}

    def warn_if_repaired(self, found: Aligned) -> None:
        """Warn of arcs dropped to break cycles, if the method should leave no cycle."""

    def refined(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Refine the learnt order to a graph that the data support.

        It is called if :meth:`refinement_for` names a method; a learner that does so implements it.
        """
        raise NotImplementedError(f"{type(self).__name__} is not refined.")
