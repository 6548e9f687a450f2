"""Refinement of tables with categories, counts or curves: variables are blocks of columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.fit.category_refining import CategorySearches
from cosmodag.fit.dag.block_equations import BlockEquations
from cosmodag.fit.input_checks import seeds_from
from cosmodag.fit.settle import isolated
from cosmodag.fit.steps import RefinedFit
from cosmodag.search import BlockProblem, FoundBlocks
from cosmodag.search.blocks import BlockScore
from cosmodag.search.counted.level_graphs import best_of_graphs
from cosmodag.search.mixed.curves import HeldOutGain, curve_gain, shape_gain
from cosmodag.search.mixed.mixed_search import best_blocks, turned_losses
from cosmodag.search.mixed.multinomial_search import turn_and_drop
from cosmodag.search.mixed.noise_shapes import NoiseShapes, turn_by_shapes
from cosmodag.search.mixed.table import BlockTable
from cosmodag.search.search_run import Run

if TYPE_CHECKING:
    from cosmodag.fit.prepare import Prepared
    from cosmodag.learners.refined import SearchedLearner
    from cosmodag.solve.watch import Watch

_REQUESTED = {True: "Curves were requested.", False: "Lines were requested."}


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A graph that was found, the scores of orders by its search, and a report of its starts."""

    table: BlockTable
    problem: BlockProblem
    found: FoundBlocks
    report: list[dict[str, Any]]
    total_of: Callable[[NDArray[np.int64]], float]


class _TableSearches:
    """Searches for graphs of one table, with common settings and random numbers."""

    def __init__(self, model: "SearchedLearner", given: "Prepared", watch: "Watch") -> None:
        watch.begin(1, f"{type(model).__name__}: refining")
        (seed,) = seeds_from(model.random_state, 1)
        self.given, self.watch = given, watch
        self.method = model.refinement_for(len(given.names))
        self.run = Run(
            np.random.default_rng(seed),
            restarts=model.most_restarts,
            should_stop=lambda: watch.stop is not None,
        )

    @cached_property
    def straight(self) -> BlockTable:
        """The table without columns for curves."""
        return self._table(curves=False)

    @cached_property
    def curved(self) -> BlockTable:
        """The table with columns for curves."""
        return self._table(curves=True)

    def _table(self, curves: bool) -> BlockTable:
        given, known = self.given, self.given.known
        share = 1.0 if known.absent is None else 1.0 - float(known.absent.mean())
        return BlockTable.of(
            given.in_own_units, given.kinds, curves=curves, counted=known.counted, share=share
        )

    def best(self, table: BlockTable, orders: Mapping[str, NDArray[Any]]) -> _Candidate:
        """Search for the best graph of effects that add up.

        If `orders` has that of the best graph of ``"lines"``, curves are fitted to it too.
        """
        assert self.method is not None
        problem = table.problem(self.given.known.constraints)
        added = BlockScore(problem)
        found, report = best_blocks(
            problem,
            orders,
            self.run,
            method=self.method,
            # Variables of one column each have a faster search, with records of its own.
            score=None if problem.are_columns else added,
        )
        if self.method == "order":
            found = self._improved(table, problem, found, added)
            if "lines" in orders:
                # With noise of other shapes than the search assumes, curves may be found on wrong
                # orders, and turning one arc after another does not lead to the right one.
                on_lines = added.found(problem.constraints.respected(orders["lines"]).tolist())
                on_lines = self._improved(table, problem, on_lines, added)
                if shape_gain(table, found.widths, on_lines.widths, self.run.random).is_certain:
                    found = on_lines
        return _Candidate(table, problem, found, report, lambda order: added.total(order.tolist()))

    def among_categories(self, orders: Mapping[str, NDArray[Any]]) -> RefinedFit:
        """Search for graphs in which levels act jointly or add up; keep one by held-out rows."""
        assert self.method is not None
        table = self.straight
        problem = table.problem(self.given.known.constraints)
        graphs = CategorySearches(table, problem, orders, self.run, self.method).graphs()
        kept, reason, (gain, error) = best_of_graphs(table, [one.as_levels for one in graphs])
        found = [
            _Candidate(table, one.problem, one.found, one.report, one.total_of) for one in graphs
        ]
        fitted = self.fit(found[kept], reason, *found[:kept], *found[kept + 1 :])
        return _with_reason(fitted, reason, HeldOutGain(gain, error))

    def _improved(
        self, table: BlockTable, problem: BlockProblem, found: FoundBlocks, score: BlockScore
    ) -> FoundBlocks:
        """Turn and drop arcs by the likelihoods of categories and the shapes of the noise."""
        found = turn_and_drop(table, problem, found, self.run.should_stop, score)
        shapes = NoiseShapes(self.curved, problem, score)
        return turn_by_shapes(shapes, found, self.run.should_stop)

    def fit(self, chosen: _Candidate, reason: str, *others: _Candidate) -> RefinedFit:
        """Fit the equations of the chosen graph; the starts of the others are reported too."""
        table, found = chosen.table, chosen.found
        equations = BlockEquations.of(table, found, self.given.preparation)
        sizes = equations.sizes(table) / self.given.preparation.factors
        sizes *= self.given.preparation.factors[:, None]
        sizes = isolated(sizes, self.given.preparation.constant)
        before = [{**entry, "chosen": False} for one in others for entry in one.report]
        return RefinedFit(
            found.order,
            sparse.csr_array(sizes),
            "gaussian",
            reason,
            [*before, *chosen.report],
            self.watch.stop if found.ended_early else None,
            {},
            equations,
            turning_losses=turned_losses(
                found, chosen.total_of, chosen.problem.constraints.precedence, self.run.should_stop
            ),
        )


