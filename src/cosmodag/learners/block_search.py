"""Order search for tables of every kind: categories, counts, curves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosmodag.errors import DataError
from cosmodag.learners.base import Learnt, Prepared, RefinedFit
from cosmodag.learners.order_search import OrderSearch
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

__all__ = ["BlockSearch"]


@dataclass(kw_only=True, eq=False, repr=False)
class BlockSearch(OrderSearch):
    r"""Search for the order and graph of best score, where effects may be curves.

    Every variable is a block of columns: a number and five polynomials of it, a count as
    :math:`\log(1 + x)`, a category as the indicators of its levels. With columns :math:`P_v` of the
    parents and :math:`T_v` of the variable itself, the score

    .. math::

        \sum_v \Big( -\frac{n}{2} \log \det \mathrm{cov}(T_v \mid P_v)
        - \frac{\log n}{2}\, |T_v|\, |P_v| - a \cdot \text{parents of } v \Big)

    is maximised, with a such that an arc of one parameter costs what it costs in `OrderSearch`.
    Each arc uses as many polynomials as raise the score, so that lines stay lines. Multiplying
    columns by numbers changes no arc.

    Curves between numbers can decide directions that lines leave open (additive noise); arrows
    that rest on it have the basis ``"curves"``. Curves are searched with Gaussian noise; `noise` is
    that of lines. `OrderSearch` and `Cosmo` search in the same way
    where a table has categories of three levels or more, or counts.

    Parameters
    ----------
    curves : bool or "auto"
        Whether effects of numbers may be curves. ``"auto"`` finds a graph with lines and one with
        curves, and keeps the curves where they raise the likelihood of held-out rows by more than
        two standard errors; ``curves_reason_`` reports the decision.

    Attributes
    ----------
    curves_reason_ : str
        Whether curves or lines were kept, and why.

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

    curves: bool | str = "auto"

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        if self.curves not in (True, False, "auto"):
            raise DataError(f"curves is {self.curves!r}: it must be True, False or 'auto'.")

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Reasons why the values of parameters would have no effect, by parameter."""
        found = super().idle_settings(table)
        if self.curves is True and self.noise not in ("auto", "gaussian"):
            found["noise"] = (
                "curves=True searches with Gaussian noise: set curves to 'auto' or False, or "
                "noise='gaussian' (--noise gaussian)"
            )
        return found

    def decided(self) -> dict[str, Any]:
        """Parameters that fix what the fit decided, so that resamples do not decide again."""
        return {**super().decided(), "curves": self.fitted_.equations.is_curved}

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        from cosmodag.fit.mixed.kinds import needs_blocks
        from cosmodag.fit.mixed.refining import refine_blocks, with_curves

        if needs_blocks(given.kinds):
            return refine_blocks(
                self, given, learnt.orders, watch, curves=self.curves, restarts=self._restarts
            )
        lines = None if self.curves is True else super()._refine(given, learnt, watch)
        if self.curves is False:
            assert lines is not None
            return lines
        return with_curves(self, given, lines, watch, restarts=self._restarts)
