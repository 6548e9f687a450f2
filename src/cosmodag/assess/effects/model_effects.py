"""Effects of a fitted model, with intervals and bases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from cosmodag.assess.effects.adjustment import directed_paths, names_of
from cosmodag.assess.effects.class_view import ClassView
from cosmodag.assess.effects.covariance import Covariance
from cosmodag.assess.effects.effect import Effect
from cosmodag.assess.effects.possible import Possible, possible_effects
from cosmodag.assess.effects.resampled import ResampledFits
from cosmodag.assess.names import (
    check_kinds,
    compared_values,
    label_of_value,
    places_of_pair,
)
from cosmodag.assess.tables import given_table, training_table
from cosmodag.errors import DataError
from cosmodag.fit.checks import refuse_lags
from cosmodag.graph.dags import DENSE_LIMIT

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.fitted import FittedGraph
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["Effects"]


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
        """Collect what effects of a fitted learner need.

        `X` is the training data, with its interventions, for a model that was saved without it.
        Without any, effects are those of the fitted equations, with standard errors if the number
        of `rows` of the training data is given.
        """
        refuse_lags(model, "effect", "impulse_responses gives effects over time")
        dag = model.fitted_
        view = ClassView.of(dag)
        if not dag.is_linear or dag.d > DENSE_LIMIT:
            return cls(dag, view, None, resampled)
        if X is None and dag.residuals is None:
            return cls(dag, view, Covariance.of_equations(dag, rows), resampled)
        if X is None and dag.known.targets is None:
            return cls(dag, view, Covariance.of_moments(dag.moments), resampled)
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
        check_kinds(self.dag, x, y, values)
        start, end = compared_values(self.dag, x, values)
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
            start=label_of_value(self.dag, x, start),
            end=label_of_value(self.dag, x, end),
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

    def _interval(
        self,
        found: Possible,
        x: int,
        y: int,
        direct: bool,
        values: tuple[float, float],
        level: float,
    ) -> tuple[float, float, str]:
        """Give the ends of the interval over class and rows, and its source."""
        if self.resampled is not None:
            drawn = self._resampled_values(x, y, direct, values)
            ends = np.array([(min(numbers), max(numbers)) for numbers in drawn])
            outside = (1 - level) / 2
            low, high = np.quantile(ends[:, 0], outside), np.quantile(ends[:, 1], 1 - outside)
            own = [slope.value for slope in found.slopes]
            source = f"{len(ends)} fits to resamples of the rows"
            return float(min(low, *own)), float(max(high, *own)), source
        if self.covariance is None and not found.is_zero:
            return np.nan, np.nan, "give bootstrap=, which fits resamples"
        centres = np.array([slope.value for slope in found.slopes])
        errors = np.array([slope.error for slope in found.slopes])
        if np.isnan(errors).any():
            return np.nan, np.nan, "the training data is not available, or has too few rows"
        width = ndtri((1 + level) / 2) * errors
        source = "standard errors, as if the graph had been known"
        return float((centres - width).min()), float((centres + width).max()), source

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
        """List the bases of the directions of arcs on the paths, and into the cause."""
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
        from cosmodag.assess.effects.matrix import effect_matrix

        return effect_matrix(self.dag, self.view, self.covariance)
