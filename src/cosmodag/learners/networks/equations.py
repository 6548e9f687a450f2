"""Equations of network learners: one perceptron per variable, cut to its parents in a graph."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.fit.dag.equations import FittedEquations
from cosmodag.model.networks import ACTIVATIONS, ARC_STRENGTHS, forward

__all__ = ["ARRAYS", "NetworkEquations"]

ARRAYS = ("first_weights", "first_biases", "inner_layers", "output_weights", "output_biases")
"""Names of the arrays of the networks."""

# Largest number of hidden units in a block of rows: 128 MB.
_MOST_UNITS = 2**24


@dataclass(frozen=True, eq=False)
class NetworkEquations(FittedEquations):
    """Perceptrons of all variables; predictions use the first-layer weights of arcs alone.

    Attributes
    ----------
    first_weights, first_biases
        (d, d, h), from each variable to the first hidden layer of each network, and (d, h).
    inner_layers
        Weights (d, in, out) and biases (d, out) of further hidden layers, concatenated.
    output_weights, output_biases
        (d, h) and (d,).
    hidden, activation
        Sizes and activation of the hidden layers.
    """

    first_weights: NDArray[Any]
    first_biases: NDArray[Any]
    inner_layers: NDArray[Any]
    output_weights: NDArray[Any]
    output_biases: NDArray[Any]
    hidden: tuple[int, ...]
    activation: str

    @classmethod
    def of(
        cls, first_weights: ArrayLike, functions: Any, hidden: tuple[int, ...], activation: str
    ) -> "NetworkEquations":
        """Take networks as training leaves them."""
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

    def strengths(self, name: str) -> NDArray[np.float64]:
        """(d, d): the strength of every arc, ``"norm"`` or ``"sum"`` of its first-layer weights."""
        return np.asarray(ARC_STRENGTHS[name](self.first_weights.astype(np.float64)))

    def in_units(self, units: NDArray[np.float64]) -> "NetworkEquations":
        """Express networks of columns x / units as networks of x, (d,) units."""
        return replace(
            self,
            first_weights=(self.first_weights / units[:, None, None]).astype(np.float32),
            output_weights=(self.output_weights * units[:, None]).astype(np.float32),
            output_biases=(self.output_biases * units).astype(np.float32),
        )

    def usual_values(self, data: NDArray[Any]) -> NDArray[np.float64]:
        """(d,): values of variables while another one is varied: means of prepared data."""
        return np.asarray(data.mean(axis=0, dtype=np.float64))

    def functions(self, some: slice = slice(None)) -> dict[str, Any]:
        """All but the first-layer weights, of some of the networks."""
        return {
            "biases": self.first_biases[some],
            "hidden": tuple(
                {kind: values[some] for kind, values in layer.items()}
                for layer in self._hidden_layers()
            ),
            "output": {
                "weights": self.output_weights[some],
                "biases": self.output_biases[some],
            },
        }

    def _hidden_layers(self) -> list[dict[str, NDArray[Any]]]:
        """Take `inner_layers` apart into weights (d, in, out) and biases (d, out)."""
        d, rest, layers = len(self.first_weights), self.inner_layers, []
        for before, after in pairwise(self.hidden):
            weights, biases, rest = np.split(rest, np.cumsum([d * before * after, d * after]))
            layers.append(
                {"weights": weights.reshape(d, before, after), "biases": biases.reshape(d, after)}
            )
        return layers

    def predict(self, data: NDArray[Any], adjacency: Any) -> NDArray[Any]:
        """Predict every variable from its parents, some rows at a time."""
        weights = np.where(adjacency[..., None] != 0, self.first_weights, 0)
        functions, activation = self.functions(), ACTIVATIONS[self.activation][1]
        step = max(1, _MOST_UNITS // weights[0].size)
        blocks = [
            forward(data[start : start + step], weights, functions, activation)
            for start in range(0, len(data), step)
        ]
        return np.concatenate(blocks) if blocks else np.empty(data.shape)

    def predict_column(self, data: NDArray[Any], adjacency: Any, v: int) -> NDArray[Any]:
        """Predict one variable, from its parents alone."""
        parents = np.flatnonzero(adjacency[:, v])
        weights = self.first_weights[parents, v][:, None]
        functions, activation = self.functions(slice(v, v + 1)), ACTIVATIONS[self.activation][1]
        column: NDArray[Any] = forward(data[:, parents], weights, functions, activation)[:, 0]
        return column

    def settled(self, unexplained: NDArray[np.float64]) -> "NetworkEquations":
        """Set the output biases so that residuals have mean zero."""
        biases = self.output_biases + unexplained.astype(np.float32)
        return replace(self, output_biases=biases)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Networks as named arrays, for saving."""
        return {f"{name}_": getattr(self, name) for name in ARRAYS}

    def facts(self) -> dict[str, Any]:
        """Sizes and activation of the hidden layers, for saving."""
        return {"hidden": list(self.hidden), "activation": self.activation}
