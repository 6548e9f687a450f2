"""Refinement of tables with categories, counts or curves: a search among blocks of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.kinds import ColumnKind
from cosmodag.fit.checks import seeds_from
from cosmodag.fit.mixed.equations import BlockEquations
from cosmodag.fit.pipeline import RefinedFit
from cosmodag.order import FoundBlocks
from cosmodag.refinement.mixed.curves import CurveGain, curve_gain, entropy_gain
from cosmodag.refinement.mixed.finalists import improved
from cosmodag.refinement.mixed.search import best_blocks, turned_losses
from cosmodag.refinement.mixed.table import BlockTable

if TYPE_CHECKING:
    from cosmodag.learners.base import Prepared, StructureLearner
    from cosmodag.solve.watch import Watch

__all__ = ["needs_blocks", "refine_blocks", "with_curves"]

_GAUSSIAN = "Gaussian noise with one variance per variable"
_ASKED = {True: "Curves were asked for.", False: "Lines were asked for."}


def needs_blocks(kinds: Sequence[ColumnKind]) -> bool:
    """Whether a table has categories of three levels or more, or counts.

    All other kinds are as well plain columns: the indicator of a binary variable is one.
    """
    return any(not kind.is_number or kind.kind == "count" for kind in kinds)


@dataclass(frozen=True, eq=False)
class _Search:
    """A table, what is known of it, and how its graphs are searched for."""

    model: "StructureLearner"
    given: "Prepared"
    watch: "Watch"
    restarts: int | None
    random: np.random.Generator

    @classmethod
    def of(
        cls,
        model: "StructureLearner",
        given: "Prepared",
        watch: "Watch",
        restarts: int | None,
    ) -> "_Search":
        watch.begin(1, f"{type(model).__name__}: refining")
        (seed,) = seeds_from(getattr(model, "random_state", 0), 1)
        return cls(model, given, watch, restarts, np.random.default_rng(seed))

    def table(self, curves: bool) -> BlockTable:
        given, known = self.given, self.given.known
        X = given.X * given.preparation.factors + given.preparation.means
        share = 1.0 if known.absent is None else 1.0 - float(known.absent.mean())
        return BlockTable.of(X, given.kinds, curves=curves, counted=known.counted, share=share)

    def best(
        self, table: BlockTable, orders: Mapping[str, NDArray[Any]]
    ) -> tuple[FoundBlocks, list[dict[str, Any]]]:
        method = self.model.refinement_
        assert method is not None
        problem = self._problem(table)
        stop = lambda: self.watch.stop is not None  # noqa: E731
        found, report = best_blocks(
            problem,
            orders,
            random=self.random,
            method=method,
            restarts=self.restarts,
            should_stop=stop,
        )
        return improved(table, problem, found, stop) if method == "order" else found, report

    def _problem(self, table: BlockTable) -> Any:
        known = self.given.known
        return table.problem(known.support, known.required, known.before)

    def fit(
        self, table: BlockTable, found: FoundBlocks, report: list[dict[str, Any]], reason: str
    ) -> RefinedFit:
        """Fit the equations of the graph that was found."""
        equations = BlockEquations.of(table, found.widths, self.given.preparation)
        sizes = equations.sizes(table) / self.given.preparation.factors
        sizes *= self.given.preparation.factors[:, None]
        return RefinedFit(
            found.order,
            sparse.csr_array(sizes),
            "gaussian",
            reason,
            report,
            self.watch.stop if found.ended_early else None,
            {},
            equations,
            turning_losses=turned_losses(self._problem(table), found),
        )


def refine_blocks(
    model: "StructureLearner",
    given: "Prepared",
    orders: Mapping[str, NDArray[Any]],
    watch: "Watch",
    *,
    curves: bool | str = "auto",
    restarts: int | None = None,
) -> RefinedFit:
    """Search for the graph of a table with categories or counts.

    Parameters
    ----------
    model : StructureLearner
    given : Prepared
    orders : mapping of names to orders
        To start from.
    watch : Watch
    curves : bool or "auto"
        Whether effects of numbers may be curves; ``"auto"`` compares the graphs with and without
        them on held-out rows.
    restarts : int, optional
    """
    search = _Search.of(model, given, watch, restarts)
    table = search.table(curves=curves is not False)
    if curves is True or not table.embedding.has_curves:
        found, report = search.best(table, orders)
        reason = (
            "No variable can have curved effects." if curves == "auto" else _ASKED[bool(curves)]
        )
        return _with_reason(search.fit(table, found, report, _said(reason)), reason)
    lines, report = search.best(search.table(curves=False), orders)
    bent, further = search.best(table, {**orders, "lines": lines.order})
    gain = curve_gain(table, lines.widths, bent.widths, search.random)
    found = bent if gain.is_curved else lines
    _choose(report, further, gain)
    fitted = search.fit(table, found, [*report, *further], _said(gain.reason))
    return _with_reason(fitted, gain.reason, gain)


def with_curves(
    model: "StructureLearner",
    given: "Prepared",
    lines: RefinedFit | None,
    watch: "Watch",
    *,
    restarts: int | None = None,
) -> RefinedFit:
    """Search for the graph of a table of numbers whose effects may be curves.

    Parameters
    ----------
    model : StructureLearner
    given : Prepared
    lines : RefinedFit, optional
        The graph of lines, which is kept unless curves are better on held-out rows. Without it,
        curves are taken in any case.
    watch : Watch
    restarts : int, optional
    """
    search = _Search.of(model, given, watch, restarts)
    table = search.table(curves=True)
    orders = {} if lines is None else {"lines": lines.order}
    found, report = search.best(table, orders)
    if lines is None:
        return _with_reason(search.fit(table, found, report, _said(_ASKED[True])), _ASKED[True])
    straight = (lines.weights.toarray() != 0).astype(np.int64)
    if given.known.required is not None:
        straight |= given.known.required
    compare = entropy_gain if lines.noise == "non-gaussian" else curve_gain
    gain = compare(table, straight, found.widths, search.random)
    if not gain.is_curved:
        return _with_reason(lines, gain.reason, gain)
    before = [{**entry, "chosen": False} for entry in lines.report]
    fitted = search.fit(table, found, [*before, *report], _said(gain.reason))
    return _with_reason(fitted, gain.reason, gain)


def _said(reason: str) -> str:
    return f"{_GAUSSIAN} is assumed. {reason}"


def _choose(lines: list[dict[str, Any]], curves: list[dict[str, Any]], gain: CurveGain) -> None:
    """Leave the mark of the chosen start in one of two reports."""
    for entry in lines if gain.is_curved else curves:
        entry["chosen"] = False


def _with_reason(fit: RefinedFit, reason: str, gain: CurveGain | None = None) -> RefinedFit:
    """Record what was decided about curves, and why."""
    numbers = {} if gain is None else {"curve_gain": gain.gain, "curve_gain_error": gain.error}
    extra = {**fit.extra, "curves_reason_": reason}
    return replace(fit, scores={**fit.scores, **numbers}, extra=extra)
