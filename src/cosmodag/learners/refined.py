"""Linear learners whose order is refined to a graph."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cosmodag.errors import DataError, name_list
from cosmodag.fit.fitted_kinds import is_block, needs_blocks
from cosmodag.fit.input_checks import check_choice
from cosmodag.learners.parameters import RefineParameter, SearchParameters
from cosmodag.learners.structure_learner import Learnt, Prepared, RefinedFit, StructureLearner
from cosmodag.search.local_scores import LOCAL_SCORES
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

__all__ = ["RefinedLearner", "SearchedLearner"]

# Largest number of variables for which refine="auto" searches over orders (times:
# benchmarks/answer_large.md); the correlations then take 10 GB.
_MAX_SEARCHED = 50_000


@dataclass(kw_only=True, eq=False, repr=False)
class SearchedLearner(SearchParameters, StructureLearner):
    """Base class of learners whose graph may come from a search over orders."""

    # What a user should do for a search over orders, as part of a message.
    _search_by: ClassVar[str] = "set refine='order' (--refine order)"

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        super().check_settings()
        check_choice("noise", self.noise, (*self.parameters["noise"].words, *LOCAL_SCORES))

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Find parameters whose values would have no effect, and the reason for each."""
        found = super().idle_settings(table)
        method = self.refinement_for(1 if table is None else len(table.names))
        if self._asks_noise:
            reason = self._against_noise(method, table)
            found |= {} if reason is None else {"noise": reason}
        if self.restarts != "auto" and method != "order":
            remedy = self._to_search("restarts")
            if hasattr(self, "trainings"):
                remedy += "; to train from several starting points, set trainings=N"
            found["restarts"] = f"nothing is searched: {remedy}"
        return found

    def _against_noise(self, method: str | None, table: "Table | None") -> str | None:
        """Return the reason why refinement does not use the noise requested; None if it does."""
        if method is None:
            return f"only refinement uses it, and nothing is refined: {self._to_search('noise')}"
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
        """Describe what gives a parameter of the search an effect, for a message."""
        if self.is_linear:
            return f"{self._search_by}, or leave {name} out"
        return f"leave {name} out, since equations that are not linear are not refined"

    @property
    def _asks_noise(self) -> bool:
        """Whether `noise` is set to a value other than ``"auto"`` and the learner's default."""
        return self.noise not in ("auto", type(self).noise)

    def decided(self) -> dict[str, Any]:
        """Return the parameters that fix the decisions of this fit when it is repeated."""
        noise = self._dag.noise
        return {**super().decided(), **({} if noise is None else {"noise": noise})}

    def decides(self, d: int) -> bool:
        """Whether refinement chooses the noise."""
        return super().decides(d) or self.refinement_for(d) is not None

    @property
    def most_restarts(self) -> int | None:
        """Maximum number of searches from perturbed orders; None for a number by rule."""
        return None if self.restarts == "auto" else int(self.restarts)

    def refined(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Refine the learnt order, and the others of `learnt`, to a graph."""
        from cosmodag.fit.refining import refine_table

        learnt_order = {} if learnt.order is None else {"learnt": learnt.order}
        orders = {**learnt_order, **learnt.orders}
        return refine_table(self, given, orders, watch)


@dataclass(kw_only=True, eq=False, repr=False)
class RefinedLearner(RefineParameter, SearchedLearner):
    """Base class of learners of linear equations whose order can be refined to a graph."""

    def refinement_for(self, d: int) -> str | None:
        """Return the method of refinement for d variables; None if equations are not linear."""
        if self.refine is None:
            return None
        if self.is_linear:
            automatic = "order" if d <= _MAX_SEARCHED else "prune"
            return automatic if self.refine == "auto" else self.refine
        if self.refine == "auto":
            return None
        raise DataError(
            f"refine is {self.refine!r}, which regresses linearly, but the equations of "
            f"{type(self).__name__} are not linear: use refine=None (--refine none)."
        )
