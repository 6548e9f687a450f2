"""The base class of learners: parameters that all share, and the stations of a fit."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from cosmodag.data.diagnose import Finding, warn_about
from cosmodag.data.kinds import check_kinds
from cosmodag.fit.checks import check_choice, check_count, check_number, check_restarts
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.known import Known
from cosmodag.fit.missing import CHOICES
from cosmodag.fit.pipeline import FitTask, Learning, Learnt, RefinedFit, fit_prepared
from cosmodag.fit.preparation import SCALES, Preparation
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.settle import (
    about_lags,
    aligned,
    findings_after,
    refined_graph,
    unrefined_graph,
    with_regimes,
    with_turning_losses,
)
from cosmodag.fit.time.unroll import InTime
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.learners.documentation import inherit_descriptions
from cosmodag.solve.watch import QuietWatch, Watch

__all__ = [
    "METHODS",
    "NOISES",
    "SEARCHED",
    "Learnt",
    "Prepared",
    "RefinedFit",
    "Setting",
    "StructureLearner",
]

Setting = float | str
"""A number, or ``"auto"`` for the one that a rule gives."""

METHODS = ("prune", "order")
SEARCHED = 50_000
"""Variables up to which ``refine="auto"`` searches for a better order (times:
``benchmarks/answer_large.md``); the correlations then take 10 GB."""

NOISES = ("auto", "gaussian", "equal-variance", "non-gaussian")

_RAW_CUT = 0.3


@dataclass(kw_only=True, eq=False, repr=False)
class StructureLearner(FittedGraph):
    r"""Base of all learners: validates, prepares, learns, refines, and reads out a DAG.

    Parameters are the keyword-only fields of the dataclasses that a learner inherits from, and
    their descriptions are inherited too. A subclass adds fields, and implements :meth:`_learn`.

    Parameters
    ----------
    refine : {"auto", "prune", "order", None}
        Use of the learnt order. ``"prune"`` regresses each variable on those before it and keeps
        the arcs that the evidence supports; ``"order"`` also searches for a better order, from the
        learnt one and from others; ``"auto"`` is ``"order"`` up to 50,000 variables and ``"prune"``
        beyond. ``None`` keeps the optimised weights.
    noise : {"auto", "gaussian", "equal-variance", "non-gaussian"}
        What refinement assumes of the noise: Gaussian with one variance per variable (units do not
        matter, and only the equivalence class is decided), Gaussian with one common variance, or
        not Gaussian. ``"auto"`` decides from the data; ``noise_`` and ``noise_reason_`` report the
        decision.
    restarts : int or "auto"
        Maximal number of searches from perturbed copies of the best order, with
        ``refine="order"``; ``"auto"`` is :func:`cosmodag.order.default_restarts`. They end early if
        several in a row find nothing.
    threshold : float or "auto"
        Arcs with \|W\| at or below it are left out of `adjacency_`. Automatically 0 after
        refinement, 0.3 without.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph: :class:`cosmodag.Knowledge`, its parts by name, or a file.
    kinds : "auto", mapping or sequence
        What columns hold, where it is not what their values suggest: a mapping from names to
        ``"continuous"``, ``"binary"``, ``"categorical"``, ``"ordinal"``, ``"count"`` or a list of
        levels from low to high, or one such entry for each column (`docs/kinds.md`; see `kinds_`).
    missing : {"error", "drop", "impute"}
        Refuse missing values (NaN); drop rows that have one; or estimate them from the other
        values, without counting them as evidence (`docs/missing.md`; see `missing_report_`).
    scale : {"center", "standardize", "none"}
        Subtract column means; also divide by standard deviations (which removes the differences in
        variance that squared-error learners rely on, and warns); or leave the data unchanged.
    lags : int
        Number k of earlier times that may act on a row, if the rows are those of time series: the
        graph is then that of a window of the times t, t − 1, …, t − k, with arcs into time t from
        the same time and from earlier ones (`docs/time.md`). 0 for rows that are independent.
    max_time : float, optional
        Seconds after which the fit stops with the result so far and a warning.
    random_state : int, Generator, RandomState or None
        The same number gives the same result, bit for bit, on the same machine.
    verbose : bool
        Show progress on stderr if it is a terminal.

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

    threshold: Setting = "auto"
    knowledge: Any = None
    kinds: Any = "auto"
    missing: str = "error"
    scale: str = "center"
    lags: int = 0

    @abstractmethod
    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        """Learn from a prepared table."""

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        if self.threshold != "auto":
            check_number("threshold", self.threshold, low=0.0, low_allowed=True)
        check_kinds(self.kinds)
        check_choice("scale", self.scale, SCALES)
        check_choice("missing", self.missing, CHOICES)
        check_count("lags", self.lags, low=0)
        if getattr(self, "refine", None) is not None:
            check_choice("refine", self.refine, ("auto", *METHODS))
        if hasattr(self, "noise"):
            check_choice("noise", self.noise, NOISES)
        check_restarts(getattr(self, "restarts", "auto"), getattr(self, "refine", "auto"))

    @property
    def _restarts(self) -> int | None:
        restarts = getattr(self, "restarts", "auto")
        return None if restarts == "auto" else int(restarts)

    def refinement_for(self, d: int) -> str | None:
        """Choose the method of refinement for d variables: None, ``"prune"`` or ``"order"``."""
        refine: str | None = getattr(self, "refine", None)
        if refine == "auto":
            return "order" if d <= SEARCHED else "prune"
        return refine

    def why_no_levels(self, d: int) -> str | None:
        """Name the learner, and the setting with which it takes numbers only; None if it does not.

        In linear learners it is refinement that uses categories, not training.
        """
        if self.takes_levels and self.refinement_for(d) is not None:
            return None
        return type(self).__name__ + (" without refinement" if self.takes_levels else "")

    @property
    def refinement_(self) -> str | None:
        """Method of refinement: None, ``"prune"`` or ``"order"``."""
        return self.refinement_for(self.n_features_in_)

    @property
    def raw_threshold(self) -> float:
        """Threshold on optimised weights."""
        return _RAW_CUT if self.threshold == "auto" else float(self.threshold)

    @property
    def _refined_threshold(self) -> float:
        """Threshold on weights that refinement chose by evidence."""
        return 0.0 if self.threshold == "auto" else float(self.threshold)

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

    def examine(self, given: Prepared) -> None:
        """Record how firm arrows are, and warn of what the equations leave unexplained."""
        self.fitted_ = with_turning_losses(with_regimes(self.fitted_, given), given)
        if self.fitted_.regimes is not None:
            about = self.fitted_.regimes.findings(self.fitted_.texts)
            self.findings_ = [*self.findings_, *about]
        if self.is_linear and self.fitted_.is_linear:
            found = findings_after(self.fitted_, given, self.findings_, self._doubt)
        else:
            found = about_lags(self.fitted_)
        warn_about(found, stacklevel=5)
        self.findings_ = [*self.findings_, *found]

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
        from cosmodag.refinement.moments import SINGLE_BEYOND

        searched = 1.5 if self.refinement_for(d) == "order" else 0.0
        if d > SINGLE_BEYOND:
            searched *= 0.5
        return searched + (4.0 if d <= DENSE_LIMIT else 0.0)

    def finish(self, given: Prepared, learnt: Learnt, watch: Watch) -> None:
        """Turn what was learnt into a DAG, with or without refinement, and settle it."""
        self.stopped_ = learnt.stopped
        for name, value in learnt.extra.items():
            setattr(self, name, value)
        learnt = self._read_out(learnt, given.preparation, given.known)
        if self.refinement_ is None:
            graph = unrefined_graph(learnt, given.known, self.raw_threshold)
        else:
            refined = self._refine(given, learnt, watch)
            self.noise_scores_, self.refine_report_ = refined.scores, refined.report
            self.stopped_ = self.stopped_ or refined.stopped
            self._doubt = refined.doubt
            for name, value in refined.extra.items():
                setattr(self, name, value)
            graph = refined_graph(refined, given.known, self._refined_threshold)
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
        limit: float | None = getattr(self, "max_time", None)
        verbose = bool(getattr(self, "verbose", True))
        return Watch(1, type(self).__name__, None if limit is None else limit * fits, verbose)

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

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Turn the order that was learnt into a graph by evidence."""
        from cosmodag.fit.refining import refine_table

        learnt_order = {} if learnt.order is None else {"learnt": learnt.order}
        orders = {**learnt_order, **learnt.orders}
        return refine_table(self, given, orders, watch, restarts=self._restarts)