def refine_blocks(
    model: "SearchedLearner",
    given: "Prepared",
    orders: Mapping[str, NDArray[Any]],
    watch: "Watch",
    *,
    curves: bool | str = "auto",
) -> RefinedFit:
    """Search for the graph of a table with categories or counts, starting from named orders.

    With `curves`, effects of numbers may be curves; ``"auto"`` compares the best graphs with and
    without curves on held-out rows.
    """
    search = _TableSearches(model, given, watch)
    table = search.curved if curves else search.straight
    if curves == "auto" and table.embedding.has_curves:
        lines = search.best(search.straight, orders)
        bent = search.best(table, {**orders, "lines": lines.found.order})
        gain = _gain_of_curves(table, lines.found.widths, bent.found.widths, search.run.random)
        chosen, other = (bent, lines) if gain.is_certain else (lines, bent)
        fitted = search.fit(replace(chosen, table=table), _with_noise(gain.reason), other)
        return _with_reason(fitted, gain.reason, gain)
    if table.embedding.are_levels:
        return search.among_categories(orders)
    added = search.best(table, orders)
    reason = "No variable can have curved effects."
    reason = reason if curves == "auto" else _REQUESTED[bool(curves)]
    return _with_reason(search.fit(added, _with_noise(reason)), reason)


def with_curves(
    model: "SearchedLearner", given: "Prepared", lines: RefinedFit | None, watch: "Watch"
) -> RefinedFit:
    """Search for the graph of a table of numbers whose effects may be curves.

    The result of `lines` is kept unless curves are better on held-out rows. If `lines` is None, the
    result has curves.
    """
    search = _TableSearches(model, given, watch)
    table = search.curved
    if lines is None:
        bent = search.best(table, {})
        return _with_reason(search.fit(bent, _with_noise(_REQUESTED[True])), _REQUESTED[True])
    bent = search.best(table, {"lines": lines.order})
    straight = (lines.weights.toarray() != 0).astype(np.int64)
    if given.known.required is not None:
        straight |= given.known.required
    compare = shape_gain if lines.noise == "non-gaussian" else _gain_of_curves
    gain = compare(table, straight, bent.found.widths, search.run.random)
    if not gain.is_certain:
        return _with_reason(lines, gain.reason, gain)
    fitted = search.fit(bent, _with_noise(gain.reason))
    before = [{**entry, "chosen": False} for entry in lines.report]
    return _with_reason(replace(fitted, report=[*before, *fitted.report]), gain.reason, gain)


def _gain_of_curves(
    table: BlockTable,
    lines: NDArray[np.int64],
    curves: NDArray[np.int64],
    random: np.random.Generator,
) -> HeldOutGain:
    """Compare lines with curves: both kinds of densities must prefer curves."""
    by_curves = curve_gain(table, lines, curves, random)
    if not by_curves.is_certain:
        return by_curves
    by_shape = shape_gain(table, lines, curves, random)
    return by_curves if by_shape.is_certain else by_shape


def _with_noise(reason: str) -> str:
    return f"Gaussian noise with one variance per variable is assumed. {reason}"


def _with_reason(fit: RefinedFit, reason: str, gain: HeldOutGain | None = None) -> RefinedFit:
    """Record the reason for or against curves, and their gain on held-out rows."""
    gains = {} if gain is None else {"curve_gain": gain.gain, "curve_gain_error": gain.error}
    extra = {**fit.extra, "curves_reason_": reason}
    return replace(fit, scores={**fit.scores, **gains}, extra=extra)
