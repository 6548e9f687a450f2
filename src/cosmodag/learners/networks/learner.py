"""The base class of learners that fit one network per variable."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cosmodag.errors import DataError, name_list
from cosmodag.fit.dag.linear_equations import FittedEquations
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import check_choice, check_count
from cosmodag.fit.settle import aligned, chosen_arcs, isolated, unrefined_graph
from cosmodag.fit.view.fitted import OfDAG
from cosmodag.learners.declarations import parameter
from cosmodag.learners.networks.network_equations import (
    MixedNetworkEquations,
    NetworkEquations,
    networks_from,
)
from cosmodag.learners.structure_learner import Learnt, Prepared, RefinedFit
from cosmodag.learners.trained.trained_learner import TrainedLearner
from cosmodag.model.networks import ARC_STRENGTHS
from cosmodag.solve.problems import Solution
from cosmodag.solve.readout import ReadOut
from cosmodag.solve.watch import Watch

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkLearner(TrainedLearner):
    """Base class of learners in which each variable is a perceptron of its parents.

    Predictions use *pruned* networks, whose first layer only has the weights of arcs in
    ``adjacency_``.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        Strength of each arc.
    arc_norms_, arc_sums_ : (d, d) arrays
        Both strengths of each arc; `raw_weights_` is one of them.
    first_weights_, first_biases_, output_weights_, output_biases_ : arrays
        Parameters of the networks: first-layer weights (d, d, h) from each variable to the hidden
        units of each network, their biases (d, h), output weights (d, h) and output biases (d,).
        The output biases are those of the pruned networks, whose residuals have mean zero on the
        training data.
    inner_layers_ : array
        Weights (d, in, out) and biases (d, out) of further hidden layers, concatenated.
    prepared_means_ : (d,) array
        Typical values of the columns in prepared units, which :meth:`response` gives to other
        parents.
    """

    hidden: tuple[int, ...] = parameter(
        (10,),
        """Number of units in each hidden layer of each network. COSMO is fastest with one layer of
        sigmoids.""",
        type="tuple of int",
    )
    activation: Literal["sigmoid", "tanh", "relu"] = parameter(
        "sigmoid", "Activation function of the hidden units."
    )
    arc_strength: Literal["norm", "sum"] = parameter(
        "norm",
        """How the first-layer weights of an arc give its strength: as their Euclidean norm, or as
        the signed sum of the authors' code, in which weights may cancel. :meth:`read_out` changes
        it without another fit.""",
    )
    refine: Literal["auto", "prune"] | None = parameter(
        None,
        """How the learnt order becomes a graph: ``"prune"`` (or ``"auto"``) keeps the inputs of
        each network that the evidence of a Gaussian process supports, and adds inputs that the
        learnt order had forbidden; ``None`` keeps all arcs above the threshold.
        :func:`cosmodag.search.prune_networks` describes the evidence.""",
        option="--refine",
    )

    extra_arrays: ClassVar[tuple[str, ...]] = ("prepared_means_",)

    first_weights_ = OfDAG("equations.first_weights")
    first_biases_ = OfDAG("equations.first_biases")
    inner_layers_ = OfDAG("equations.inner_layers")
    output_weights_ = OfDAG("equations.output_weights")
    output_biases_ = OfDAG("equations.output_biases")

    def order_follows_units(self, noise: str | None) -> bool:
        """Whether the order depends on the units of the columns, also after refinement."""
        return self._order_from_units

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        if self.refine == "order":  # type: ignore[comparison-overlap]
            raise DataError(
                "refine is 'order', but a search over orders is for linear relations: use 'prune', "
                "which also mends the order of networks, or None."
            )
        super().check_settings()
        if not isinstance(self.hidden, tuple | list) or not self.hidden:
            raise DataError(
                f"hidden is {self.hidden!r}: it must be a tuple of the sizes of hidden layers, "
                "such as (10,)."
            )
        for size in self.hidden:
            check_count("hidden", size)

    def refinement_for(self, d: int) -> str | None:
        """Return the method of refinement: None or ``"prune"``."""
        return None if self.refine is None else "prune"

    def _strengths(self, found: ReadOut, equations: FittedEquations) -> Floats:
        assert isinstance(equations, NetworkEquations)
        return equations.strengths(self.arc_strength)

    def _equations(self, found: ReadOut, solution: Solution) -> NetworkEquations:
        assert found.first_layer is not None
        functions = solution.parameters["functions"]
        return NetworkEquations.of(
            found.first_layer, functions, tuple(self.hidden), self.activation
        )

    def equations_from(self, arrays: dict[str, NDArray[Any]]) -> NetworkEquations:
        """Rebuild the networks of a saved fit."""
        return networks_from(arrays, tuple(self.hidden), self.activation)

    def attributes_of(self, dag: FittedDAG, data: NDArray[np.float32]) -> dict[str, Any]:
        """Return the values of other parents in :meth:`response`."""
        return {"prepared_means_": _networks_of(dag).usual_values(data)}

    def refined(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Choose the arcs by evidence, and train the networks again on these."""
        from cosmodag.learners.networks.network_refining import refined_networks  # imports Numba

        return refined_networks(self, given, learnt, watch)

    @property
    def arc_norms_(self) -> Floats:
        """(d, d): ‖W_uv·‖₂, the Euclidean norm of the first-layer weights of each arc."""
        return self._arc_strengths("norm")

    @property
    def arc_sums_(self) -> Floats:
        """(d, d): Σ_i W_uvi, the signed sum of the first-layer weights of each arc."""
        return self._arc_strengths("sum")

    def _arc_strengths(self, name: str) -> Floats:
        check_is_fitted(self, "fitted_")
        found: Floats = isolated(
            _networks_of(self.fitted_).strengths(name), self.fitted_.preparation.constant
        )
        return found

    def read_out(self, arc_strength: str) -> Self:
        """Read the graph out again, with another measure of the strength of arcs.

        `raw_weights_`, `weights_`, `adjacency_` and the residuals follow the new strengths; the
        parameter `arc_strength` is not changed. Arcs that refinement chose are kept, and their
        strengths are those of the networks that were fitted to them.

        Parameters
        ----------
        arc_strength : {"norm", "sum"}

        Returns
        -------
        self
        """
        check_is_fitted(self, "fitted_")
        check_choice("arc_strength", arc_strength, ARC_STRENGTHS)
        dag, data = self.fitted_, np.asarray(self.training_data(), np.float32)
        strengths = self._arc_strengths(arc_strength)
        if self.refinement_ is None:
            learnt = Learnt(strengths, self._learnt_order(), equations=dag.equations)
            found = aligned(learnt, dag.preparation, dag.known, self.raw_threshold)
            graph = unrefined_graph(found.learnt, dag.known, self.raw_threshold)
            shown = found.attributes
        else:
            weights = np.where(self.weights_ != 0, strengths, 0.0)
            chosen = chosen_arcs(weights, self.refined_threshold, dag.known.required)
            graph, shown = {"weights": weights, "adjacency": chosen}, {"raw_weights_": strengths}
        self.take_graph(replace(dag, **graph).settled(data, recentre=self.scale != "none"))
        for name, value in {**shown, **self.attributes_of(self.fitted_, data)}.items():
            setattr(self, name, value)
        return self

    def _learnt_order(self) -> NDArray[np.intp] | None:
        """Return the order if it was learnt directly; None if it follows from arc strengths."""
        return None

    def response(self, u: Any, v: Any, grid: ArrayLike) -> Floats:
        """Predict v for several values of u, with its other parents held at typical values.

        The typical values are means, and the most frequent levels of categories.

        Parameters
        ----------
        u, v : column name, or column number
            The arc u → v. If the graph has no such arc, the response is constant.
        grid : (m,) array
            Values of u, in its own units; level numbers if u is a category.

        Returns
        -------
        (m,) array, or (m, k)
            Values of v, in its own units; probabilities of the k levels if v is a category.
        """
        check_is_fitted(self, "fitted_")
        cause, response = self._place(u), self._place(v)
        values = np.asarray(grid, np.float64)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise DataError("grid must be a one-dimensional array of finite numbers.")
        means, scales = self.fitted_.preparation.means, self.fitted_.preparation.scales
        rows = np.tile(self.prepared_means_, (len(values), 1))
        rows[:, cause] = (values - means[cause]) / scales[cause]
        networks = _networks_of(self.fitted_)
        if isinstance(networks, MixedNetworkEquations) and networks.embedding.is_levels(response):
            return networks.level_probabilities(rows, self.fitted_.adjacency, response)
        fitted = self.fitted_.predict_column(rows, response)
        return np.asarray(fitted * scales[response] + means[response])

    def _place(self, name: Any) -> int:
        names = self.names_
        if name in names:
            return names.index(name)
        listed = name_list(names, most=10)
        raise DataError(f"There is no column {name!r}: the columns are {listed}.")


def _networks_of(dag: FittedDAG) -> NetworkEquations:
    assert isinstance(dag.equations, NetworkEquations)
    return dag.equations
