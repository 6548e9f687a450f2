"""Effects in one graph, by regression on a covariance or by simulation of fitted equations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import ndtri, stdtrit

from cosmodag.assess.effects.mixed_graph import MixedGraph
from cosmodag.assess.question_inputs import values_set
from cosmodag.fit.dag.known import Known
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.gaussian import GaussianEquations
from cosmodag.fit.view.arcs import coefficient_covariance
from cosmodag.io.kind_names import ColumnKind
from cosmodag.search.moments import Moments

# Relative eigenvalue below which a combination of regressors counts as constant.
_REDUNDANT = 1e-10

DRAWS = 10_000
"""Number of simulated rows over which expectations are taken."""


@dataclass(frozen=True)
class Slope:
    """Coefficient of one regressor, with its standard error (NaN if it is not known)."""

    value: float
    error: float
    freedom: float = math.inf  # degrees of freedom of the error

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of its interval, by Student's t."""
        quantile = (1 + level) / 2
        known = math.isfinite(self.freedom)
        width = float(stdtrit(self.freedom, quantile) if known else ndtri(quantile)) * self.error
        return self.value - width, self.value + width


@dataclass(frozen=True, eq=False)
class EquationErrors:
    """Sampling errors of linear equations that were each fitted to rows of their own."""

    totals: NDArray[np.float64]  # (d, d): (I − A)⁻¹, the total effects
    noise: NDArray[np.float64]  # (d,): variances
    rows: NDArray[np.float64]  # (d,): number of rows of each equation
    # The parents (k,) of each variable that has any, and the covariance (k, k) of their weights.
    coefficients: dict[int, tuple[NDArray[np.intp], NDArray[np.float64]]]

    @classmethod
    def of(
        cls, equations: GaussianEquations, arcs: Any, X: NDArray[np.float64], known: Known
    ) -> "EquationErrors":
        """Compute the errors of equations fitted to the rows in which their variable was not set.

        Rows with a missing value in an equation say nothing about it.
        """
        assert equations.terms is not None
        noise = np.diag(equations.terms) ** -2.0
        coefficients: dict[int, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        rows = []
        for v in range(len(noise)):
            parents = np.flatnonzero(arcs[:, v])
            counted = np.ones(len(X), np.bool_) if known.targets is None else ~known.targets[:, v]
            if known.absent is not None:
                counted = counted & ~known.absent[:, [v, *parents]].any(axis=1)
            rows.append(float(counted.sum()))
            if len(parents):
                found, sizes = coefficient_covariance(X[counted][:, parents], X[counted, v])
                coefficients[v] = parents, found / np.outer(sizes, sizes)
        totals = linalg.inv(equations.terms * np.sqrt(noise))
        return cls(totals, noise, np.array(rows), coefficients)

    def of_slope(self, matrix: NDArray[np.float64], weights: Any, residual: Any) -> float:
        """Compute the standard error of a slope that the covariance of all equations gave.

        `matrix` (d, d) is that covariance, the regression of y on x and others takes `weights`
        (d,) of the covariances of y with them, and `residual` (d,) gives the residual of y. The
        derivative of the slope is weightsᵀ d(matrix) residual, to first order.
        """
        from_weights, from_residual = self.totals @ weights, self.totals @ residual
        of_weights, of_residual = matrix @ weights, matrix @ residual
        # A variance has the relative error √(2 / rows), which is not known without rows.
        parts = (self.noise * from_weights * from_residual) ** 2
        used = parts != 0
        rows = np.where(self.rows > 0, self.rows, np.nan)
        total = float(np.sum(2 / rows[used] * parts[used]))
        for v, (parents, covariance) in self.coefficients.items():
            slope = of_residual[parents] * from_weights[v] + of_weights[parents] * from_residual[v]
            if slope.any():
                total += float(slope @ covariance @ slope)
        return float(np.sqrt(total))


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariance of all variables without interventions, in the table's own units."""

    matrix: NDArray[np.float64]  # (m, m): of the columns of all variables, one each by default
    rows: float | None  # number of rows that it is estimated from; None if that is not known
    errors: EquationErrors | None = None  # if each equation has rows of its own
    # (d + 1,): variable v has the columns starts[v], …, starts[v + 1] − 1; None for one each.
    starts: NDArray[np.int64] | None = None
    # The change of the columns of the cause whose effect `slope` returns.
    change: NDArray[np.float64] | None = None

    @classmethod
    def of_data(cls, X: NDArray[np.float64], known: Known, arcs: Any) -> "Covariance":
        """Estimate the covariance of a table.

        EM accounts for missing values, which are filled in in `X`. With interventions, each
        equation of the graph is fitted to the rows in which its variable was not set, and the
        covariance is the one that all equations imply.
        """
        if known.targets is not None:
            dense = np.asarray(arcs.toarray(), np.bool_)
            found = GaussianEquations.on(dense, X, known.targets)
            errors = EquationErrors.of(found, dense, X, known)
            return cls(linalg.inv(found.precision), None, errors)
        return cls.of_moments(known.moments(X))

    @classmethod
    def of_kinds(cls, X: NDArray[np.float64], kinds: Sequence[ColumnKind]) -> "Covariance":
        """Estimate the covariance of a table with categories, as indicators of their levels.

        The first level of a category has no indicator.

        >>> X = np.column_stack([[0.0, 1, 2, 0, 1, 2], [1.0, 4, 2, 1, 6, 2]])
        >>> kinds = [ColumnKind("categorical", ("a", "b", "c")), ColumnKind("continuous")]
        >>> found = Covariance.of_kinds(X, kinds).comparing(0, (2.0, 1.0)).slope(0, 1, [])
        >>> round(found.value, 9)
        3.0
        """
        widths = [1 if kind.is_number else len(kind.levels) - 1 for kind in kinds]
        columns = np.column_stack([_columns(X[:, v], width) for v, width in enumerate(widths)])
        starts = np.concatenate([[0], np.cumsum(widths)])
        return replace(cls.of_moments(Moments.of(columns)), starts=starts)

    def comparing(self, x: int, values: tuple[float, float]) -> "Covariance":
        """Return the same covariance, whose `slope` is for a change of x between two values."""
        before, after = _columns(np.array(values), len(self._places(x)))
        return replace(self, change=after - before)

    def _places(self, v: int) -> list[int]:
        """List the columns of a variable."""
        return [v] if self.starts is None else list(range(self.starts[v], self.starts[v + 1]))

    @classmethod
    def of_moments(cls, moments: Moments) -> "Covariance":
        """Take the covariance from moments without interventions."""
        scales = moments.scales[0]
        matrix = moments.correlations[0] * np.outer(moments.unit * scales, scales)
        return cls(matrix, float(moments.rows[0]))

    @classmethod
    def of_equations(cls, dag: FittedDAG, rows: int | None = None) -> "Covariance":
        """Compute the covariance that linear equations imply: (I − A)⁻ᵀ D (I − A)⁻¹."""
        assert dag.noise_variances is not None
        scales = dag.preparation.scales
        weights = dag.edges.toarray() * (scales[None, :] / scales[:, None])
        totals = linalg.inv(np.eye(dag.d) - weights)
        matrix = totals.T @ (dag.noise_variances[:, None] * totals)
        return cls(matrix, None if rows is None else float(rows))

    def slope(self, x: int, y: int, given: Any) -> Slope:
        """Regress y on x and other variables, and return the coefficient of x, or of its change.

        >>> found = Covariance(np.array([[1.0, 2.0], [2.0, 5.0]]), 102).slope(0, 1, [])
        >>> found.value, round(found.error, 3)
        (2.0, 0.1)
        """
        (y,), cause = self._places(y), self._places(x)
        changed = np.ones(1) if self.change is None else self.change
        scales = np.sqrt(np.diag(self.matrix))
        others = [place for v in sorted(given) for place in self._places(v)]
        usable = [place for place in (*cause, *others) if scales[place] > 0]
        if (changed[scales[cause] == 0] != 0).any() or not usable or scales[y] == 0:
            return Slope(0.0, np.nan)
        units = scales[usable]
        gram = self.matrix[np.ix_(usable, usable)] / np.outer(units, units)
        target = self.matrix[usable, y] / units / scales[y]
        # Coefficients of linearly dependent columns are not unique: take those of minimum norm.
        inverse = linalg.pinvh(gram, rtol=_REDUNDANT)
        coefficients = inverse @ target
        unexplained = max(1.0 - float(target @ coefficients), 0.0)
        known = changed[scales[cause] > 0]
        combined = np.concatenate([known, np.zeros(len(usable) - len(known))]) / units
        value = float(combined @ coefficients * scales[y])
        if self.errors is not None:
            weights, residual = np.zeros((2, len(self.matrix)))
            weights[usable] = inverse @ combined / units
            residual[y] = 1.0
            residual[usable] = -coefficients * scales[y] / units
            return Slope(value, self.errors.of_slope(self.matrix, weights, residual))
        if self.rows is None or self.rows <= len(usable) + 1:
            return Slope(value, np.nan)
        freedom = self.rows - len(usable) - 1
        variance = unexplained * float(combined @ inverse @ combined) / freedom
        return Slope(value, float(np.sqrt(variance) * scales[y]), freedom)


def _columns(x: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """(n, width): values of a variable, or the indicators of its levels but the first."""
    # Levels that were divided and multiplied by the unit of a fit have rounding errors.
    levels = np.rint(x[:, None]) == np.arange(1, width + 1)
    return x[:, None] if width == 1 else levels.astype(np.float64)


def contrasts(
    dag: FittedDAG, x: int, values: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Simulate E[y | do(x = b)] − E[y | do(x = a)] for `values` (a, b) and all variables y: (d,).

    Rows are simulated twice with the same noise, drawn from the residuals of the fit. Values and
    differences are in the units of the table. The second result, (d,), has the standard errors of
    the simulation alone.
    """
    noise = dag.drawn_noise(DRAWS, np.random.default_rng(0))
    before, after = (
        dag.propagated(noise, dag.prepared_values({x: np.full(DRAWS, value)})) for value in values
    )
    changes = (after - before) * dag.preparation.scales
    return changes.mean(axis=0), changes.std(axis=0) / np.sqrt(DRAWS)


def mean_curves(
    dag: FittedDAG, x: int, grid: NDArray[np.float64], draws: int
) -> NDArray[np.float64]:
    """Simulate E[y | do(x = value)] for the values of `grid` and all variables y: (values, d).

    Rows are simulated at each value with the same noise, so that the curves are smooth.
    """
    noise = dag.drawn_noise(draws, np.random.default_rng(0))
    held = dag.prepared_values({x: np.repeat(grid, draws)})
    rows = dag.preparation.undo(dag.propagated(np.tile(noise, (len(grid), 1)), held))
    return np.asarray(rows.reshape(len(grid), draws, dag.d).mean(axis=1))


def direct_contrast(dag: FittedDAG, x: int, y: int, values: tuple[float, float]) -> Slope:
    """Mean change of y if only x changes, over rows and noise drawn from the fitted model."""
    noise = dag.drawn_noise(DRAWS, np.random.default_rng(0))
    rows, drawn = dag.propagated(noise), []
    for value in values:
        rows[:, x] = dag.prepared_values({x: np.array(value)})[x]
        y_drawn = dag.equations.respond(rows, dag.adjacency, y, noise[:, y])
        drawn.append(np.asarray(y_drawn, np.float64))
    change = (drawn[1] - drawn[0]) * dag.preparation.scales[y]
    return Slope(float(change.mean()), float(change.std() / np.sqrt(len(change))))


def predict_set(dag: FittedDAG, X: Any, do: Mapping[Any, Any]) -> NDArray[np.float64]:
    """Predict every variable of a table if some variables are set by intervention.

    Descendants of these are predicted from predicted parents, all others from their measured
    parents.
    """
    data = dag.prepared(X).copy()
    given = values_set(dag.names, do, len(data), dag.kinds)
    held = dag.prepared_values(given)
    fitted = np.array(dag.predict_prepared(data), np.float64)
    changed = MixedGraph.of(dag.arcs).reached_from(held)
    for v in dag.order.tolist():
        if v in changed:
            data[:, v] = held[v] if v in held else dag.predict_column(data, v)
            fitted[:, v] = data[:, v]
    predicted = dag.preparation.undo(fitted)
    for v, values in given.items():
        predicted[:, v] = values  # without rounding
    return predicted
