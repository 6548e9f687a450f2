"""Fitted networks: one multilayer perceptron per variable, restricted to its parents in a graph."""

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.fit.dag.by_kind import EquationsByKind
from cosmodag.fit.dag.linear_equations import FittedEquations
from cosmodag.model.networks import ACTIVATIONS, ARC_STRENGTHS, InputBlocks, block_outputs, forward

Floats = NDArray[np.float64]

# Names of the saved arrays: those of all networks, and those of tables with categories or counts.
_ARRAYS = ("first_weights", "first_biases", "inner_layers", "output_weights", "output_biases")
_NUMBERS = ("variances", "means", "scales", "typical")

# Limit on the hidden units of one block of rows in a prediction: 128 MB.
_MAX_UNITS = 2**24


@dataclass(frozen=True, eq=False)
class NetworkEquations(FittedEquations):
    """One perceptron per variable; predictions only use the first-layer weights of arcs."""

    first_weights: NDArray[Any]  # (d, d, h): from each variable to the first layer of each network
    first_biases: NDArray[Any]  # (d, h)
    # Weights (d, in, out) and biases (d, out) of further hidden layers, concatenated.
    inner_layers: NDArray[Any]
    output_weights: NDArray[Any]  # (d, h)
    output_biases: NDArray[Any]  # (d,)
    hidden: tuple[int, ...]  # sizes of the hidden layers
    activation: str

    has_constants = True

    @classmethod
    def of(
        cls, first_weights: ArrayLike, functions: Any, hidden: tuple[int, ...], activation: str
    ) -> "NetworkEquations":
        """Collect the parameters of trained networks."""
        inner = [
            np.ravel(layer[kind]) for layer in functions["hidden"] for kind in ("weights", "biases")
        ]
        return cls(
            np.asarray(first_weights),
            np.asarray(functions["biases"]),
            np.concatenate([np.empty(0, np.float32), *inner]),
            np.asarray(functions["output"]["weights"]),
            np.asarray(functions["output"]["biases"]),
            tuple(hidden),
            activation,
        )

    def strengths(self, name: str) -> Floats:
        """(d, d): strength of each arc, the ``"norm"`` or ``"sum"`` of its first-layer weights."""
        return np.asarray(ARC_STRENGTHS[name](self.first_weights.astype(np.float64)))

    def in_units(self, units: Floats) -> "NetworkEquations":
        """Turn networks of the columns x / units into networks of the columns x; units are (d,)."""
        return replace(
            self,
            first_weights=(self.first_weights / units[:, None, None]).astype(np.float32),
            output_weights=(self.output_weights * units[:, None]).astype(np.float32),
            output_biases=(self.output_biases * units).astype(np.float32),
        )

    def usual_values(self, data: NDArray[Any]) -> Floats:
        """(d,): values that variables have while another one is varied, in prepared units."""
        return np.asarray(data.mean(axis=0, dtype=np.float64))

    def functions(self, some: slice = slice(None)) -> dict[str, Any]:
        """Parameters of some of the networks, without their first-layer weights."""
        return {
            "biases": self.first_biases[some],
            "hidden": tuple(
                {kind: values[some] for kind, values in layer.items()}
                for layer in self._hidden_layers()
            ),
            "output": {"weights": self.output_weights[some], "biases": self.output_biases[some]},
        }

    def _hidden_layers(self) -> list[dict[str, NDArray[Any]]]:
        """Split `inner_layers` into weights (d, in, out) and biases (d, out)."""
        d, rest, layers = len(self.first_weights), self.inner_layers, []
        for before, after in pairwise(self.hidden):
            weights, biases, rest = np.split(rest, np.cumsum([d * before * after, d * after]))
            layers.append(
                {"weights": weights.reshape(d, before, after), "biases": biases.reshape(d, after)}
            )
        return layers

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents, in blocks of rows."""
        weights = np.where(adjacency[..., None] != 0, self.first_weights, 0)
        functions, activation = self.functions(), ACTIVATIONS[self.activation][1]
        step = max(1, _MAX_UNITS // weights[0].size)
        blocks = [
            forward(data[start : start + step], weights, functions, activation)
            for start in range(0, len(data), step)
        ]
        return np.concatenate(blocks) if blocks else np.empty(data.shape)

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict one variable from its parents."""
        parents = np.flatnonzero(adjacency[:, v])
        weights = self.first_weights[parents, v][:, None]
        functions, activation = self.functions(slice(v, v + 1)), ACTIVATIONS[self.activation][1]
        column: NDArray[Any] = forward(data[:, parents], weights, functions, activation)[:, 0]
        return column

    def arc_parameters(self, edges: sparse.coo_array) -> NDArray[np.int64]:
        """(d,): number of units in the first hidden layer, for each arc into a variable."""
        return self.hidden[0] * super().arc_parameters(edges)

    def settled(self, unexplained: Floats) -> "NetworkEquations":
        """Set the output biases so that residuals have mean zero."""
        biases = self.output_biases + unexplained.astype(np.float32)
        return replace(self, output_biases=biases)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters of the networks as named arrays, for saving."""
        return {f"{name}_": getattr(self, name) for name in _ARRAYS}

    def facts(self) -> dict[str, Any]:
        """Sizes and activation of the hidden layers, for saving."""
        return {"hidden": list(self.hidden), "activation": self.activation}


def levels_in(embedding: Embedding) -> tuple[int, ...]:
    """Return the number of levels of each variable, 0 for numbers and counts."""
    d = len(embedding.widths)
    return tuple(int(embedding.widths[v]) + 1 if embedding.is_levels(v) else 0 for v in range(d))


def encoded_columns(
    embedding: Embedding, X: NDArray[Any], some: NDArray[np.integer] | None = None
) -> Floats:
    """(n, k): encode the columns X, which are variables `some`, as the networks read them.

    X is in the units of the table. Numbers and log(1 + x) of counts are standardised; categories
    are level numbers.
    """
    places = range(len(embedding.widths)) if some is None else some.tolist()
    columns = [
        embedding.levels_of(x, v) if embedding.is_levels(v) else embedding.block(x, v, 1)[:, 0]
        for x, v in zip(np.asarray(X, np.float64).T, places, strict=True)
    ]
    return np.column_stack(columns) if columns else np.empty((len(X), 0))


@dataclass(frozen=True, eq=False)
class MixedNetworkEquations(EquationsByKind, NetworkEquations):
    """Perceptrons with inputs and outputs that suit the kind of each variable.

    Categories enter as indicators of levels; numbers and log(1 + x) of counts are standardised.
    """

    # (d,): means of numbers and most frequent levels, in units of the table: the values of other
    # parents while the effect of one parent is shown.
    typical: Floats

    form = "a network, with inputs for levels,"
    effects_in_words = (
        "Effects are those of networks, with the other parents at their means or most frequent "
        "levels; they need not add up."
    )

    @classmethod
    def of_networks(
        cls, networks: NetworkEquations, embedding: Embedding, numbers: dict[str, Any]
    ) -> "MixedNetworkEquations":
        """Add to trained networks what the kinds of variables need."""
        parts = {part.name: getattr(networks, part.name) for part in fields(NetworkEquations)}
        return cls(**parts, embedding=embedding, **numbers)

    def with_variances(
        self, columns: NDArray[Any], counted: NDArray[Any] | None
    ) -> "MixedNetworkEquations":
        """Set the variances of numbers and counts to those of their residuals.

        `columns` (n, d) is the encoded table, `counted` (n, d) has the weights of its entries.
        """
        variances = np.ones(len(self.means))
        everything = np.arange(len(self.means))
        for v in np.flatnonzero(np.array(levels_in(self.embedding)) == 0).tolist():
            residuals = columns[:, v] - self._outputs(columns, everything, v)[:, 0]
            weights = None if counted is None else counted[:, v]
            variances[v] = max(float(np.average(residuals**2, weights=weights)), 1e-12)
        return replace(self, variances=variances)

    def _outputs(self, columns: NDArray[Any], parents: NDArray[np.intp], v: int) -> Floats:
        """(n, targets): outputs of one network, given the encoded columns of its parents."""
        blocks = InputBlocks(levels_in(self.embedding)).of(columns, parents)
        functions, activation = self.functions(slice(v, v + 1)), ACTIVATIONS[self.activation][1]
        weights = self.first_weights[parents, v][:, None]
        outputs = block_outputs(blocks, weights, functions, activation)[:, 0]
        return np.asarray(outputs[:, : int(self.embedding.targets[v])], np.float64)

    def sums(self, data: NDArray[Any], adjacency: Any, v: int) -> Floats:
        """(n, targets): outputs of one network, given data in prepared units."""
        parents = np.flatnonzero(np.asarray(adjacency[:, v]) != 0)
        X = data[:, parents] * self.scales[parents] + self.means[parents]
        return self._outputs(encoded_columns(self.embedding, X, parents), parents, v)

    def effect(self, u: int, v: int, values: NDArray[Any]) -> Floats:
        """(n, targets): outputs for values of one parent, the others at their typical values.

        They are in units of v, for counts in units of log(1 + x); for a category they are the
        log-odds of each level but the first against the first.
        """
        rows = np.tile(self.typical, (len(values), 1))
        rows[:, u] = values
        everything = np.arange(len(self.means))
        outputs = self._outputs(encoded_columns(self.embedding, rows), everything, v)
        return np.asarray(outputs * self.embedding.scales[v])

    def usual_values(self, data: NDArray[Any]) -> Floats:
        """(d,): values that variables have while another one is varied, in prepared units."""
        return np.asarray((self.typical - self.means) / self.scales)

    def settled(self, unexplained: Floats) -> "MixedNetworkEquations":
        """Set the output biases of numbers so that residuals have mean zero."""
        numbers = np.array([self.embedding.is_number(v) for v in range(len(self.means))])
        biases = self.output_biases.copy()
        shift = unexplained * self.scales / self.embedding.scales
        biases[numbers, 0] += shift[numbers].astype(biases.dtype)
        return replace(self, output_biases=biases)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters as named arrays, for saving."""
        numbers = np.stack([getattr(self, name) for name in _NUMBERS])
        return {**super().arrays(), **self.embedding.arrays(), "network_numbers": numbers}


def networks_from(
    arrays: dict[str, NDArray[Any]], hidden: tuple[int, ...], activation: str
) -> NetworkEquations:
    """Rebuild networks from the ``arrays`` and ``facts`` that were saved."""
    parts = {name: arrays[f"{name}_"] for name in _ARRAYS}
    found = NetworkEquations(**parts, hidden=hidden, activation=activation)
    if "network_numbers" not in arrays:
        return found
    numbers = dict(zip(_NUMBERS, arrays["network_numbers"], strict=True))
    return MixedNetworkEquations.of_networks(found, Embedding.from_arrays(arrays), numbers)
