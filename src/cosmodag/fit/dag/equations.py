"""Fitted equations: how each variable is predicted from its parents in a graph."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# JAX takes most of a second to import, and linear equations need none of it.
if TYPE_CHECKING:
    from cosmodag.model.mechanism import FittedMechanism


class FittedEquations(ABC):
    """Equations of all variables, in prepared units.

    ``adjacency`` is (d, d), the weights of arcs; an equation reads the parents there. Here a
    variable is its prediction plus Gaussian noise; subclasses define the prediction, and may define
    other noise.
    """

    has_constants = False
    """Whether the equations have constants of their own, and hold about any means."""

    form = "a fitted function"
    """Kind of function that a variable is of its causes, in words."""

    @property
    def is_curved(self) -> bool:
        """Whether some arc between numbers is a curve."""
        return False

    @abstractmethod
    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents."""

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict one variable."""
        column: NDArray[Any] = self.predict(data, adjacency)[:, v]
        return column

    def settled(self, unexplained: NDArray[np.float64]) -> "FittedEquations":
        """Equations whose constants also explain the mean residuals, `unexplained` (d,)."""
        return self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters as named arrays, for saving."""
        return {}

    def facts(self) -> dict[str, Any]:
        """Plain values that, with the arrays, determine the equations, for saving."""
        return {}

    def noise_of(self, data: NDArray[Any], adjacency: Any, residuals: NDArray[Any]) -> NDArray[Any]:
        """(n, d): noise that `respond` turns into the data, given data less predictions."""
        return residuals

    def respond(
        self, data: NDArray[Any], adjacency: Any, v: int, noise: NDArray[Any]
    ) -> NDArray[Any]:
        """Values of one variable, given its parents and its noise."""
        return np.asarray(self.predict_column(data, adjacency, v) + noise)

    def redrawn(
        self, noise: NDArray[np.float64], random: np.random.Generator
    ) -> NDArray[np.float64]:
        """Replace drawn residuals for variables whose noise has a known distribution."""
        return noise

    def own_log_likelihoods(
        self, data: NDArray[Any], adjacency: Any, v: int
    ) -> NDArray[np.float64] | None:
        """Log-likelihood of one variable, in the table's own units; None if it is Gaussian."""
        return None

    def may_direct(self, tails: NDArray[Any], heads: NDArray[Any]) -> NDArray[np.bool_]:
        """(m,): whether the form of the equations may decide the direction of each arc."""
        return np.zeros(len(tails), np.bool_)


@dataclass(frozen=True)
class LinearEquations(FittedEquations):
    """x̂ = x A, where A holds the weights of arcs; there are no other parameters."""

    form = "a linear function"

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents."""
        fitted: NDArray[Any] = data @ adjacency
        return fitted

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict one variable."""
        weights = _column(adjacency, v)
        parents = np.flatnonzero(weights)
        fitted: NDArray[Any] = data[:, parents] @ weights[parents]
        return fitted


@dataclass(frozen=True, eq=False)
class FunctionEquations(FittedEquations):
    """Equations of a mechanism that is not linear; arcs outside of the graph are set to zero."""

    functions: "FittedMechanism"

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents."""
        return np.array(self.functions.predict(data, adjacency != 0))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters as named arrays, for saving."""
        return self.functions.arrays()


def _column(weights: Any, v: int) -> NDArray[Any]:
    """Take one column, as a dense vector, of a matrix that may be sparse."""
    taken = weights[:, [v]]
    return np.asarray(taken.toarray() if sparse.issparse(taken) else taken)[:, 0]
