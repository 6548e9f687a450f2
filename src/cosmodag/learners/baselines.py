"""Baselines: an order by a simple rule, then regression.

On data simulated as in most papers, such rules come close to structure learning, or beat it,
because the simulation reveals the order (Reisach, Seiler and Weichwald 2021). A learner must beat
these to show anything.
"""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import variance_inflation
from cosmodag.errors import InterruptedWarning
from cosmodag.fit.checks import seeds_from
from cosmodag.graph.dags import order_of
from cosmodag.learners.base import Learnt, Prepared, StructureLearner
from cosmodag.learners.parameters import choice
from cosmodag.learners.refined import RefinedLearner
from cosmodag.learners.regression import CRITERIA, NEGLIGIBLE, regress_on_predecessors
from cosmodag.order import choose_parents
from cosmodag.order.starts.conditional_variances import equal_variance_order
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

# Logarithms of variances are compared to this many digits, so that columns standardised in single
# precision are tied, and an order is never read off their rounding errors.
DIGITS = 5


@dataclass(kw_only=True, eq=False, repr=False)
class SortLearner(RefinedLearner):
    """Base of the learners that order the variables by a rule, then regress.

    A subclass implements :meth:`_sort`.

    Parameters
    ----------
    criterion : {"bic", "aic", "none"}
        How the adaptive lasso chooses among the predecessors of a variable
        (:func:`cosmodag.learners.regression.regress_on_predecessors`, also with fewer rows than
        columns), without refinement; ``"none"`` is least squares on all of them.
    refine : {"auto", "prune", "order", None}
        Use of the order instead of the regression, as in :class:`cosmodag.Cosmo`.
    scale : {"center", "standardize", "none"}
        Subtract column means; also divide by standard deviations; or leave the data unchanged, and
        regress without an intercept.

    Attributes
    ----------
    raw_weights_, weights_ : (d, d) array
        Regression coefficients; equal, since they agree with the order by construction.
    """

    criterion: str = choice("bic", CRITERIA)
    random_state: Any = 0

    # Arrays of d × d that sorting itself takes.
    _sorting_squares: ClassVar[float] = 0.0

    @abstractmethod
    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        """Order the variables, causes first; the caller enforces what is known of the order."""

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
        """Count the d × d float64 arrays that are held at once."""
        return super().square_arrays(d) + (0.0 if self.refine else 3.0) + self._sorting_squares

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        known = given.known
        order = known.ordered(self._sort(given))
        if self.refine is not None:  # which then decides on arcs, at less cost
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
                "The regressions were stopped: variables late in the order may lack their causes.",
                InterruptedWarning,
                stacklevel=4,
            )
        return Learnt(weights, order, stopped=watch.stop)


class VarianceSort(SortLearner):
    r"""Order the variables by variance, smallest first, and regress each on those before it.

    *sortnregress* of Reisach, Seiler and Weichwald (2021, *Beware of the simulated DAG!*): where
    every variable has noise of about the same variance, variance accumulates along the arcs and
    its order is nearly a causal one. The order depends on units, and is that of the columns for
    variables whose variances agree to five digits, as after standardising.

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
            return order_of(np.round(np.log(variances), DIGITS))


class R2Sort(SortLearner):
    r"""Order the variables by R², smallest first, and regress each on those before it.

    R² of a variable is the share of its variance that a linear regression on all the others
    explains. It does not depend on units, and in common simulations it too grows along the arcs
    (Reisach, Tami, Seiler, Chambaz and Weichwald 2023, *A scale-invariant sorting criterion to
    find a causal order in additive noise models*).

    The order is that of 1/(1 − R²), the diagonal of the inverse of the correlation matrix C. Where
    C cannot be inverted, since columns are collinear or there are no more rows than columns, the
    columns that others determine have R² = 1 and come last, in the order that a vanishing ridge,
    (C + δI)⁻¹ with δ → 0, puts them in. (The pseudo-inverse, also in use, puts duplicates first,
    and with half as many rows as columns it orders simulated data no better than chance.)

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
    """Put the variables in random order, and regress each on those before it.

    Regression without information on the order: half of the arcs point the wrong way.

    Examples
    --------
    >>> from cosmodag import RandomSort, simulate
    >>> data = simulate.load("n200_d5_ER1_gauss", seed=0)
    >>> RandomSort(random_state=0).fit(data.X).causal_order_
    [2, 4, 0, 3, 1]
    """

    random_state: Any = None

    _order_from_units = False

    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        (seed,) = seeds_from(self.random_state, 1)
        return np.random.default_rng(seed).permutation(given.data.shape[1])


@dataclass(kw_only=True, eq=False, repr=False)
class EqualVariance(SortLearner):
    r"""Order the variables from the top down by conditional variance, and regress.

    The next variable is the one with the smallest variance given those already in order (Chen,
    Drton and Wang 2019, *On causal discovery with an equal-variance assumption*, top-down). With
    errors of equal variance in a linear model this is consistent, for any noise: given variables
    that include all their own ancestors, a variable without a further parent has the conditional
    variance of its error, and every other has more. It needs no learning and is hard to beat where
    its assumption holds, as it does in the simulations of most papers; it depends on units.

    How variances are conditioned, and what happens where rows are few:
    :func:`cosmodag.order.starts.conditional_variances.equal_variance_order`.

    The order is pruned by default, which takes far less time than the adaptive lasso.

    Examples
    --------
    >>> from cosmodag import EqualVariance, metrics, simulate
    >>> data = simulate.load("n1000_d30_ER4_exp", seed=0)
    >>> model = EqualVariance().fit(data.X)
    >>> metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.98
    True
    """

    refine: str | None = "prune"
    noise: str = "equal-variance"

    _sorting_squares = 1.5

    def _sort(self, given: Prepared) -> NDArray[np.intp]:
        moments = given.known.moments(given.data.astype(np.float64))
        return np.asarray(equal_variance_order(moments, before=given.known.before), np.intp)


@dataclass(kw_only=True, eq=False, repr=False)
class EmptyGraph(StructureLearner):
    r"""Return a graph without arcs, except those that are required.

    It shows the value of a metric that needs no learning: on sparse graphs the empty graph has most
    entries right. Its AUC is ½.

    Parameters
    ----------
    threshold : float
        Present so that learners can be exchanged; there is no arc to leave out.
    random_state : int, Generator, RandomState or None
        Seed of estimated missing values.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, simulate
    >>> data = simulate.load("n200_d5_ER1_gauss", seed=0)
    >>> EmptyGraph().fit(data.X).graph_.number_of_edges()
    0
    """

    random_state: Any = 0

    _order_from_units = False

    def square_arrays(self, d: int) -> float:
        """Count the d × d float64 arrays that are held at once."""
        return max(3.0, super().square_arrays(d))

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        d, known = given.data.shape[1], given.known
        order = known.ordered(np.arange(d))
        if known.required is None:
            return Learnt(np.zeros((d, d)), order)
        only = choose_parents(
            known.moments(given.X), order, support=known.required, required=known.required
        )
        return Learnt(only.matrix().toarray(), order)
