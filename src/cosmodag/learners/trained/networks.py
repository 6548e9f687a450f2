"""Learners of networks: what the non-linear learners share after the fit."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cosmodag.errors import DataError
from cosmodag.fit.checks import check_choice, check_count, seeds_from
from cosmodag.fit.matrices import chosen_arcs
from cosmodag.learners.base import Learnt, Prepared, Refined
from cosmodag.learners.trained.base import TrainedLearner
from cosmodag.learners.trained.network_refit import Networks, refit
from cosmodag.model.mechanism import MLP
from cosmodag.model.mechanism.mlp import ACTIVATIONS, ARC_STRENGTHS, forward
from cosmodag.refinement.networks.pruning import prune_networks
from cosmodag.solve.problems import Solution
from cosmodag.solve.readout import ReadOut
from cosmodag.solve.watch import Watch

__all__ = ["NetworkLearner"]

# Hidden units of a block of rows held at once, 128 MB of them.
_MOST_UNITS = 2**24


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkLearner(TrainedLearner):
    """A learner whose variables are perceptrons of their parents.

    Predictions use the *pruned* networks: of the first layer, only the weights of arcs in
    ``adjacency_``.
    """

    hidden: tuple[int, ...] = (10,)
    activation: str = "sigmoid"
    arc_strength: str = "norm"

    if TYPE_CHECKING:  # fitted attributes; a dataclass would take them for parameters
        first_weights_: NDArray[Any] = field(init=False)
        first_biases_: NDArray[Any] = field(init=False)
        inner_layers_: NDArray[Any] = field(init=False)
        output_weights_: NDArray[Any] = field(init=False)
        output_biases_: NDArray[Any] = field(init=False)
        prepared_means_: NDArray[Any] = field(init=False)

    extra_arrays: ClassVar[tuple[str, ...]] = (
        "first_weights_",
        "first_biases_",
        "inner_layers_",
        "output_weights_",
        "output_biases_",
        "prepared_means_",
    )

    @property
    def _follows_units(self) -> bool:
        # Refinement by Gaussian processes keeps the learnt order.
        return self._order_from_units

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        if not isinstance(self.hidden, tuple | list) or not self.hidden:
            raise DataError(
                f"hidden is {self.hidden!r}: it must be a tuple of the sizes of hidden layers, "
                "such as (10,)."
            )
        for size in self.hidden:
            check_count("hidden", size)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("arc_strength", self.arc_strength, ARC_STRENGTHS)
        if getattr(self, "refine", None) == "order":
            raise DataError(
                "refine is 'order', but a search over orders is for linear relations: use 'prune', "
                "which also mends the order of networks, or None."
            )

    def refinement_for(self, d: int) -> str | None:
        """Say what is done with an order of d variables: None, ``"prune"`` or ``"order"``."""
        return None if getattr(self, "refine", None) is None else "prune"

    def settle(self, data: NDArray[np.float32]) -> None:
        """Give each pruned network the output bias that is best for it on the training data."""
        self.prepared_means_ = data.mean(axis=0, dtype=np.float64)
        counted = self.known_.counted
        shift = np.average(data - self.predict_prepared(data), axis=0, weights=counted).astype(
            np.float32
        )
        shift[self.preparation_.constant] = 0
        self.output_biases_ = self.output_biases_ + shift
        super().settle(data)

    def _strengths(self, found: ReadOut, solution: Solution) -> NDArray[np.float64]:
        """Keep the networks, and read the strength of all arcs off them."""
        assert found.first_layer is not None
        self._keep(found.first_layer, solution.parameters["functions"])
        return self._arc_strengths(self.arc_strength)

    def _keep_equations(self, learnt: Learnt) -> None:
        """Nothing: the networks are fitted attributes of their own."""

    def _keep(self, first_weights: ArrayLike, functions: Any) -> None:
        """Remember the networks as fitted attributes."""
        self.first_weights_ = np.asarray(first_weights)
        self.first_biases_ = np.asarray(functions["biases"])
        inner = [
            np.ravel(layer[kind]) for layer in functions["hidden"] for kind in ("weights", "biases")
        ]
        self.inner_layers_ = np.concatenate([np.empty(0, np.float32), *inner])
        self.output_weights_ = np.asarray(functions["output"]["weights"])
        self.output_biases_ = np.asarray(functions["output"]["biases"])

    def _inner_layers(self) -> list[dict[str, NDArray[Any]]]:
        """Take `inner_layers_` apart into weights (d, in, out) and biases (d, out)."""
        d, rest, layers = self.n_features_in_, self.inner_layers_, []
        for before, after in pairwise(self.hidden):
            weights, biases, rest = np.split(rest, np.cumsum([d * before * after, d * after]))
            layers.append(
                {"weights": weights.reshape(d, before, after), "biases": biases.reshape(d, after)}
            )
        return layers

    def _refine(self, given: Prepared, learnt: Learnt, watch: Watch) -> Refined:
        """Ask of each network which inputs it needs, and fit the networks on those anew."""
        watch.begin(self.n_features_in_, f"{type(self).__name__}: pruning")
        (seed,) = seeds_from(self.random_state, 1)
        known = given.known
        assert learnt.order is not None
        pruned = prune_networks(
            given.X,
            self._arc_strengths("norm"),
            learnt.order,
            support=known.support,
            required=known.required,
            before=known.before,
            counted=known.counted,
            random=seed,
            should_stop=lambda: watch.stop is not None,
            on_progress=lambda done, total: watch.advance(1),
        )
        networks = Networks(self.first_weights_, self._functions(slice(None)))
        if pruned.finished:
            mechanism = MLP(tuple(self.hidden), self.activation)
            order, arcs = pruned.order, pruned.adjacency
            networks = refit(networks, mechanism, given.data, arcs, order, watch, known.counted)
        self._keep(*networks)
        strengths = self._arc_strengths(self.arc_strength)
        places = np.nonzero(pruned.adjacency)
        weights = sparse.csr_array((strengths[places], places), shape=strengths.shape)
        return Refined(
            order=pruned.order,
            weights=weights,
            noise="equal-variance" if self._order_from_units else "gaussian",
            reason="Arcs were chosen by the evidence of a Gaussian process for each variable.",
            report=[{"start": "learnt", "added": int(pruned.added.sum())}],
            stopped=None if pruned.finished else watch.stop,
        )

    def take_parameters(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Nothing: the networks are fitted attributes of their own."""

    @property
    def arc_norms_(self) -> NDArray[np.float64]:
        """(d, d): ‖W_uv·‖₂, the length of the first-layer weights of each arc."""
        return self._arc_strengths("norm")

    @property
    def arc_sums_(self) -> NDArray[np.float64]:
        """(d, d): Σ_i W_uvi, the signed sum of the first-layer weights of each arc."""
        return self._arc_strengths("sum")

    def _arc_strengths(self, name: str) -> NDArray[np.float64]:
        check_is_fitted(self, "first_weights_")
        strengths = ARC_STRENGTHS[name](self.first_weights_.astype(np.float64))
        strengths[self.preparation_.constant] = 0
        strengths[:, self.preparation_.constant] = 0
        return np.asarray(strengths)

    def read_out(self, arc_strength: str) -> Self:
        """Read the graph again from the same fit, with another strength of arcs.

        Everything that follows from the strengths is set anew: `raw_weights_`, `weights_`,
        `adjacency_`, the residuals, and the parameter `arc_strength` itself. The arcs that
        refinement chose stay chosen, and strengths are those of the networks fitted anew on them.

        Parameters
        ----------
        arc_strength : {"norm", "sum"}

        Returns
        -------
        self
        """
        check_is_fitted(self, "adjacency_")
        check_choice("arc_strength", arc_strength, ARC_STRENGTHS)
        data = self.training_data()
        self.arc_strength = arc_strength
        strengths = self._arc_strengths(arc_strength)
        if self.refinement_ is None:
            self._take_raw(self._read_out(Learnt(strengths, self._learnt_order())))
        else:
            self.raw_weights_ = strengths
            self.weights_ = np.where(self.weights_ != 0, strengths, 0.0)
            required = self.known_.required
            self.adjacency_ = chosen_arcs(self.weights_, self._refined_cut, required)
        self.settle(np.asarray(data, np.float32))
        return self

    def _learnt_order(self) -> NDArray[np.intp] | None:
        """Order that does not come from the strengths of arcs, where there is one."""
        return None

    def effect(self, u: Any, v: Any, grid: ArrayLike) -> NDArray[np.float64]:
        """Fitted response of v to u, all other parents of v at their means.

        Parameters
        ----------
        u, v : column name, or column number
            The arc u → v. If the graph has no such arc, the response is flat.
        grid : (m,) array
            Values of u, in its own units.

        Returns
        -------
        (m,) array
            Values of v, in its own units.
        """
        check_is_fitted(self, "adjacency_")
        cause, response = self._place(u), self._place(v)
        values = np.asarray(grid, np.float64)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise DataError("grid must be a one-dimensional array of finite numbers.")
        means, scales = self.preparation_.means, self.preparation_.scales
        rows = np.tile(self.prepared_means_, (len(values), 1))
        rows[:, cause] = (values - means[cause]) / scales[cause]
        fitted = self._fitted_column(rows, response)
        return np.asarray(fitted * scales[response] + means[response])

    def _place(self, name: Any) -> int:
        names = self.names_
        if name in names:
            return names.index(name)
        raise DataError(f"There is no column {name!r}: the columns are {_listed(names)}.")

    def predict_prepared(self, data: NDArray[Any]) -> NDArray[Any]:
        """Every variable as its network predicts it from its parents, all in prepared units."""
        weights = np.where(self.adjacency_[..., None] != 0, self.first_weights_, 0)
        functions = self._functions(slice(None))
        activation = ACTIVATIONS[self.activation][1]
        step = max(1, _MOST_UNITS // weights[0].size)
        blocks = [
            forward(data[start : start + step], weights, functions, activation)
            for start in range(0, len(data), step)
        ]
        fitted = np.concatenate(blocks) if blocks else np.empty(data.shape)
        fitted[:, self.preparation_.constant] = 0
        return fitted

    def _fitted_column(self, data: NDArray[Any], v: int) -> NDArray[Any]:
        if self.preparation_.constant[v]:
            return np.zeros(len(data))
        parents = np.flatnonzero(self.adjacency_[:, v])
        weights = self.first_weights_[parents, v][:, None]
        functions = self._functions(slice(v, v + 1))
        activation = ACTIVATIONS[self.activation][1]
        column: NDArray[Any] = forward(data[:, parents], weights, functions, activation)[:, 0]
        return column

    def _functions(self, some: slice) -> dict[str, Any]:
        """All but the first-layer weights, of some of the networks."""
        return {
            "biases": self.first_biases_[some],
            "hidden": [
                {kind: values[some] for kind, values in layer.items()}
                for layer in self._inner_layers()
            ],
            "output": {
                "weights": self.output_weights_[some],
                "biases": self.output_biases_[some],
            },
        }


def _listed(names: list[Any]) -> str:
    shown = ", ".join(str(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown}, … ({len(names)} in all)"
