"""Centring and scaling: what a learner does to a table before it learns, and how to undo it."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, ScaleWarning

__all__ = ["SCALES", "Preparation"]

SCALES = ("center", "standardize", "none")


@dataclass(frozen=True)
class Preparation:
    """An affine map of each column.

    Attributes
    ----------
    means, factors
        (d,) float64: a column x becomes (x − mean) / factor.
    constant
        (d,) bool: columns with a single value, which can neither cause nor be caused.
    """

    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, X: NDArray[Any], scale: str) -> "Preparation":
        """Choose the map for a table.

        Parameters
        ----------
        X : (n, d) array
        scale : {"center", "standardize", "none"}
            Subtract the mean; also divide by the standard deviation; or leave columns alone.
        """
        if scale not in SCALES:
            raise DataError(
                f"scale is {scale!r}: it must be one of {', '.join(map(repr, SCALES))}."
            )
        constant = np.ptp(X, axis=0) == 0
        d = X.shape[1]
        means = np.zeros(d) if scale == "none" else np.asarray(X.mean(axis=0, dtype=np.float64))
        factors = np.ones(d)
        if scale == "standardize":
            factors = np.where(constant, 1.0, np.std(X, axis=0, dtype=np.float64))
            warnings.warn(
                "Standardising removes the differences in variance from which a squared-error "
                "learner tells cause from effect, so arrows may point the wrong way, worse than by "
                "chance: use scale='center' if the columns share a unit.",
                ScaleWarning,
                stacklevel=4,
            )
        return cls(means, factors, constant)

    def apply(self, X: NDArray[Any]) -> NDArray[np.float32]:
        """Map a table, giving C-contiguous float32."""
        return np.ascontiguousarray((X - self.means) / self.factors, dtype=np.float32)

    def undo(self, prepared: NDArray[Any]) -> NDArray[np.float64]:
        """Map prepared values back to the units of the original table."""
        return np.asarray(prepared * self.factors + self.means, dtype=np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the map as named arrays, for saving."""
        return {"means": self.means, "factors": self.factors, "constant": self.constant}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Preparation":
        """Rebuild the map that :meth:`arrays` describes."""
        return cls(arrays["means"], arrays["factors"], arrays["constant"])
