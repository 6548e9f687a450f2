"""Centring and scaling: what a learner does to a table before it learns, and how to undo it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCALES", "Preparation"]

SCALES = ("center", "standardize", "none")

# The unit of a table is the standard deviation that so many of its columns do not exceed. In a
# table with noise of one size, columns without causes have just that, and some tenth of the columns
# has none; the smallest of all would be at the mercy of one column that hardly varies.
_SMALL_COLUMNS = 0.1


@dataclass(frozen=True)
class Preparation:
    """An affine map of each column, and one unit for the whole table.

    Penalties and thresholds of a learner mean something relative to the size of the noise. Dividing
    the table by one common unit makes a fit the same in metres and in millimetres, and leaves a
    table whose noise has size one nearly as it is; weights of arcs are not affected.

    Attributes
    ----------
    means, factors
        (d,) float64: a column x becomes (x − mean) / factor.
    unit
        Learners see all columns divided by it.
    constant
        (d,) bool: columns with a single value, which can neither cause nor be caused.
    """

    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    unit: float
    constant: NDArray[np.bool_]

    @classmethod
    def of(
        cls, X: NDArray[Any], scale: str, rows: NDArray[np.bool_] | None = None
    ) -> "Preparation":
        """Choose the map for a table.

        Parameters
        ----------
        X : (n, d) array
        scale : {"center", "standardize", "none"}
            Subtract the mean; also divide by the standard deviation; or leave columns alone.
        rows : (n,) or (n, d) bool, optional
            Rows, or entries, to take means and deviations from, by default all. With interventions
            they are the rows in which nothing was set: about these means linear equations without
            a constant hold in all rows.
        """
        constant = np.ptp(X, axis=0) == 0
        d = X.shape[1]
        if scale == "none":
            return cls(np.zeros(d), np.ones(d), 1.0, constant)
        # Divided on the way, since a sum of huge numbers may overflow where their mean does not; by
        # a power of two, which changes no digit.
        largest = float(2.0 ** np.frexp(np.max(np.abs(X), initial=0.0))[1])
        some = np.ones((1, 1), bool) if rows is None else rows.reshape(len(X), -1)
        means = np.asarray(np.mean(X / largest, axis=0, dtype=np.float64, where=some) * largest)
        deviations = np.std(X / largest, axis=0, dtype=np.float64, where=some) * largest
        deviations = np.where(constant | (deviations == 0), 1.0, deviations)
        if scale == "center":
            varying = deviations[~constant]
            unit = 1.0
            if varying.size:
                unit = float(np.quantile(varying, _SMALL_COLUMNS, method="lower"))
            return cls(means, np.ones(d), unit, constant)
        return cls(means, deviations, 1.0, constant)

    def moved(self, by: NDArray[np.float64]) -> "Preparation":
        """Subtract more from every column: so much in prepared units."""
        return replace(self, means=self.means + by * self.scales)

    def centre(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Map a table but for the common unit, in float64."""
        return np.asarray((X - self.means) / self.factors, np.float64)

    def apply(self, X: NDArray[Any]) -> NDArray[np.float32]:
        """Map a table, giving C-contiguous float32."""
        return np.ascontiguousarray(self.centre(X) / self.unit, dtype=np.float32)

    def undo(self, prepared: NDArray[Any]) -> NDArray[np.float64]:
        """Map prepared values back to the units of the original table."""
        return np.asarray(prepared * self.scales + self.means, dtype=np.float64)

    @property
    def scales(self) -> NDArray[np.float64]:
        """(d,): what one prepared unit of each column is in the original table."""
        return self.factors * self.unit

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the map as named arrays, for saving."""
        return {
            "means": self.means,
            "factors": self.factors,
            "unit": np.array([self.unit]),
            "constant": self.constant,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Preparation":
        """Rebuild the map that :meth:`arrays` describes."""
        unit = float(arrays["unit"][0])
        return cls(arrays["means"], arrays["factors"], unit, arrays["constant"])
