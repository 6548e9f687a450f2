"""The contract of every learner: what goes in, what comes out, and that it is a DAG."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cosmodag.dags import above, agreeing, drop_cycles, is_dag, topological_order
from cosmodag.diagnose import quick, warn
from cosmodag.equivalence import essential_graph
from cosmodag.errors import DataError
from cosmodag.io.frames import as_table
from cosmodag.io.models import write_model
from cosmodag.learners.checks import check_number
from cosmodag.learners.matrices import as_arrays, column, count_arcs, from_arrays, isolated
from cosmodag.learners.preparation import Preparation

if TYPE_CHECKING:
    import os

    import networkx as nx

__all__ = ["Learnt", "StructureLearner"]


@dataclass(frozen=True)
class Learnt:
    """What a learner found, before it is made a DAG.

    Attributes
    ----------
    raw_weights
        (d, d) strengths as optimised; for very many variables a sparse matrix of those above the
        threshold.
    order
        Causal order, causes first; None to take it from the weights.
    stopped
        Why learning ended early (``"time"``, ``"interrupt"``), or None.
    extra
        Fitted attributes of the learner's own, by name.
    """

    raw_weights: Any
    order: NDArray[np.intp] | None = None
    stopped: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """Base of all learners: validates, prepares, learns, and reads out a DAG.

    A subclass stores its parameters in ``__init__``, among them ``threshold`` and ``scale``, and
    implements :meth:`_learn`.
    """

    threshold: float
    scale: str

    @abstractmethod
    def _learn(self, data: NDArray[np.float32]) -> Learnt:
        """Learn from prepared data, (n, d) float32."""

    def _check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        check_number("threshold", self.threshold, low=0.0, low_allowed=True)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a graph.

        Parameters
        ----------
        X : DataFrame (pandas, polars), Arrow table or (n, d) array
            One row a sample, one column a variable; finite numbers.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
        """
        self._check_settings()
        table = as_table(X)
        warn(quick(table.X, table.names), stacklevel=3)
        self._remember_names(X, table.names)
        self._preparation = Preparation.of(table.X, self.scale)
        data = self._preparation.apply(table.X)
        self._read_out(self._learn(data))
        self.residuals_ = np.asarray(data - self._fitted(data), np.float32)
        return self

    def _fitted(self, data: NDArray[Any]) -> NDArray[Any]:
        """Every variable as predicted from its parents, all in prepared units."""
        fitted: NDArray[Any] = data @ self.adjacency_
        return fitted

    def _fitted_column(self, data: NDArray[Any], v: int) -> NDArray[Any]:
        """One column of :meth:`_fitted`."""
        fitted: NDArray[Any] = data @ column(self.adjacency_, v)
        return fitted

    def _remember_names(self, X: Any, names: list[str]) -> None:
        self.n_features_in_ = len(names)
        if not isinstance(X, np.ndarray | list | tuple):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read_out(self, learnt: Learnt) -> None:
        """Turn what was learnt into fitted attributes; arcs against the order are dropped."""
        self.stopped_ = learnt.stopped
        for name, value in learnt.extra.items():
            setattr(self, name, value)
        raw = isolated(learnt.raw_weights, self._preparation.constant)
        if learnt.order is None:
            self._order = topological_order(drop_cycles(raw)[0])
        else:
            self._order = np.asarray(learnt.order)
        weights = agreeing(raw, self._order)
        if not sparse.issparse(raw):
            self.raw_weights_, self.weights_ = raw, weights
        strong = above(raw, self.threshold)
        self.adjacency_ = above(weights, self.threshold)
        self.was_cyclic_ = not is_dag(strong)
        self.dropped_arcs_ = count_arcs(strong) - count_arcs(self.adjacency_)

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
        return [names[place] for place in self._order]

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
        """The learnt graph as a sparse matrix: ``row`` → ``col`` with weight ``data``."""
        check_is_fitted(self, "adjacency_")
        return sparse.coo_array(self.adjacency_)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict every variable from its parents in ``adjacency_``.

        Parameters
        ----------
        X : table with the columns of the training data

        Returns
        -------
        (n, d) array
        """
        fitted = self._fitted(self._prepared(X))
        return self._preparation.undo(fitted)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean Gaussian log-likelihood, a row and variable, under ``adjacency_``.

        Error variances are those of the training data; constant columns are left out. Greater is
        better, so that scikit-learn's searches can use it.
        """
        data = self._prepared(X)
        varying = ~self._preparation.constant
        squares = (data - self._fitted(data))[:, varying] ** 2
        variances = np.mean(self.residuals_[:, varying].astype(np.float64) ** 2, axis=0)
        # A column that others give exactly, a copy say, has no error; single precision has.
        variances = np.maximum(variances, float(np.finfo(np.float32).eps) ** 2)
        likelihood = -0.5 * (np.log(2 * np.pi * variances) + squares / variances)
        return float(np.mean(likelihood - np.log(self._preparation.factors[varying])))

    def sample(self, n: int, random_state: int | None = None) -> NDArray[np.float64]:
        """Draw n new rows: noise from the training residuals, pushed through ``adjacency_``."""
        check_is_fitted(self, "adjacency_")
        random = np.random.default_rng(random_state)
        d = self.n_features_in_
        rows = random.integers(len(self.residuals_), size=(n, d))
        values = self.residuals_[rows, np.arange(d)].astype(np.float64)
        for v in self._order:
            values[:, v] += self._fitted_column(values, v)
        return self._preparation.undo(values)

    def equivalence_class(self) -> NDArray[np.bool_]:
        """Essential graph of ``adjacency_``: arrows no reordering could reverse, and the others.

        True at [u, v] alone is an arrow that every graph with the same conditional independences
        has; true at [u, v] and [v, u] is one whose direction rests on the model, not on them.
        """
        check_is_fitted(self, "adjacency_")
        return essential_graph(self.adjacency_)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the fitted model to one file; ``cosmodag.load`` reads it again."""
        check_is_fitted(self, "adjacency_")
        fitted = vars(self)
        arrays = {
            **as_arrays(self.raw_weights_ if hasattr(self, "raw_weights_") else self.adjacency_),
            "order": self._order,
            "residuals_": self.residuals_,
            **self._preparation.arrays(),
            **{
                name: value
                for name, value in fitted.items()
                if name in self._extra_arrays and value is not None
            },
        }
        facts = {
            "learner": type(self).__name__,
            "parameters": self.get_params(deep=False),
            "names": None if "feature_names_in_" not in fitted else list(self.feature_names_in_),
            "stopped": self.stopped_,
            "extra": {name: fitted[name] for name in self._extra_facts if name in fitted},
        }
        write_model(path, arrays, facts)

    _extra_arrays: tuple[str, ...] = ()
    _extra_facts: tuple[str, ...] = ()

    def _restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """Set the fitted attributes that :meth:`save` wrote."""
        self.n_features_in_ = len(arrays["order"])
        if facts["names"] is not None:
            self.feature_names_in_ = np.array(facts["names"], dtype=object)
        self._preparation = Preparation.from_arrays(arrays)
        self.residuals_ = arrays["residuals_"]
        extra = {name: arrays[name] for name in self._extra_arrays if name in arrays}
        extra.update(facts["extra"])
        self._read_out(Learnt(from_arrays(arrays), arrays["order"], facts["stopped"], extra))

    def _prepared(self, X: Any) -> NDArray[np.float64]:
        """Check new data against the training data's columns and prepare it alike."""
        check_is_fitted(self, "adjacency_")
        table = as_table(X)
        if len(table.names) != self.n_features_in_:
            raise DataError(
                f"The table has {len(table.names)} columns, but the model was fitted on "
                f"{self.n_features_in_}."
            )
        known = getattr(self, "feature_names_in_", None)
        if known is not None and not isinstance(X, np.ndarray | list | tuple):
            for place, (given, name) in enumerate(zip(table.names, known, strict=True)):
                if given != name:
                    raise DataError(
                        f"Column {place} is '{given}', but the model was fitted on '{name}' there: "
                        "give the columns in the same order."
                    )
        return self._preparation.apply(table.X).astype(np.float64)
