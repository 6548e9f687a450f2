"""Linear learners whose order is refined to a graph by evidence."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cosmodag.errors import DataError, name_list
from cosmodag.fit.checks import check_choice, check_count
from cosmodag.fit.kinds import is_block, needs_blocks
from cosmodag.learners.base import Learnt, Prepared, RefinedFit, StructureLearner
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

__all__ = ["NOISES", "RefinedLearner", "SearchedLearner"]

NOISES = ("auto", "gaussian", "equal-variance", "non-gaussian")

# Variables up to which refine="auto" searches for a better order (times:
# benchmarks/answer_large.md); the correlations then take 10 GB.
_SEARCHED = 50_000


@dataclass(kw_only=True, eq=False, repr=False)
class SearchedLearner(StructureLearner):
    """A learner whose graph may come from a search over orders.

    Parameters
    ----------
    noise : {"auto", "gaussian", "equal-variance", "non-gaussian"}
        What refinement assumes of the noise: Gaussian with one variance per variable (units do not
        matter, and only the equivalence class is decided), Gaussian with one common variance, or
        not Gaussian. ``"auto"`` decides from the data; ``noise_`` and ``noise_reason_`` report the
        decision. Tables with categories or counts are searched, and orders are pruned, without
        ``"non-gaussian"``; the former without ``"equal-variance"`` too.
    restarts : int or "auto"
        Maximal number of searches from perturbed copies of the best order, with
        ``refine="order"``; 0 for none. They end early if several in a row find nothing. ``"auto"``
        is :func:`cosmodag.order.default_restarts` of the noise assumed: 40,000 / d, at most 200,
        with Gaussian noise; 2,000 / d with noise that is not Gaussian; none with equal variances,
        where they found nothing better. It is 2,000 / d, at most 50, for tables of categories,
        counts or curves, and none beyond 1,000 variables unless rows are at most a quarter of them.
    """

    noise: str = "auto"
    restarts: int | str = "auto"

    # What a user does to have orders searched.
    _search_by: ClassVar[str] = "set refine='order' (--refine order)"

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        super().check_settings()
        check_choice("noise", self.noise, NOISES)
        check_count("restarts", self.restarts, low=0, also=("auto",))

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Find parameters whose values would have no effect, and the reason for each."""
        found = super().idle_settings(table)
        method = self.refinement_for(1 if table is None else len(table.names))
        if self._asks_noise:
            reason = self._against_noise(method, table)
            found |= {} if reason is None else {"noise": reason}
        if self.restarts != "auto" and method != "order":
            trainings = "; the number of trainings is trainings=" * hasattr(self, "trainings")
            found["restarts"] = f"nothing is searched: {self._to_search('restarts')}{trainings}"
        return found

    def _against_noise(self, method: str | None, table: "Table | None") -> str | None:
        """Reason why refinement does not use the noise that was asked for; None if it does."""
        if method is None:
            return f"only refinement assumes a noise, and there is none: {self._to_search('noise')}"
        if self.noise == "gaussian":
            return None
        if method == "prune" and self.noise == "non-gaussian":
            return f"pruning uses Gaussian scores: {self._to_search('noise')}"
        if table is None or not needs_blocks(table.kinds or ()):
            return None
        columns = zip(table.names, table.kinds or (), strict=True)
        listed = name_list([name for name, kind in columns if is_block(kind)])
        return (
            f"tables with categories or counts ({listed}) are searched with Gaussian noise: use "
            "noise='gaussian' (--noise gaussian), declare counts continuous (--kinds), or leave "
            "these columns out (--drop)"
        )

    def _to_search(self, name: str) -> str:
        """Say how a parameter of the search has an effect, or not to set it."""
        if self.is_linear:
            return f"{self._search_by}, or leave {name} out"
        return f"leave {name} out, since equations that are not linear are not refined"

    @property
    def _asks_noise(self) -> bool:
        """Whether a noise was asked for that is not the learner's own."""
        return self.noise not in ("auto", type(self).noise)

    def decided(self) -> dict[str, Any]:
        """Return the parameters that fix the decisions of this fit when it is repeated."""
        return {**super().decided(), "noise": self._dag.noise}

    @property
    def _restarts(self) -> int | None:
        return None if self.restarts == "auto" else int(self.restarts)

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Turn the order that was learnt into a graph by evidence."""
        from cosmodag.fit.refining import refine_table

        learnt_order = {} if learnt.order is None else {"learnt": learnt.order}
        orders = {**learnt_order, **learnt.orders}
        return refine_table(self, given, orders, watch, restarts=self._restarts)


@dataclass(kw_only=True, eq=False, repr=False)
class RefinedLearner(SearchedLearner):
    """A learner of linear equations, whose order can be refined to a graph.

    Parameters
    ----------
    refine : {"auto", "prune", "order", None}
        Use of the learnt order. ``"prune"`` regresses each variable on those before it and keeps
        the arcs that the evidence supports; ``"order"`` also searches for a better order, from the
        learnt one and from others; ``"auto"`` is ``"order"`` up to 50,000 variables and ``"prune"``
        beyond. ``None`` keeps the optimised weights.
    """

    refine: str | None = None

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        super().check_settings()
        check_choice("refine", self.refine, ("auto", "prune", "order", None))

    def refinement_for(self, d: int) -> str | None:
        """Choose the method of refinement; None if the equations are not linear."""
        if self.refine is None or self.is_linear:
            is_auto = self.refine == "auto"
            return ("order" if d <= _SEARCHED else "prune") if is_auto else self.refine
        if self.refine == "auto":
            return None
        raise DataError(
            f"refine is {self.refine!r}, which regresses linearly, but the equations of "
            f"{type(self).__name__} are not linear: use refine=None."
        )
