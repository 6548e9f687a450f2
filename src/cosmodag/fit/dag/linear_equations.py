"""Fitted equations: predictions of variables from their parents in a graph."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# JAX takes most of a second to import, and linear equations need none of it.
if TYPE_CHECKING:
    from cosmodag.model.mechanism import FittedMechanism, Mechanism

_CONSTANTS = "mechanism.constants"


class FittedEquations(ABC):
    """Equations of all variables, in prepared units.

    Methods take ``adjacency`` (d, d), the weights of the arcs: nonzero entries of column v are the
    parents of v. By default a variable is its prediction plus Gaussian noise; subclasses define the
    prediction, and may define other noise.
    """

    has_constants = False
    """Whether the equations have constants, so that they hold about any means of the columns."""

    form = "a fitted function"
    """Form of the equations, as in "each variable is *a fitted function* of its causes"."""

    @property
    def is_curved(self) -> bool:
        """Whether some arc between numbers is a curve."""
        return False

    @abstractmethod
    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents."""

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict variable v."""
        column: NDArray[Any] = self.predict(data, adjacency)[:, v]
        return column

    def arc_parameters(self, edges: sparse.coo_array) -> NDArray[np.int64]:
        """(d,): number of parameters of the arcs into each variable; by default one per arc."""
        return np.bincount(edges.col, minlength=edges.shape[1])

    def on_arcs(
        self, X: NDArray[np.float64], arcs: NDArray[np.bool_], counted: NDArray[np.float64] | None
    ) -> "FittedEquations":
        """Return the equations for fewer arcs (d, d), fitted again if that needs no training.

        `X` is (n, d), in the units of the table; `counted` (n, d) has the weights of its entries.
        """
        return self

    def settled(self, unexplained: NDArray[np.float64]) -> "FittedEquations":
        """Return equations whose constants absorb the mean residuals, `unexplained` (d,)."""
        return self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as named arrays, for saving."""
        return {}

    def facts(self) -> dict[str, Any]:
        """Return plain values that, with the arrays, determine the equations, for saving."""
        return {}

    def noise_of(self, data: NDArray[Any], adjacency: Any, residuals: NDArray[Any]) -> NDArray[Any]:
        """(n, d): noise from which `respond` computes the data; `residuals` by default."""
        return residuals

    def respond(
        self, data: NDArray[Any], adjacency: Any, v: int, noise: NDArray[Any]
    ) -> NDArray[Any]:
        """Compute variable v from its parents and its noise."""
        return np.asarray(self.predict_column(data, adjacency, v) + noise)

    def redrawn(
        self, noise: NDArray[np.float64], random: np.random.Generator
    ) -> NDArray[np.float64]:
        """Replace drawn noise by new draws for variables whose noise has a known distribution."""
        return noise

    def own_log_likelihoods(
        self, data: NDArray[Any], adjacency: Any, v: int
    ) -> NDArray[np.float64] | None:
        """Log-likelihoods (n,) of variable v, in the table's own units; None if Gaussian."""
        return None

    def may_direct(self, tails: NDArray[Any], heads: NDArray[Any]) -> NDArray[np.bool_]:
        """(m,): whether the form of the equations may determine the direction of each arc."""
        return np.zeros(len(tails), np.bool_)


@dataclass(frozen=True)
class LinearEquations(FittedEquations):
    """x̂ = x A, where A are the weights of the arcs; there are no other parameters."""

    form = "a linear function"

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents."""
        fitted: NDArray[Any] = data @ adjacency
        return fitted

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict variable v."""
        column = adjacency[:, [v]]
        weights = np.asarray(column.toarray() if sparse.issparse(column) else column)[:, 0]
        parents = np.flatnonzero(weights)
        fitted: NDArray[Any] = data[:, parents] @ weights[parents]
        return fitted


@dataclass(frozen=True, eq=False)
class FunctionEquations(FittedEquations):
    """Equations of a mechanism that is not linear, plus a constant for each variable.

    Inputs without an arc are set to zero.
    """

    functions: "FittedMechanism"
    constants: NDArray[np.float64]  # (d,)

    has_constants = True

    @classmethod
    def from_arrays(
        cls, mechanism: "Mechanism", arrays: dict[str, NDArray[Any]], d: int
    ) -> "FunctionEquations":
        """Rebuild equations from their :meth:`arrays`; constants are zero if there are none."""
        from cosmodag.model.mechanism import FittedMechanism

        constants = arrays.get(_CONSTANTS, np.zeros(d))
        if constants.shape != (d,) or not np.isfinite(constants).all():
            raise ValueError(f"{_CONSTANTS!r} is not finite, or is not of shape {(d,)}")
        return cls(FittedMechanism.from_arrays(mechanism, arrays, d), constants)

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents."""
        return np.array(self.functions.predict(data, adjacency != 0) + self.constants)

    def arc_parameters(self, edges: sparse.coo_array) -> NDArray[np.int64]:
        """(d,): number of weights of the arcs into each variable."""
        weights: int = math.prod(self.functions.weights.shape[2:])
        return weights * super().arc_parameters(edges)

    def settled(self, unexplained: NDArray[np.float64]) -> "FunctionEquations":
        """Return equations whose constants absorb the mean residuals."""
        return replace(self, constants=self.constants + unexplained)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as named arrays, for saving."""
        return {**self.functions.arrays(), _CONSTANTS: self.constants}
