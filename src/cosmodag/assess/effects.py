"""Effects of a fitted model: one, with everything that is known of it, or all at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from cosmodag.assess.adjustment import directed_paths, names_of, optimal_set
from cosmodag.assess.covariance import Covariance, Slope
from cosmodag.assess.effect import Effect
from cosmodag.assess.names import level_numbers, places_of_pair
from cosmodag.assess.possible import Possible, direct_effects, total_effects
from cosmodag.assess.resampled import ResampledFits
from cosmodag.assess.simulation import contrasts, direct_contrast
from cosmodag.assess.tables import given_table, training_table
from cosmodag.assess.view import ClassView
from cosmodag.errors import DataError
from cosmodag.fit.checks import refuse_lags
from cosmodag.fit.equations import LinearEquations
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.fitted import FittedGraph
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["Effects", "adjustment_set"]

MOST_REGRESSED = 1_000
"""Variables up to which all effects are regressions of their own."""


@dataclass(frozen=True, eq=False)
class Effects:
    """Everything that effects of one model are computed from.

    Attributes
    ----------
    dag
        The fit.
    view
        Its graph and its class.
    covariance
        Of the training data, or as the equations imply it; None for equations that are not linear,
        and for very many variables: rows are simulated then.
    resampled
        Fits to resamples, for intervals that hold the uncertainty of the graph; None without.
    """

    dag: "FittedDAG"
    view: ClassView
    covariance: Covariance | None
    resampled: ResampledFits | None = None

    @classmethod
    def of(
        cls,
        model: "FittedGraph",
        *,
        X: Any = None,
        interventions: Any = None,
        rows: int | None = None,
        resampled: ResampledFits | None = None,
    ) -> "Effects":
        """Collect it.

        Parameters
        ----------
        model : fitted learner
        X : table, optional
            The training data, where the model does not have it any more (it was saved without).
            Without any, effects are those of the fitted equations.
        interventions : optional
            What was set in `X`, as for ``fit``.
        rows : int, optional
            Number of rows of the training data, for standard errors without it.
        resampled : ResampledFits, optional
        """
        refuse_lags(model, "effect", "impulse_responses gives effects over time")
        dag = model.fitted_
        view = ClassView.of(dag)
        if not isinstance(dag.equations, LinearEquations) or dag.d > DENSE_LIMIT:
            return cls(dag, view, None, resampled)
        if X is None and dag.residuals is None:
            return cls(dag, view, Covariance.of_equations(dag, rows), resampled)
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
        """Answer one question; see :meth:`cosmodag.fit.fitted.FittedGraph.effect`."""
        names = self.dag.names
        x, y = places_of_pair(names, cause, effect)
        if not 0 < level < 1:
            raise DataError(f"level is {level!r}: it must be a probability between 0 and 1.")
        self._check_kinds(x, y, values)
        start, end = self._values(x, values)
        found = possible_effects(self.dag, self.view, self.covariance, x, y, direct, (start, end))
        low, high, source = self._interval(found, x, y, direct, (start, end), level)
        paths = directed_paths(self.view.dag, x, y)
        if direct:
            paths = [path for path in paths if len(path) == 2]
        numbers = sorted({slope.value for slope in found.slopes})
        return Effect(
            cause=names[x],
            effect=names[y],
            direct=direct,
            start=_label(self._kind(x), start),
            end=_label(self._kind(x), end),
            estimate=found.slopes[0].value,
            low=low,
            high=high,
            level=level,
            possible=tuple(numbers),
            identified=found.identified,
            adjustment=names_of(names, found.adjusted),
            paths=tuple(tuple(names[node] for node in path) for path in paths),
            interval_from=source,
            rests_on=self._bases(x, paths),
        )

    def _kind(self, v: int) -> ColumnKind:
        return self.dag.kinds[v] if self.dag.kinds else NOT_EXAMINED

    def _check_kinds(self, x: int, y: int, values: Any) -> None:
        """Refuse effects on categories, and effects of categories without two levels to compare."""
        cause, effect = self._kind(x), self._kind(y)
        if not effect.is_number:
            raise DataError(
                f"{self.dag.names[y]!r} is a category, which has no mean that could change: ask "
                "for the effect on a number."
            )
        if not cause.is_number and values is None:
            pair = (cause.levels[0], cause.levels[-1])
            raise DataError(
                f"{self.dag.names[x]!r} is a category: give two of its levels to compare, such as "
                f"values={pair!r} (--from {pair[0]} --to {pair[1]})."
            )

    def _values(self, x: int, values: Sequence[float | str] | None) -> tuple[float, float]:
        """Two values of the cause: by default half a unit below and above its mean.

        Of a binary column with labels, its two levels.
        """
        kind = self._kind(x)
        if values is None and len(kind.levels) == 2:
            return 0.0, 1.0
        if values is None:
            mean = float(self.dag.preparation.means[x])
            return mean - 0.5, mean + 0.5
        if kind.is_levels:
            values = level_numbers(str(self.dag.names[x]), values, kind)
        try:
            pair = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            pair = np.zeros(0)
        if pair.shape != (2,) or not np.isfinite(pair).all() or pair[0] == pair[1]:
            raise DataError(f"values is {values!r}: it must be two different finite numbers.")
        return float(pair[0]), float(pair[1])

    def _interval(
        self,
        found: Possible,
        x: int,
        y: int,
        direct: bool,
        values: tuple[float, float],
        level: float,
    ) -> tuple[float, float, str]:
        """Give the ends of the interval over class and rows, and what it rests on."""
        if self.resampled is not None:
            ends = np.array(
                [
                    (min(numbers), max(numbers))
                    for numbers in self._resampled_values(x, y, direct, values)
                ]
            )
            outside = (1 - level) / 2
            low, high = np.quantile(ends[:, 0], outside), np.quantile(ends[:, 1], 1 - outside)
            own = [slope.value for slope in found.slopes]
            source = f"{len(ends)} fits to resamples of the rows"
            return float(min(low, *own)), float(max(high, *own)), source
        if self.covariance is None and not found.is_zero:
            return np.nan, np.nan, "give bootstrap=, which fits resamples"
        widths = [stats.norm.ppf((1 + level) / 2) * slope.error for slope in found.slopes]
        low = min(slope.value - width for slope, width in zip(found.slopes, widths, strict=True))
        high = max(slope.value + width for slope, width in zip(found.slopes, widths, strict=True))
        if np.isnan(widths).any():
            return np.nan, np.nan, "the training data is not at hand, or has too few rows"
        return low, high, "standard errors, as if the graph had been known"

    def _resampled_values(
        self, x: int, y: int, direct: bool, values: tuple[float, float]
    ) -> Iterator[list[float]]:
        assert self.resampled is not None
        fits = self.resampled
        for place, (dag, view) in enumerate(zip(fits.dags, fits.views, strict=True)):
            covariance = None if self.covariance is None else fits.covariances[place]
            found = possible_effects(dag, view, covariance, x, y, direct, values)
            yield [slope.value for slope in found.slopes]

    def _bases(self, x: int, paths: list[list[int]]) -> tuple[str, ...]:
        """List what the directions of arcs on the paths, and into the cause, rest on."""
        on_paths = {arc for path in paths for arc in pairwise(path)}
        named = {
            basis
            for (u, v), basis in self._basis_of.items()
            if (u, v) in on_paths or (on_paths and v == x)
        }
        return tuple(sorted(named))

    @cached_property
    def _basis_of(self) -> dict[tuple[int, int], str]:
        edges = self.dag.edges
        ends = zip(edges.row.tolist(), edges.col.tolist(), strict=True)
        return dict(zip(ends, self.dag.arrow_basis, strict=True))

    def matrix(self) -> "pd.DataFrame":
        """Give all total effects; see :meth:`cosmodag.fit.fitted.FittedGraph.effects_`."""
        import pandas as pd

        names = self.dag.names
        is_linear = isinstance(self.dag.equations, LinearEquations)
        if is_linear and self.dag.d > MOST_REGRESSED:
            products = _products(self.dag).tocsc()
            # Column by column: pandas 3.0 takes the zeros of a whole sparse matrix for gaps.
            array: Any = pd.arrays.SparseArray
            columns = {y: array.from_spmatrix(products[:, [y]]) for y in range(self.dag.d)}
            made = pd.DataFrame(columns)
            made.index = made.columns = pd.Index(names)
            return made
        found = self._simulated() if self.covariance is None else self._regressed()
        return pd.DataFrame(found, index=names, columns=names)

    def _regressed(self) -> NDArray[np.float64]:
        d = self.dag.d
        found = np.eye(d)
        assert self.covariance is not None
        for x in range(d):
            options = self.view.options(x)
            for y in set().union(*(option.graph.descendants(x) for option in options)):
                one = total_effects(self.view, self.covariance, x, y)
                found[x, y] = one.slopes[0].value if one.identified else np.nan
        return found

    def _simulated(self) -> NDArray[np.float64]:
        rows = [contrasts(self.dag, x, self._values(x, None))[0] for x in range(self.dag.d)]
        found = np.array(rows)
        below = [self.view.dag.reached_from({x}) for x in range(self.dag.d)]
        for x, reached in enumerate(below):
            found[x, [y for y in range(self.dag.d) if y not in reached]] = 0.0
        named = np.array([not self._kind(v).is_number for v in range(self.dag.d)])
        is_path = np.array([[y in reached for y in range(self.dag.d)] for reached in below])
        found[is_path & (named[:, None] | named) & ~np.eye(self.dag.d, dtype=bool)] = np.nan
        return found


def _label(kind: ColumnKind, value: float) -> float | str:
    """Label of a level; of any other column the value itself."""
    if kind.is_levels and value in range(len(kind.levels)):
        return str(kind.levels[int(value)])
    return value


def possible_effects(
    dag: "FittedDAG",
    view: ClassView,
    covariance: Covariance | None,
    x: int,
    y: int,
    direct: bool,
    values: tuple[float, float],
) -> Possible:
    """Give the effects of a change of x, over the class for linear equations."""
    step = values[1] - values[0]
    if covariance is not None:
        find = direct_effects if direct else total_effects
        found = find(view, covariance, x, y)
        slopes = (Slope(one.value * step, one.error * abs(step)) for one in found.slopes)
        return found._replace(slopes=tuple(slopes))
    if direct:
        slope = direct_contrast(dag, x, y, values) if x in view.dag.parents[y] else Slope(0.0, 0.0)
        others = view.dag.parents[y] - {x} if x in view.dag.parents[y] else ()
        return Possible((slope,), not view.mixed.siblings[y], frozenset(others))
    if y not in view.dag.descendants(x):
        return Possible((Slope(0.0, 0.0),), not view.is_open(x, y), frozenset())
    means, errors = contrasts(dag, x, values)
    slope = Slope(float(means[y]), float(errors[y]))
    return Possible((slope,), not view.is_open(x, y), optimal_set(view.dag, x, y))


def adjustment_set(
    dag: "FittedDAG", cause: Any, effect: Any, kind: str = "optimal"
) -> tuple[Any, ...]:
    """Variables to adjust for; see :meth:`cosmodag.fit.fitted.FittedGraph.adjustment_set`."""
    from cosmodag.fit.checks import check_choice

    check_choice("kind", kind, ("optimal", "parents"))
    names = dag.names
    x, y = places_of_pair(names, cause, effect)
    view = ClassView.of(dag)
    if view.is_open(x, y):
        raise DataError(
            f"Graphs that fit equally well differ in the effect of {cause!r} on {effect!r}, so "
            "that no one set is right in all of them: knowledge of directions would decide it."
        )
    if y not in view.dag.descendants(x):
        raise DataError(f"No directed path leads from {cause!r} to {effect!r}: the effect is zero.")
    found = optimal_set(view.dag, x, y) if kind == "optimal" else view.dag.parents[x]
    return names_of(names, found)


def _products(dag: "FittedDAG") -> sparse.csr_array:
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
