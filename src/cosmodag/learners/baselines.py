"""Baselines: sort the variables by a simple rule, then regress each on its predecessors.

On data simulated as in most papers, such rules come close to structure learners, or beat them,
because the simulation reveals the order (Reisach, Seiler and Weichwald 2021). A learner has to beat
them before its results mean anything.
"""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import variance_inflation
from cosmodag.errors import InterruptedWarning
from cosmodag.fit.input_checks import seeds_from
from cosmodag.graph.dags import order_of
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.parameters import Noise, Refine, Scale
from cosmodag.learners.refined import RefinedLearner
from cosmodag.learners.regression import NEGLIGIBLE, regress_on_predecessors
from cosmodag.learners.structure_learner import Learnt, Prepared, StructureLearner
from cosmodag.search.starts.conditional_variances import equal_variance_order
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

# Decimals to which logarithms of variances are compared: columns that were standardised in single
# precision are then ties, and rounding errors do not order them.
_DECIMALS = 5


@dataclass(kw_only=True, eq=False, repr=False)
class SortLearner(RefinedLearner):
    """Base class of learners that sort the variables by a rule, then regress.

    A subclass implements :meth:`_sort`.

    Attributes
    ----------
    raw_weights_, weights_ : (d, d) array
        Regression coefficients. The two are equal, since the coefficients agree with the order.
    """

    criterion: Literal["bic", "aic", "none"] = parameter(
        "bic",
        """Information criterion by which the adaptive lasso chooses among the predecessors of a
        variable, without refinement; ``"none"`` is least squares on all predecessors. Rows may be
        fewer than columns (:func:`cosmodag.learners.regression.regress_on_predecessors`).""",
    )
    refine: Refine = parameter(
        None,
        """Use of the order: regression on the predecessors (None), or refinement to a graph, as in
        :class:`cosmodag.Cosmo`.""",
    )
    scale: Scale = parameter(
        "center",
        """Subtract the column means; also divide by the standard deviations; or leave the data
        unchanged, and regress without an intercept.""",
    )
    random_state: Any = 0

    # Peak number of d × d arrays that sorting holds.
    _sorting_squares: ClassVar[float] = 0.0

    @abstractmethod
    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        """Order the variables, causes first; the caller makes the order agree with knowledge."""

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Find parameters whose values would have no effect, and the reason for each."""
        found = super().idle_settings(table)
        if self.refine is not None and self.criterion != type(self).criterion:
            found["criterion"] = (
                f"refine={self.refine!r} chooses arcs by its own evidence: set refine=None "
                "(--refine none), or leave criterion out"
            )
        return found

    def square_arrays(self, d: int) -> float:
        """Peak number of d × d float64 arrays that a fit holds."""
        return super().square_arrays(d) + (0.0 if self.refine else 3.0) + self._sorting_squares

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        known = given.known
        order = known.ordered(self._sort(given))
        if self.refine is not None:  # refinement chooses the arcs
            return Learnt(None, order)
        moments = known.moments(given.X)
        weights = regress_on_predecessors(
            moments.about_zero() if self.scale == "none" else moments,
            order,
            self.criterion,
            support=known.support,
            required=known.required,
            should_stop=lambda: watch.stop is not None,
        )
        if watch.stop is not None:
            warnings.warn(
                "The regressions were stopped early: the last variables of the order may lack "
                "causes in this graph.",
                InterruptedWarning,
                stacklevel=4,
            )
        return Learnt(weights, order, stopped=watch.stop)


class VarianceSort(SortLearner):
    r"""Order the variables by variance, smallest first, and regress each on its predecessors.

    This is *sortnregress* of Reisach, Seiler and Weichwald (2021, *Beware of the simulated DAG!*).
    If all noise variances are similar, variance accumulates along the arcs, and the order of the
    variances is nearly causal. The order depends on units. Variables whose log-variances agree to
    five decimals, as after standardising, stay in the order of the columns.

    Examples
    --------
    >>> from cosmodag import VarianceSort, metrics, simulate
    >>> data = simulate.load("n1000_d30_ER4_gauss", seed=0)
    >>> model = VarianceSort().fit(data.X)
    >>> metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.9
    True
    """

    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        data = given.data.astype(np.float64)
        means = np.average(data, axis=0, weights=given.known.counted)
        variances = np.average((data - means) ** 2, axis=0, weights=given.known.counted)
        with np.errstate(divide="ignore"):
            return order_of(np.round(np.log(variances), _DECIMALS))


class R2Sort(SortLearner):
    r"""Order the variables by R², smallest first, and regress each on its predecessors.

    The R² of a variable is the fraction of its variance that a linear regression on all others
    explains. It does not depend on units, and in common simulations it also grows along the arcs
    (Reisach, Tami, Seiler, Chambaz and Weichwald 2023, *A scale-invariant sorting criterion to
    find a causal order in additive noise models*).

    The order is that of 1/(1 − R²), the diagonal of the inverse of the correlation matrix C. If C
    is singular, because columns are collinear or there are no more rows than columns, the columns
    that others determine have R² = 1 and come last, in the order given by a vanishing ridge,
    (C + δI)⁻¹ with δ → 0. (The pseudo-inverse, which others use, puts duplicates first; with half
    as many rows as columns it orders simulated data no better than chance.)

    Examples
    --------
    >>> from cosmodag import R2Sort, simulate
    >>> data = simulate.load("n1000_d30_ER4_gauss", seed=0)
    >>> in_metres = R2Sort().fit(data.X)
    >>> in_miles = R2Sort().fit(data.X / 1609.344)
    >>> in_metres.causal_order_ == in_miles.causal_order_
    True
    """

    _sorting_squares = 2.0
    _order_from_units = False

    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        rows = given.known.untouched
        data = given.data if rows is None else given.data[rows]
        return order_of(variance_inflation(data, NEGLIGIBLE))


@dataclass(kw_only=True, eq=False, repr=False)
class RandomSort(SortLearner):
    """Put the variables in random order, and regress each on its predecessors.

    It shows what regression achieves without information about the order: half of the arcs point
    the wrong way.

    Examples
    --------
    >>> from cosmodag import RandomSort, simulate
    >>> data = simulate.load("n200_d5_ER1_gauss", seed=0)
    >>> RandomSort(random_state=0).fit(data.X).causal_order_
    [2, 4, 0, 3, 1]
    """

    _order_from_units = False

    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        (seed,) = seeds_from(self.random_state, 1)
        return np.random.default_rng(seed).permutation(given.data.shape[1])


@dataclass(kw_only=True, eq=False, repr=False)
class EqualVariance(SortLearner):
    r"""Order the variables by conditional variance, from causes to effects, and prune the order.

    The next variable is the one with the smallest variance given those already ordered (Chen, Drton
    and Wang 2019, *On causal discovery with an equal-variance assumption*, top-down). In a linear
    model whose errors have equal variances this is consistent, whatever their distribution: given
    variables that include all their own ancestors, the conditional variance of a variable is that
    of its error if it has no further parent, and larger otherwise. The method needs no training and
    is hard to beat where its assumption holds, as in the simulations of most papers. It depends on
    units.

    :func:`cosmodag.search.starts.conditional_variances.equal_variance_order` describes how the
    conditional variances are computed, also with few rows. By default the order is pruned, which
    takes far less time than the adaptive lasso.

    Examples
    --------
    >>> from cosmodag import EqualVariance, metrics, simulate
    >>> data = simulate.load("n1000_d30_ER4_exp", seed=0)
    >>> model = EqualVariance().fit(data.X)
    >>> metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.98
    True
    """

    refine: Refine = "prune"
    noise: Noise = "equal-variance"

    _sorting_squares = 1.5

    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        moments = given.known.moments(given.data.astype(np.float64))
        return np.asarray(equal_variance_order(moments, before=given.known.before), np.intp)


@dataclass(kw_only=True, eq=False, repr=False)
class EmptyGraph(StructureLearner):
    r"""Return a graph without arcs, except those that are required.

    It shows the value that a metric has without any learning: on sparse graphs, the empty graph has
    most entries right. Its AUC is ½.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, simulate
    >>> data = simulate.load("n200_d5_ER1_gauss", seed=0)
    >>> EmptyGraph().fit(data.X).graph_.number_of_edges()
    0
    """

    threshold: Setting = parameter(
        "auto", "Present so that learners are interchangeable; there is no arc to leave out."
    )
    random_state: Any = parameter(0, "Random seed for estimates of missing values.")

    _order_from_units = False

    def square_arrays(self, d: int) -> float:
        """Peak number of d × d float64 arrays that a fit holds."""
        return max(3.0, super().square_arrays(d))

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        d, known = given.data.shape[1], given.known
        order = known.ordered(np.arange(d))
        if known.required is None:
            return Learnt(np.zeros((d, d)), order)
        weights = regress_on_predecessors(
            known.moments(given.X), order, "none", support=known.required, required=known.required
        )
        return Learnt(weights, order)
