"""A fitted graph: what can be asked of every learner once it has learnt."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cosmodag.data.interventions import take_column, targets_of
from cosmodag.data.knowledge import Bounds, Knowledge, bounds_of
from cosmodag.errors import DataError
from cosmodag.fit.arcs import arc_table
from cosmodag.fit.basis import arrow_basis, mask_of
from cosmodag.fit.known import NOTHING, Known
from cosmodag.fit.matrices import column
from cosmodag.fit.preparation import Preparation
from cosmodag.graph.equivalence import EquivalenceClass, essential_graph, separated
from cosmodag.io.frames import as_table

if TYPE_CHECKING:
    import os

    import networkx as nx
    import pandas as pd

    from cosmodag.data.diagnose import Finding

__all__ = ["FittedGraph"]


class FittedGraph(BaseEstimator):  # type: ignore[misc]
    """Names, graph, predictions, likelihood, new samples, equivalence class, and saving.

    A learner's ``fit`` sets the attributes that these methods use.
    """

    adjacency_: Any
    weights_: NDArray[np.float64]
    stopped_: str | None
    findings_: "list[Finding]"
    n_features_in_: int
    knowledge_: Knowledge | None
    residuals_: NDArray[np.float32]
    deviations_: NDArray[np.float64]
    order_: NDArray[np.intp]
    preparation_: Preparation
    known_: Known = NOTHING

    extra_arrays: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays among a learner's own fitted attributes: they are saved too."""

    extra_facts: ClassVar[tuple[str, ...]] = ()
    """Names of its own fitted attributes that are plain values."""

    # Whether the order that is learnt depends on units, as that of squared errors does.
    _order_from_units: ClassVar[bool] = True

    @property
    def is_linear(self) -> bool:
        """Whether the equations of variables are linear, so that regressions may replace them."""
        return True

    def predict_prepared(self, data: NDArray[Any]) -> NDArray[Any]:
        """Every variable as predicted from its parents, all in prepared units."""
        fitted: NDArray[Any] = data @ self.adjacency_
        return fitted

    def _fitted_column(self, data: NDArray[Any], v: int) -> NDArray[Any]:
        """One column of :meth:`predict_prepared`."""
        weights = column(self.adjacency_, v)
        parents = np.flatnonzero(weights)
        fitted: NDArray[Any] = data[:, parents] @ weights[parents]
        return fitted

    def parameters_as_arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters of equations that are not linear, as named arrays to save."""
        return {}

    def take_parameters(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what :meth:`parameters_as_arrays` gave."""

    def _remember_names(self, X: Any, names: list[str]) -> None:
        self.n_features_in_ = len(names)
        if not isinstance(X, np.ndarray | list | tuple):
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def names_(self) -> list[Any]:
        """Column names, or column numbers where the data had no names."""
        check_is_fitted(self, "adjacency_")
        names = getattr(self, "feature_names_in_", None)
        return list(range(self.n_features_in_)) if names is None else list(names)

    @property
    def causal_order_(self) -> list[Any]:
        """Names, or numbers, of the variables, causes first."""
        names = self.names_
        return [names[place] for place in self.order_]

    @property
    def graph_(self) -> "nx.DiGraph[Any]":
        """The learnt graph: column names as nodes, the weight on each edge."""
        import networkx as nx

        names = self.names_
        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(names)
        edges = self.edges_
        graph.add_weighted_edges_from(
            (names[u], names[v], float(weight))
            for u, v, weight in zip(edges.row, edges.col, edges.data, strict=True)
        )
        return graph

    @property
    def edges_(self) -> sparse.coo_array:
        """The learnt graph as a sparse matrix: ``row`` → ``col`` with weight ``data``.

        An arc that knowledge requires is there even if its weight is zero.
        """
        check_is_fitted(self, "adjacency_")
        required = self.known_.required
        if required is None or sparse.issparse(self.adjacency_):
            return sparse.coo_array(self.adjacency_)
        tails, heads = np.nonzero(required | (self.adjacency_ != 0))
        places, shape = (tails, heads), self.adjacency_.shape
        return sparse.coo_array((self.adjacency_[places], places), shape=shape)

    @property
    def _arcs(self) -> sparse.csr_array:
        """Which arcs there are, whatever their weights."""
        edges = self.edges_
        return mask_of(edges.row, edges.col, self.n_features_in_)

    @property
    def arcs_(self) -> "pd.DataFrame":
        """Table of the arcs, the largest standardised weight first.

        Columns: ``cause``, ``effect``, ``weight``; ``standardised``, the weight where every column
        has a standard deviation of one; ``se`` and ``t`` of the weight by least squares on the
        parents, as if the arcs had been known beforehand (NaN where the training data is not at
        hand, or arcs are functions); ``basis``, what the direction rests on (``arrow_basis_``);
        ``class``, whether the equivalence class has the arc ``directed`` or ``undirected``
        (``cpdag_``). The index is the place of the arc in ``edges_``.
        """
        return arc_table(self)

    @property
    def arrow_basis_(self) -> list[str]:
        """What the direction of each arc of ``edges_`` rests on, in the same order.

        The first of these that holds. ``"knowledge"``: knowledge excludes the reverse.
        ``"interventions"``: one end of it was set in some rows in which the other was not, which
        shows in which direction influence passes, if interventions are perfect. ``"shape of the
        graph"``: every graph with the same conditional independences has the arrow; it is as sure
        as the arcs around it. ``"knowledge"`` and ``"interventions"`` again, for arrows that follow
        from those by Meek's rules. Otherwise what was assumed of the noise: ``"equal variances"``
        or ``"non-Gaussianity"``; ``"scale of the columns"`` where the order follows the units; or
        nothing in the data, a ``"free choice"``.
        """
        edges = self.edges_
        told = self._told_arrows()
        return arrow_basis(self._arcs, edges.row, edges.col, *told, self._direction_basis)

    def _told_arrows(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell of each arc whether knowledge, and whether interventions, exclude its reverse."""
        edges, bounds = self.edges_, self.bounds()
        sets = getattr(self, "target_sets_", None)
        nothing = np.zeros(edges.nnz, np.bool_)
        return (
            nothing if bounds is None else bounds.directs(edges.row, edges.col),
            nothing if sets is None else separated(edges.row, edges.col, sets),
        )

    def bounds(self) -> Bounds | None:
        """Bounds that knowledge sets on the columns that the learner was fitted on."""
        names = getattr(self, "feature_names_in_", self._made_up_names())
        return bounds_of(self.knowledge_, list(names))

    def _made_up_names(self) -> list[str]:
        """Names that messages give to columns that have none."""
        return [f"x{place}" for place in range(self.n_features_in_)]

    @property
    def _direction_basis(self) -> str:
        """What reversible arrows rest on: the units of the columns, or what noise was assumed."""
        if self._follows_units:
            return "scale of the columns"
        return {"non-gaussian": "non-Gaussianity", "equal-variance": "equal variances"}.get(
            getattr(self, "noise_", None) or "", "free choice"
        )

    @property
    def _follows_units(self) -> bool:
        """Whether the order is the learner's own, no refinement's, and depends on units."""
        return self._order_from_units and getattr(self, "noise_", None) is None

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict every variable from its parents in ``adjacency_``.

        Parameters
        ----------
        X : table with the columns of the training data

        Returns
        -------
        (n, d) array
        """
        fitted = self.predict_prepared(self.prepared(X))
        return self.preparation_.undo(fitted)

    def score(self, X: Any, y: Any = None, *, interventions: Any = None) -> float:
        """Mean Gaussian log-likelihood, per row and variable, under ``adjacency_``.

        Error variances are those of the training data; constant columns are left out, and a table
        of nothing else has a score of zero. So are values that were set, where `interventions` says
        so as for ``fit``. Greater is better, so that scikit-learn's searches can use it.
        """
        X, entries = take_column(X, interventions)
        likelihoods = self.log_likelihoods(X)
        targets = targets_of(entries, [str(name) for name in self.names_], len(likelihoods))
        if targets is not None:
            likelihoods = likelihoods[~targets[:, ~self.preparation_.constant]]
        return float(np.mean(likelihoods)) if likelihoods.size else 0.0

    def log_likelihoods(self, X: Any) -> NDArray[np.float64]:
        """Gaussian log-likelihood of every entry of the columns that are not constant."""
        data = self.prepared(X)
        varying = ~self.preparation_.constant
        squares = (data - self.predict_prepared(data))[:, varying] ** 2
        variances = self.noise_variances_[varying] / self.preparation_.scales[varying] ** 2
        # A column that others give exactly, a copy say, has no error; single precision has.
        variances = np.maximum(variances, float(np.finfo(np.float32).eps) ** 2)
        likelihood = -0.5 * (np.log(2 * np.pi * variances) + squares / variances)
        return np.asarray(likelihood - np.log(self.preparation_.scales[varying]))

    def sample(self, n: int, random_state: int | None = None) -> NDArray[np.float64]:
        """Draw n new rows: noise from the training residuals, pushed through ``adjacency_``.

        A model that was loaded without its residuals draws from normal distributions of their
        variances instead.
        """
        check_is_fitted(self, "adjacency_")
        random = np.random.default_rng(random_state)
        d = self.n_features_in_
        if hasattr(self, "residuals_"):
            values = self._drawn_residuals(n, random)
        else:
            deviations = np.sqrt(self.noise_variances_) / self.preparation_.scales
            values = random.normal(size=(n, d)) * deviations
        for v in self.order_:
            values[:, v] += self._fitted_column(values, v)
        return self.preparation_.undo(values)

    def _drawn_residuals(self, n: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Draw noise of each variable from rows in which it was measured, and not set."""
        d, counted = self.n_features_in_, self.known_.counted
        if counted is None:
            rows = random.integers(len(self.residuals_), size=(n, d))
        else:
            own = (np.flatnonzero(column) for column in counted.T)
            rows = np.stack([random.choice(places, size=n) for places in own], axis=1)
        return self.residuals_[rows, np.arange(d)].astype(np.float64)

    @property
    def cpdag_(self) -> EquivalenceClass:
        """Class of graphs that the data cannot tell apart without assumptions on the noise.

        Its ``directed`` arrows are in every graph that has the same conditional independences,
        agrees with knowledge and passes influence as the interventions showed; ``undirected`` edges
        point one way in some of these graphs and the other way in others.
        """
        return EquivalenceClass.of(self.names_, self.equivalence_class())

    def equivalence_class(self) -> Any:
        """Give ``cpdag_`` as a (d, d) matrix of bool, sparse where ``adjacency_`` is.

        True at [u, v] alone is an arrow of every graph of the class; true at [u, v] and [v, u] is
        an edge whose direction the class leaves open.
        """
        check_is_fitted(self, "adjacency_")
        edges = self.edges_
        by_knowledge, by_interventions = self._told_arrows()
        fixed = by_knowledge | by_interventions
        told = mask_of(edges.row[fixed], edges.col[fixed], self.n_features_in_)
        found: Any = essential_graph(self._arcs, told if fixed.any() else None)
        return found if sparse.issparse(self.adjacency_) else found.toarray()

    def save(self, path: "str | os.PathLike[str]", *, residuals: bool = False) -> None:
        """Write the fitted model to one file; ``cosmodag.load`` reads it again.

        Parameters
        ----------
        path : path
        residuals : bool
            Keep the residuals of the training data too, so that :meth:`sample` draws from them.
            Anyone who has the file can then rebuild the training table: leave it at False for data
            that must not leave with the model.
        """
        from cosmodag.fit.saved import save

        check_is_fitted(self, "adjacency_")
        save(self, path, residuals=residuals)

    def report(
        self, path: "str | os.PathLike[str]", *, data: Any = None, bootstrap: Any = None
    ) -> None:
        """Write a page to look at: one HTML file that needs nothing else, see ``docs/report.md``.

        The graph, drawn, and beside it arcs, weights, training, the diagnosis of the data, what was
        chosen and why, and how to make it again. No row of the data is in it.

        Parameters
        ----------
        path : path
            The file to make or replace.
        data : table, optional
            The training data, for the diagnosis and standard errors. A model that was just fitted
            has it still; one that was loaded has not.
        bootstrap : object, optional
            A :class:`cosmodag.stability.BootstrapResult` of the same table.
        """
        from cosmodag.report import Evidence, write_report

        check_is_fitted(self, "adjacency_")
        write_report(path, self, Evidence.of(self, data, bootstrap))

    def _repr_html_(self) -> str:
        """Draw the graph for a notebook; before the fit, what scikit-learn shows."""
        from sklearn.utils import estimator_html_repr

        from cosmodag.report.drawings.thumbnail import thumbnail

        if not hasattr(self, "adjacency_"):
            return str(estimator_html_repr(self))
        return thumbnail(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        # scikit-learn's own would come before _repr_html_.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def prepared(self, X: Any) -> NDArray[np.float64]:
        """Check new data against the training data's columns and prepare it alike."""
        check_is_fitted(self, "adjacency_")
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2:  # before a table of one column is refused as such
            self._check_columns(shape[1])
        table = as_table(X, fewest_rows=1)
        self._check_columns(len(table.names))
        known = getattr(self, "feature_names_in_", None)
        if known is not None and not isinstance(X, np.ndarray | list | tuple):
            for place, (given, name) in enumerate(zip(table.names, known, strict=True)):
                if given != name:
                    raise DataError(
                        f"Column {place} is '{given}', but the model was fitted on '{name}' there: "
                        "give the columns in the same order."
                    )
        return self.preparation_.apply(table.X).astype(np.float64)

    def training_data(self) -> NDArray[np.float64]:
        """Recover the training data from residuals: parents first, each x_v = f_v + r_v."""
        if not hasattr(self, "residuals_"):
            raise DataError(
                "The model was saved without the residuals of its training data, which this needs: "
                "save it with residuals=True, or fit again."
            )
        values = self.residuals_.astype(np.float64)
        for v in self.order_:
            values[:, v] += self._fitted_column(values, v)
        return values

    def _check_columns(self, columns: int) -> None:
        if columns != self.n_features_in_:
            raise DataError(
                f"X has {columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: give the columns it was fitted on."
            )
