"""Order search as a learner: a graph from a score alone, with linear or curved effects."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.fit.input_checks import check_choice
from cosmodag.fit.prepare import prepare
from cosmodag.fit.steps import FitTask
from cosmodag.fit.time.unroll import InTime
from cosmodag.learners.declarations import Auto, parameter
from cosmodag.learners.parameters import Scale
from cosmodag.learners.refined import SearchedLearner
from cosmodag.learners.structure_learner import Learnt, Prepared, RefinedFit
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table


@dataclass(kw_only=True, eq=False, repr=False)
class OrderSearch(SearchedLearner):
    r"""Search for the order and the graph with the best score, without training.

    Maximises, over orders and over the DAGs that agree with them,

    .. math::

        \sum_v \left( -\frac{n}{2} \log \mathrm{RSS}_v(P_v) - c\,|P_v| \right),

    where :math:`\mathrm{RSS}_v(P_v)` is the residual sum of squares of v regressed on its parents
    :math:`P_v`, and c is the penalty per arc. Depending on `noise`, the score has one common
    residual variance instead, or the entropies of the residuals. The search moves variables along
    arcs, over any distance. It begins from several starting orders and from perturbed copies of
    the best order (:func:`cosmodag.search.search`). With the Gaussian score, multiplying columns by
    constants changes no arrow.

    It is a strong baseline for learners that train, and often the best choice for linear relations.

    Attributes
    ----------
    raw_weights_, weights_ : (d, d) array
        Regression weights of the chosen arcs.

    Examples
    --------
    >>> from cosmodag import OrderSearch, metrics, simulate
    >>> data = simulate.load("n1000_d30_ER4_gauss", seed=0)
    >>> model = OrderSearch(random_state=0).fit(data.X)
    >>> metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["nhd"] < 0.2
    True
    """

    scale: Scale = parameter(
        "center",
        "Preparation of the columns. Standardising only changes the units of the weights.",
    )

    takes_levels: ClassVar[bool] = True
    _order_from_units: ClassVar[bool] = False
    _search_by: ClassVar[str] = "use method='order'"

    # Of a copy that `starting_from` makes for one fit.
    _method: str = field(default="order", init=False)
    _start: list[Any] | None = field(default=None, init=False)

    def refinement_for(self, d: int) -> str:
        """Return the method of refinement: ``"prune"`` or ``"order"``."""
        return self._method

    def fit_from(
        self, X: Any, order: Sequence[Any], method: str = "order", *, interventions: Any = None
    ) -> Self:
        """Learn a graph like :meth:`fit`, with a given order as a further starting order.

        The order and the method are used for this fit only, not for fits of resamples.

        Parameters
        ----------
        X : table
        order : sequence of column names or numbers
            All columns, causes first.
        method : {"prune", "order"}
            ``"order"`` searches for a better order; ``"prune"`` keeps the given order and only
            chooses arcs.
        interventions : optional
            As for :meth:`fit`.
        """
        check_choice("method", method, ("prune", "order"))
        learner = self.starting_from(order, method)
        given = prepare(learner, X, interventions, None, True, InTime(None, None))
        return self.take_fit(FitTask(learner, given))

    def starting_from(self, order: Sequence[Any], method: str = "order") -> Self:
        """Copy the learner for a task whose search also starts from `order`, as in `fit_from`."""
        learner = self.unfitted()
        learner._start, learner._method = list(order), method
        return learner

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        """Return the order given to `fit_from`, if any; nothing is learnt."""
        starts = {}
        if self._start is not None:
            starts["given"] = given.known.ordered(_places(self._start, given))
        return Learnt(None, orders=starts)


def _places(order: list[Any], given: Prepared) -> NDArray[np.intp]:
    """Column numbers of an order of names or numbers, which must have each column once."""
    d = len(given.names)
    # Names of columns that are numbers are kept as text.
    named = {str(name): place for place, name in enumerate(given.names)} if given.is_named else {}
    numbered = {place: place for place in range(d)}
    found = [named.get(str(name), numbered.get(name)) for name in order]
    if None in found:
        wrong = order[found.index(None)]
        raise DataError(f"order has {wrong!r}, which is not a column of the table.")
    places = np.array(found, np.intp)
    if len(np.unique(places)) != d or len(places) != d:
        raise DataError(
            f"order has {len(places)} entries, but must name each of the {d} columns once."
        )
    return places


@dataclass(kw_only=True, eq=False, repr=False)
class BlockSearch(OrderSearch):
    r"""Search for the order and the graph with the best score, with effects that may be curves.

    Every variable becomes a block of columns: a number, the number itself and five polynomials of
    it; a count, :math:`\log(1 + x)`; a category, the indicators of its levels. With the columns
    :math:`P_v` of the parents and :math:`T_v` of the variable itself, the search maximises

    .. math::

        \sum_v \Big( -\frac{n}{2} \log \det \mathrm{cov}(T_v \mid P_v)
        - \frac{\log n}{2}\, |T_v|\, |P_v| - a \cdot \text{parents of } v \Big),

    where a is such that an arc with one parameter has the same penalty as in `OrderSearch`. Each
    arc uses as many polynomials as raise the score, so that linear effects stay linear. Multiplying
    columns by constants changes no arc.

    Curves between numbers can determine directions that linear effects leave open (additive noise);
    such arrows have the basis ``"curves"``. The noise of curves is Gaussian; `noise` is that of
    linear effects. `OrderSearch` and `Cosmo` search in the same way if a table has counts or
    categories of three or more levels. In tables of categories alone, which may have two levels,
    parents act jointly: the search counts their combinations (:doc:`/mixed`).

    Attributes
    ----------
    curves_reason_ : str
        Whether curves or linear effects were kept, and the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from cosmodag import BlockSearch
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> table = np.column_stack([np.sin(2 * x) + 0.3 * random.normal(size=500), x])
    >>> model = BlockSearch(random_state=0).fit(table)
    >>> (model.adjacency_ != 0).astype(int).tolist(), model.arrow_basis_
    ([[0, 0], [1, 0]], ['curves'])
    """

    curves: bool | Auto = parameter(
        "auto",
        """Whether effects of numbers may be curves. ``"auto"`` finds one graph with linear effects
        and one with curves, and keeps the curves if they raise the likelihood of held-out rows by
        more than two standard errors; ``curves_reason_`` reports the decision.""",
    )

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Find parameters whose values would have no effect, and the reason for each."""
        found = super().idle_settings(table)
        if self.curves is True and self.noise not in ("auto", "gaussian"):
            found["noise"] = (
                "curves=True searches with Gaussian noise: set curves to 'auto' or False, or "
                "noise='gaussian' (--noise gaussian)"
            )
        return found

    def decided(self) -> dict[str, Any]:
        """Return the parameters that fix the decisions of this fit when it is repeated."""
        return {**super().decided(), "curves": self.fitted_.equations.is_curved}

    def refined(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Search for a graph with lines, with curves, or with the better of the two."""
        from cosmodag.fit.block_refining import refine_blocks, with_curves
        from cosmodag.fit.fitted_kinds import are_categories, needs_blocks

        if needs_blocks(given.kinds) or are_categories(given.kinds):
            return refine_blocks(self, given, learnt.orders, watch, curves=self.curves)
        if self.curves is False:
            return super().refined(given, learnt, watch)
        lines = None if self.curves is True else super().refined(given, learnt, watch)
        return with_curves(self, given, lines, watch)
