"""Columns as networks see them when they are trained by likelihood, and back."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.fit.prepare import Prepared
from cosmodag.learners.networks.equations import (
    MixedNetworkEquations,
    NetworkEquations,
    levels_in,
    network_columns,
)
from cosmodag.model.mechanism import MLP, Mechanism, MixedMLP
from cosmodag.model.objective import Loss, MixedLikelihood, mean_squared_error

__all__ = ["SeenColumns", "columns_of", "has_heads", "seen_columns"]

_OWN_HEADS = ("binary", "categorical", "count")


class SeenColumns(ABC):
    """A table as networks see it; here numbers, one input and one output for each."""

    embedding: Embedding | None = None
    """Kinds of the variables; None if all are numbers."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each variable, 0 for numbers; empty if all are numbers."""
        return ()

    def mechanism(self, hidden: tuple[int, ...], activation: str) -> Mechanism:
        """Networks of these columns."""
        return MLP(hidden, activation)

    @property
    def refit_loss(self) -> Loss:
        """Loss of networks whose parents are fixed, so that variances of noise do not matter."""
        return mean_squared_error

    def table(self, given: Prepared) -> NDArray[np.float64]:
        """(n, d): the table from which evidence chooses arcs."""
        return given.X

    @abstractmethod
    def data(self, given: Prepared) -> NDArray[np.float32]:
        """(n, d): the columns of a prepared table."""

    @abstractmethod
    def restored(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Equations in prepared units, from networks of these columns."""

    @abstractmethod
    def seen(self, equations: NetworkEquations) -> NetworkEquations:
        """Networks of these columns, from equations in prepared units."""


def has_heads(given: Prepared) -> bool:
    """Whether a table has categories or counts, whose likelihoods are their own."""
    return any(kind.kind in _OWN_HEADS for kind in given.kinds)


def seen_columns(given: Prepared) -> SeenColumns:
    """Choose how networks see a table that they are trained on by likelihood."""
    if has_heads(given):
        return MixedColumns(Embedding.of(in_own_units(given), given.kinds, columns=1))
    return NumberColumns(_units_of(given))


def columns_of(equations: NetworkEquations, given: Prepared, in_units: bool) -> SeenColumns:
    """Columns that fitted networks were trained on; in the table's units or not."""
    if isinstance(equations, MixedNetworkEquations):
        return MixedColumns(equations.embedding)
    if in_units:
        return PreparedColumns(np.ones(given.data.shape[1]))
    return NumberColumns(_units_of(given))


@dataclass(frozen=True, eq=False)
class NumberColumns(SeenColumns):
    """Numbers, divided by their standard deviations.

    Starts and penalties of networks would depend on units otherwise.
    """

    units: NDArray[np.float64]

    def data(self, given: Prepared) -> NDArray[np.float32]:
        """Columns of variance one."""
        own = self.units * given.preparation.unit
        return np.ascontiguousarray(given.X / own, dtype=np.float32)

    def restored(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Networks of columns in prepared units."""
        return networks.in_units(self.units)

    def seen(self, equations: NetworkEquations) -> NetworkEquations:
        """Networks of standardised columns."""
        return equations.in_units(1 / self.units)


class PreparedColumns(NumberColumns):
    """Numbers in the table's common unit, as the squared error needs them."""

    def data(self, given: Prepared) -> NDArray[np.float32]:
        """Columns as they are prepared."""
        return given.data


@dataclass(frozen=True, eq=False)
class MixedColumns(SeenColumns):
    """Standardised numbers, standardised log(1 + x) of counts, and numbers of levels."""

    embedding: Embedding

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return levels_in(self.embedding)

    def mechanism(self, hidden: tuple[int, ...], activation: str) -> Mechanism:
        """Blocks of inputs, and heads by kind."""
        return MixedMLP(hidden, activation, "norm", self.levels)

    @property
    def refit_loss(self) -> Loss:
        """Likelihood, each variable by its own head."""
        return MixedLikelihood(self.levels)

    def table(self, given: Prepared) -> NDArray[np.float64]:
        """(n, d): the table in its own units."""
        return in_own_units(given)

    def data(self, given: Prepared) -> NDArray[np.float32]:
        """Columns as networks see them."""
        columns = network_columns(self.embedding, in_own_units(given))
        return np.ascontiguousarray(columns, dtype=np.float32)

    def restored(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Networks with what the kinds of variables need to predict and draw."""
        X = in_own_units(given)
        numbers: dict[str, Any] = {
            "variances": np.ones(X.shape[1]),
            "means": given.preparation.means,
            "scales": given.preparation.scales,
            "typical": _typical(self.embedding, X),
        }
        equations = MixedNetworkEquations.of_networks(networks, self.embedding, numbers)
        return equations.with_variances(network_columns(self.embedding, X), given.known.counted)

    def seen(self, equations: NetworkEquations) -> NetworkEquations:
        """Return the same networks: they see these columns in any case."""
        return equations


def in_own_units(given: Prepared) -> NDArray[np.float64]:
    """(n, d): the table in its own units; categories as numbers of levels."""
    return np.asarray(given.X * given.preparation.factors + given.preparation.means)


def _typical(embedding: Embedding, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of numbers and counts, and the most frequent levels."""
    found = np.asarray(X.mean(axis=0), np.float64)
    for v in range(X.shape[1]):
        if embedding.is_levels(v):
            counts = np.bincount(embedding.levels_of(X[:, v], v))
            found[v] = embedding.value_of(np.array([counts.argmax()]), v)[0]
    return found


def _units_of(given: Prepared) -> NDArray[np.float64]:
    """(d,): standard deviations of the columns, in prepared units; 1 where a column is constant."""
    # Of the table in its own units: multiplying a column by a power of two changes no other digit.
    if given.known.counted is None:
        deviations = given.X.std(axis=0)
    else:
        weights = given.known.counted
        means = np.average(given.X, axis=0, weights=weights)
        deviations = np.sqrt(np.average((given.X - means) ** 2, axis=0, weights=weights))
    return np.where(deviations > 0, deviations, given.preparation.unit) / given.preparation.unit
