"""Second moments that effects are computed from: of the data, or implied by fitted equations."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cosmodag.fit.gaussian import GaussianEquations

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.fit.known import Known
    from cosmodag.order.moments import Moments

__all__ = ["Covariance", "Slope"]

# Share of a regressor's variance that must be left by the others.
_REDUNDANT = 1e-10


@dataclass(frozen=True)
class Slope:
    """Coefficient of one regressor, with its standard error (NaN where it is not known)."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariance of all variables in rows in which nothing was set, in the table's own units.

    Attributes
    ----------
    matrix
        (d, d).
    rows
        Number of rows that it rests on; None where that is not known.
    source
        ``"data"`` or ``"equations"``.
    """

    matrix: NDArray[np.float64]
    rows: float | None
    source: str

    @classmethod
    def of_data(cls, X: NDArray[np.float64], known: "Known", arcs: Any) -> "Covariance":
        """Take the covariance of a table.

        EM accounts for missing values, which are filled in in `X`. If variables were set, each
        equation of the graph is fitted to the rows in which its variable was not, and the
        covariance that all equations imply is taken.
        """
        if known.targets is not None:
            dense = np.asarray(arcs.toarray(), np.bool_)
            found = GaussianEquations.on(dense, X, known.targets)
            rows = float(np.median((~known.targets).sum(axis=0)))
            return cls(linalg.inv(found.precision), rows, "equations")
        return cls.of_moments(known.moments(X))

    @classmethod
    def of_moments(cls, moments: "Moments") -> "Covariance":
        """Take the covariance from the moments of rows in which nothing was set."""
        scales = moments.scales[0]
        matrix = moments.correlations[0] * np.outer(moments.unit * scales, scales)
        return cls(matrix, float(moments.rows[0]), "data")

    @classmethod
    def of_equations(cls, dag: "FittedDAG", rows: int | None = None) -> "Covariance":
        """Give the covariance that linear equations imply: (I − A)⁻ᵀ D (I − A)⁻¹."""
        assert dag.noise_variances is not None
        scales = dag.preparation.scales
        weights = dag.edges.toarray() * (scales[None, :] / scales[:, None])
        totals = linalg.inv(np.eye(dag.d) - weights)
        matrix = totals.T @ (dag.noise_variances[:, None] * totals)
        return cls(matrix, None if rows is None else float(rows), "equations")

    def slope(self, x: int, y: int, given: Any) -> Slope:
        """Regress y on x and other variables, without redundant ones; give the slope of x.

        Examples
        --------
        >>> found = Covariance(np.array([[1.0, 2.0], [2.0, 5.0]]), 102, "data").slope(0, 1, [])
        >>> found.value, round(found.error, 3)
        (2.0, 0.1)
        """
        places = [x, *sorted(given)]
        scales = np.sqrt(np.diag(self.matrix))
        usable = [place for place in places if scales[place] > 0]
        if x not in usable or scales[y] == 0:
            return Slope(0.0, np.nan)
        units = scales[usable]
        gram = self.matrix[np.ix_(usable, usable)] / np.outer(units, units)
        target = self.matrix[usable, y] / units / scales[y]
        # Columns that others determine have no coefficients of their own: least norm.
        inverse = linalg.pinvh(gram, rtol=_REDUNDANT)
        coefficients = inverse @ target
        unexplained = max(1.0 - float(target @ coefficients), 0.0)
        value = float(coefficients[0] * scales[y] / scales[x])
        if self.rows is None or self.rows <= len(usable) + 1:
            return Slope(value, np.nan)
        variance = unexplained * inverse[0, 0] / (self.rows - len(usable) - 1)
        return Slope(value, float(np.sqrt(variance) * scales[y] / scales[x]))
