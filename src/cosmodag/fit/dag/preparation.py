"""Centring and scaling of the columns of a table, and the inverse."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The unit of a table is this quantile of the standard deviations of its columns. In a table with
# equal noise variances, columns without causes have the deviation of the noise, and about a tenth
# of the columns has no causes; the minimum would depend on a single column.
_SMALL_COLUMNS = 0.1


@dataclass(frozen=True)
class Preparation:
    """An affine map of each column, and one unit for the whole table.

    Penalties and thresholds of a learner are relative to the size of the noise. Division by a
    common unit makes the fit of a table the same in metres and in millimetres, and hardly changes a
    table whose noise has size one. It does not change the weights of arcs.

    Columns of unordered levels are not centred.
    """

    # (d,): a column x becomes (x − mean) / factor.
    means: Floats
    factors: Floats
    unit: float  # learners see all columns divided by it
    # (d,): columns with a single value, which can neither cause nor be caused.
    constant: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        X: NDArray[Any],
        scale: str,
        rows: NDArray[np.bool_] | None = None,
        labels: NDArray[np.bool_] | None = None,
    ) -> "Preparation":
        """Choose the map for a table.

        `scale` says whether to subtract the mean, and divide the table by its common unit; only
        subtract the mean; divide by the standard deviation, too; or change nothing. Means and
        deviations are computed over `rows`, (n,) or entries (n, d), by default over all. With
        interventions these are the rows in which nothing was set: about their means, linear
        equations without a constant hold in all rows. `labels` (d,) marks columns of unordered
        levels: they get mean zero and deviation one, and the unit of the table does not depend on
        them.
        """
        constant = np.ptp(X, axis=0) == 0
        d = X.shape[1]
        if scale == "none":
            return cls(np.zeros(d), np.ones(d), 1.0, constant)
        # The table is divided before it is averaged, since a sum of huge numbers may overflow
        # although their mean does not. Division by a power of two changes no digit.
        largest = float(2.0 ** np.frexp(np.max(np.abs(X), initial=0.0))[1])
        some = np.ones((1, 1), bool) if rows is None else rows.reshape(len(X), -1)
        means = np.asarray(np.mean(X / largest, axis=0, dtype=np.float64, where=some) * largest)
        means = np.where(constant, X[0], means)  # the mean of equal numbers has rounding errors
        deviations = np.std(X / largest, axis=0, dtype=np.float64, where=some) * largest
        deviations = np.where(constant | (deviations == 0), 1.0, deviations)
        named = np.zeros(d, np.bool_) if labels is None else labels
        means, deviations = np.where(named, 0.0, means), np.where(named, 1.0, deviations)
        if scale == "mean":
            return cls(means, np.ones(d), 1.0, constant)
        if scale == "center":
            varying = deviations[~constant & ~named]
            unit = 1.0
            if varying.size:
                unit = float(np.quantile(varying, _SMALL_COLUMNS, method="lower"))
            return cls(means, np.ones(d), unit, constant)
        return cls(means, deviations, 1.0, constant)

    def moved(self, by: Floats) -> "Preparation":
        """Shift the means of all columns, by (d,) in prepared units."""
        return replace(self, means=self.means + by * self.scales)

    def centre(self, X: NDArray[Any]) -> Floats:
        """Centre and scale the columns of a table in float64, without the common unit."""
        return np.asarray((X - self.means) / self.factors, np.float64)

    def apply(self, X: NDArray[Any]) -> NDArray[np.float32]:
        """Centre and scale a table and divide it by the common unit: C-contiguous float32."""
        return np.ascontiguousarray(self.centre(X) / self.unit, dtype=np.float32)

    def undo(self, prepared: NDArray[Any]) -> Floats:
        """Map prepared values back to the units of the original table."""
        return np.asarray(prepared * self.scales + self.means, dtype=np.float64)

    @property
    def scales(self) -> Floats:
        """(d,): size of one prepared unit of each column in the original table."""
        return self.factors * self.unit

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the map as named arrays, for saving."""
        return {
            "means": self.means,
            "factors": self.factors,
            "unit": np.array([self.unit]),
            "constant": self.constant,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Preparation":
        """Rebuild a map from its :meth:`arrays`."""
        unit = float(arrays["unit"][0])
        return cls(arrays["means"], arrays["factors"], unit, arrays["constant"])


def deviations_of(data: NDArray[Any], counted: Floats | None) -> Floats:
    """Compute the standard deviation of each column, over its `counted` entries (n, d)."""
    if counted is None:
        return np.asarray(data.std(axis=0, dtype=np.float64))
    means = np.average(data, axis=0, weights=counted)
    return np.asarray(np.sqrt(np.average((data - means) ** 2, axis=0, weights=counted)))
