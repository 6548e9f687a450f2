"""Effects of a fitted model, with their intervals and bases."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, repeat
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.assess.effects.effect import Effect
from cosmodag.assess.effects.mixed_graph import ClassView
from cosmodag.assess.effects.possible import (
    Possible,
    directed_paths,
    possible_effects,
    total_effects,
)
from cosmodag.assess.effects.resampled import ResampledFits
from cosmodag.assess.effects.slopes import Covariance, contrasts
from cosmodag.assess.question_inputs import (
    compared_values,
    given_table,
    kind_of,
    label_of_value,
    places_of_pair,
    refuse_categories,
    training_table,
)
from cosmodag.data.kinds.embedding import COUNT
from cosmodag.errors import DataError
from cosmodag.fit.dag.block_equations import BlockEquations
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import check_level, refuse_lags
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.graph.dags import DENSE_LIMIT

GRAPH_ONLY = "for this graph only"
"""What an interval without resamples leaves out: the graph was chosen from the same rows."""

_RESAMPLE = "set bootstrap= (--bootstrap) to a number of resamples"

MOST_REGRESSED = 1_000
"""Maximum number of variables for which :meth:`Effects.matrix` has one regression per effect."""


@dataclass(frozen=True, eq=False)
class Effects:
    """Computation of the effects of one fitted model.

    Attributes
    ----------
    dag
        The fit.
    view
        Its graph and its equivalence class.
    covariance
        Covariance of the training data, or the one that the equations imply. None if effects are
        simulated: for curves and networks, very many variables, and categories without the data.
    resampled
        Fits to resamples, for intervals that include the uncertainty of the graph, or None.
    """

    dag: FittedDAG
    view: ClassView
    covariance: Covariance | None
    resampled: ResampledFits | None = None

    @classmethod
    def of(
        cls,
        model: FittedGraph,
        *,
        X: Any = None,
        interventions: Any = None,
        rows: int | None = None,
        resampled: ResampledFits | None = None,
    ) -> "Effects":
        """Prepare the effects of a fitted learner.

        `X` is the training data, with its `interventions`, for a model that was saved without it.
        If there is no training data, effects are those of the fitted equations, with standard
        errors if the number of its `rows` is given and no variable was set in any of them.
        """
        refuse_lags(model, "effect", "impulse_responses gives effects over time")
        dag = model.fitted_
        view = ClassView.of(dag)
        if _has_lines_and_levels(dag) and resampled is None:
            if X is None and dag.residuals is None:
                return cls(dag, view, None)
            given = training_table(model) if X is None else given_table(model, X, interventions)
            return cls(dag, view, Covariance.of_kinds(given.in_own_units, dag.kinds))
        if not dag.is_linear or dag.d > DENSE_LIMIT:
            if X is not None and resampled is None:
                raise DataError(
                    "Effects of networks, curves, counts and very many variables are simulated "
                    "from the fitted equations, without a table: leave X out (--data), or ask for "
                    "an interval (bootstrap=, --bootstrap)."
                )
            return cls(dag, view, None, resampled)
        if X is not None and interventions is None and dag.regimes is not None:
            raise DataError(
                "The graph was learnt with regimes, whose equations differ: give the targets of "
                "each row as interventions (--interventions), or leave X out (--data)."
            )
        if X is None and dag.residuals is None:
            rows = rows if dag.target_sets is None else None
            return cls(dag, view, Covariance.of_equations(dag, rows), resampled)
        if X is None and dag.known.targets is None:
            return cls(dag, view, Covariance.of_moments(dag.moments), resampled)
        if X is not None:
            dag.ask_for_targets(interventions)
        given = training_table(model) if X is None else given_table(model, X, interventions)
        values = given.X * given.preparation.factors
        return cls(dag, view, Covariance.of_data(values, given.known, dag.arcs), resampled)

    def effect(
        self,
        cause: Any,
        effect: Any,
        *,
        direct: bool = False,
        values: Sequence[float | str] | None = None,
        level: float = 0.95,
    ) -> Effect:
        """Compute one effect; see :meth:`cosmodag.fit.view.fitted.FittedGraph.effect`."""
        names = self.dag.names
        x, y = places_of_pair(names, cause, effect)
        check_level(level)
        refuse_categories(self.dag, x, y, values)
        start, end = compared_values(self.dag, x, values)
        found = possible_effects(self.dag, self.view, self.covariance, x, y, direct, (start, end))
        paths = directed_paths(self.view.dag, x, y)
        if direct:
            paths = [path for path in paths if len(path) == 2]
        low, high, source = self._interval(found, x, y, direct, (start, end), level)
        rests_on, grade, against = self._rests_on(found, x, y, paths)
        numbers = sorted({slope.value for slope in found.slopes})
        return Effect(
            cause=names[x],
            effect=names[y],
            direct=direct,
            start=label_of_value(self.dag, x, start),
            end=label_of_value(self.dag, x, end),
            estimate=found.slopes[0].value,
            low=low,
            high=high,
            level=level,
            possible=tuple(numbers),
            identified=found.identified,
            adjustment=tuple(names[place] for place in sorted(found.adjusted)),
            paths=tuple(tuple(names[node] for node in path) for path in paths),
            interval_from=source,
            rests_on=rests_on,
            grade=grade,
            against=tuple((names[u], names[v]) for u, v in against),
        )

    def _interval(
        self,
        found: Possible,
        x: int,
        y: int,
        direct: bool,
        values: tuple[float, float],
        level: float,
    ) -> tuple[float, float, str]:
        """Return the ends of the interval over the class and the rows, and its source."""
        if self.resampled is not None:
            fits = self.resampled
            covariances = repeat(None) if self.covariance is None else fits.covariances
            drawn = [
                possible_effects(dag, view, covariance, x, y, direct, values).ends
                for dag, view, covariance in zip(fits.dags, fits.views, covariances, strict=False)
            ]
            lows, highs = np.array(drawn).T
            outside, (least, most) = (1 - level) / 2, found.ends
            low = min(float(np.quantile(lows, outside)), least)
            high = max(float(np.quantile(highs, 1 - outside)), most)
            if found.is_zero and found.identified:
                near = self._near_zero(x, y, direct, values, level)
                if near is not None:
                    return min(low, near[0]), max(high, near[1]), fits.source
                if low == high == 0.0:
                    return np.nan, np.nan, "all resamples exclude an effect"
            return low, high, fits.source
        if self.covariance is None and not (found.is_zero and found.identified):
            return np.nan, np.nan, _RESAMPLE
        if found.is_zero and found.identified and not self.dag.is_stated:
            near = self._near_zero(x, y, direct, values, level)
            if near is not None:
                return *near, f"standard errors, {GRAPH_ONLY}"
            alone = "that there is no effect follows from directions alone"
            return np.nan, np.nan, _RESAMPLE if self.covariance is None else alone
        if any(np.isnan(slope.error) for slope in found.slopes):
            reason = "the training data is not available, has too few rows, or does not vary"
            return np.nan, np.nan, reason
        lows, highs = zip(*(slope.ends(level) for slope in found.slopes), strict=True)
        known = "the graph is given" if self.dag.is_stated else GRAPH_ONLY
        return min(lows), max(highs), f"standard errors, {known}"

    def _near_zero(
        self, x: int, y: int, direct: bool, values: tuple[float, float], level: float
    ) -> tuple[float, float] | None:
        """Interval of an effect that the graph excludes, over parents in graphs nearby.

        With the right parents of x, the coefficient of x in a regression of y on x and these
        estimates zero; for a direct effect, the parents are those of y. Graphs in which directions
        that are not determined are turned give other parents. The result is None if y is certainly
        a cause of x, or effects are simulated.
        """
        if self.covariance is None:
            return None
        covariance = self.covariance.comparing(x, values)
        child, other = (y, x) if direct else (x, y)
        certain, perhaps = self.dag.assertions.parents(child)
        if other in certain or (direct and child in self.dag.assertions.parents(other)[0]):
            return None
        own = frozenset(self.view.dag.parents[child])
        sets = {own - {other}, certain, *(own ^ {one} for one in perhaps)}
        slopes = [covariance.slope(x, y, one - {other}) for one in sets]
        ends = [slope.ends(level) for slope in slopes if not np.isnan(slope.error)]
        if not ends:
            return None
        lows, highs = zip(*ends, strict=True)
        return min(*lows, 0.0), max(*highs, 0.0)

    def _rests_on(
        self, found: Possible, x: int, y: int, paths: list[list[int]]
    ) -> tuple[tuple[str, ...], str, tuple[tuple[int, int], ...]]:
        """Return the bases of the directions that an effect rests on, their grade, arcs against.

        These are the directions of arcs on the paths and into the cause.
        """
        assertions = self.dag.assertions
        if found.is_zero and found.identified and not paths:
            absence = assertions.absence(x, y)
            return absence.bases, absence.grade, absence.against
        on_paths = {arc for path in paths for arc in pairwise(path)}
        into = {(u, x) for u in self.view.dag.parents[x]} if on_paths else set()
        return *assertions.rests_on(on_paths | into), ()

    def matrix(self) -> pd.DataFrame:
        """Compute all total effects; see :meth:`cosmodag.fit.view.fitted.FittedGraph.effects_`."""
        dag, names = self.dag, self.dag.names
        if dag.is_linear and dag.d > MOST_REGRESSED:
            products = _sums_over_paths(dag).tocsc()
            # Column by column: pandas 3.0 takes the zeros of a whole sparse matrix for gaps.
            array: Any = pd.arrays.SparseArray
            made = pd.DataFrame({y: array.from_spmatrix(products[:, [y]]) for y in range(dag.d)})
            made.index = made.columns = pd.Index(names)
            return made
        if self.covariance is None or not dag.is_linear:
            found = _simulated_effects(dag, self.view)
        else:
            found = _regression_effects(self.view, self.covariance)
        return pd.DataFrame(found, index=names, columns=names)


def _has_lines_and_levels(dag: FittedDAG) -> bool:
    """Whether regressions on numbers and indicators of levels give the effects of a fit.

    Counts act on a scale of their own, and entries that were set or missing have own rows.
    """
    equations = dag.equations
    return (
        isinstance(equations, BlockEquations)
        and not equations.is_curved
        and not equations.joint.any()
        and not (equations.embedding.forms == COUNT).any()
        and dag.target_sets is None
        and dag.known.absent is None
        and dag.d <= DENSE_LIMIT
    )


def _regression_effects(view: ClassView, covariance: Covariance) -> NDArray[np.float64]:
    found = np.eye(len(view.dag.parents))
    for x in range(len(found)):
        options = view.options(x)
        for y in set().union(*(option.graph.descendants(x) for option in options)):
            one = total_effects(view, covariance, x, y)
            found[x, y] = one.slopes[0].value if one.identified else np.nan
    return found


def _simulated_effects(dag: FittedDAG, view: ClassView) -> NDArray[np.float64]:
    found = np.array([contrasts(dag, x, compared_values(dag, x, None))[0] for x in range(dag.d)])
    causes = view.dag.causes()
    is_category = np.array([not kind_of(dag, v).is_number for v in range(dag.d)])
    found[~causes & ~np.eye(dag.d, dtype=bool)] = 0.0
    found[causes & (is_category[:, None] | is_category)] = np.nan
    for x, y in permutations(range(dag.d), 2):
        if view.is_open(x, y):
            found[x, y] = np.nan
    return found


def _sums_over_paths(dag: FittedDAG) -> sparse.csr_array:
    """Sum the products of weights over all directed paths, for very many variables."""
    scales = dag.preparation.scales
    edges = dag.edges
    weights = edges.data * scales[edges.col] / scales[edges.row]
    step = sparse.csr_array((weights, (edges.row, edges.col)), shape=edges.shape)
    totals = term = sparse.eye_array(dag.d, format="csr")
    while term.nnz:
        term = sparse.csr_array(term @ step)
        totals = totals + term
    return sparse.csr_array(totals)
