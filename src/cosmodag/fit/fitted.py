"""Methods and attributes that every fitted learner has."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cosmodag.fit.arcs import arc_table
from cosmodag.fit.equations import FittedEquations, LinearEquations
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.questions import Questions
from cosmodag.graph.equivalence import EquivalenceClass
from cosmodag.graph.mixed.pag import PartialAncestralGraph

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import networkx as nx
    import pandas as pd

    from cosmodag.data.diagnose import Finding

__all__ = ["FittedGraph", "OfDAG"]


class OfDAG:
    """Attribute of a learner that is read from its fitted DAG; absent if the DAG has none."""

    def __init__(self, path: str, *, may_be_none: bool = False) -> None:
        self._path, self._may_be_none = path, may_be_none

    def __get__(self, learner: Any, owner: Any = None) -> Any:
        if learner is None:
            return self
        dag = vars(learner).get("fitted_")
        value = None if dag is None else attrgetter(self._path)(dag)
        if dag is None or (value is None and not self._may_be_none):
            kind = type(learner).__name__
            raise AttributeError(f"This {kind} is not fitted, or it keeps no {self._path}.")
        return value

    def __set__(self, learner: Any, value: Any) -> None:
        # A value set on the learner would hide that of the fit.
        raise AttributeError(f"{self._path} is part of a fit, which cannot be changed in place.")


class FittedGraph(Questions, BaseEstimator):  # type: ignore[misc]
    """Base of all learners: attributes and methods that need ``fitted_`` only."""

    fitted_: FittedDAG
    stopped_: str | None
    findings_: "list[Finding]"
    n_features_in_: int

    order_ = OfDAG("order")
    adjacency_ = OfDAG("adjacency")
    weights_ = OfDAG("weights")
    preparation_ = OfDAG("preparation")
    known_ = OfDAG("known")
    knowledge_ = OfDAG("knowledge", may_be_none=True)
    target_sets_ = OfDAG("target_sets")
    noise_ = OfDAG("noise")
    noise_reason_ = OfDAG("noise_reason")
    residuals_ = OfDAG("residuals")
    noise_variances_ = OfDAG("noise_variances")
    deviations_ = OfDAG("deviations")
    turning_losses_ = OfDAG("turning_losses")

    extra_arrays: ClassVar[tuple[str, ...]] = ()
    """Names of further fitted attributes that are arrays; they are saved too."""

    extra_facts: ClassVar[tuple[str, ...]] = ()
    """Names of further fitted attributes that are plain values; they are saved too."""

    # Whether the order that is learnt depends on units, as that of squared errors does.
    _order_from_units: ClassVar[bool] = True

    @property
    def is_linear(self) -> bool:
        """Whether the equations of variables are linear, so that regressions may replace them."""
        return True

    def order_follows_units(self, noise: str | None) -> bool:
        """Whether the order depends on units; one that refinement found for a noise does not."""
        return self._order_from_units and noise is None

    def equations_from(self, arrays: dict[str, NDArray[Any]]) -> FittedEquations:
        """Rebuild the equations of a saved fit from what their ``arrays`` gave."""
        return LinearEquations()

    @property
    def _dag(self) -> FittedDAG:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    @property
    def names_(self) -> list[Any]:
        """Column names, or column numbers where the data had no names."""
        return self._dag.names

    @property
    def causal_order_(self) -> list[Any]:
        """Names, or numbers, of the variables, causes first."""
        names = self.names_
        return [names[place] for place in self._dag.order]

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
        return self._dag.edges.copy()

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
        as the arcs around it. ``"weak evidence"``: likewise, but turning it costs the Gaussian
        score less than 5 (``turning_losses_``). ``"knowledge"`` and ``"interventions"`` again, for
        arrows that follow from those by Meek's rules. Otherwise what was assumed of the noise:
        ``"equal variances"`` or ``"non-Gaussianity"``; ``"scale of the columns"`` where the order
        follows the units; or nothing in the data, a ``"free choice"``.
        """
        return list(self._dag.arrow_basis)

    def predict(self, X: Any, do: "Mapping[Any, Any] | None" = None) -> NDArray[np.float64]:
        """Predict every variable from its parents in ``adjacency_``.

        Parameters
        ----------
        X : table with the columns of the training data
        do : mapping, optional
            Variables that are set from outside, and to what: a number, or one for each row. Their
            descendants are predicted from predicted parents.

        Returns
        -------
        (n, d) array
        """
        if do is None:
            return self._dag.predict(X)
        from cosmodag.assess.simulation import predict_set

        return predict_set(self._dag, X, do)

    def score(self, X: Any, y: Any = None, *, interventions: Any = None) -> float:
        """Mean Gaussian log-likelihood, per row and variable, under ``adjacency_``.

        Error variances are those of the training data; constant columns are left out, and a table
        of nothing else has a score of zero. So are values that were set, where `interventions` says
        so as for ``fit``. Greater is better, so that scikit-learn's searches can use it.
        """
        return self._dag.score(X, interventions)

    def log_likelihoods(self, X: Any) -> NDArray[np.float64]:
        """Gaussian log-likelihood of every entry of the columns that are not constant."""
        return self._dag.log_likelihoods(X)

    def sample(
        self, n: int, random_state: int | None = None, *, do: "Mapping[Any, Any] | None" = None
    ) -> NDArray[np.float64]:
        """Draw n new rows: noise from the training residuals, pushed through ``adjacency_``.

        A model that was loaded without its residuals draws from normal distributions of their
        variances instead.

        Parameters
        ----------
        n : int
        random_state : int, optional
        do : mapping, optional
            Variables that are set from outside, and to what: a number, or one for each row.
        """
        if do is None:
            return self._dag.sample(n, random_state)
        from cosmodag.assess.names import values_set

        return self._dag.sample(n, random_state, values_set(self.names_, do, n))

    @property
    def cpdag_(self) -> EquivalenceClass:
        """Class of graphs that the data cannot tell apart without assumptions on the noise.

        Its ``directed`` arrows are in every graph that has the same conditional independences,
        agrees with knowledge and passes influence as the interventions showed; ``undirected`` edges
        point one way in some of these graphs and the other way in others.
        """
        return EquivalenceClass.of(self.names_, self.equivalence_class())

    @property
    def pag_(self) -> PartialAncestralGraph:
        """Partial ancestral graph: what the data shows where causes may be hidden.

        Its edges are ``→`` (a cause), ``↔`` (a hidden common cause), ``∘→`` (one of both) and
        ``∘–∘`` (open). Computed when first asked for, from the graph and the training data; see
        ``docs/hidden_causes.md``.
        """
        return self._dag.pag

    def equivalence_class(self) -> Any:
        """Return ``cpdag_`` as a (d, d) matrix of bool, sparse if ``adjacency_`` is.

        True at [u, v] alone is an arrow of every graph of the class; true at [u, v] and [v, u] is
        an edge whose direction the class leaves open.
        """
        return self._dag.equivalence_class()

    def save(self, path: "str | os.PathLike[str]", *, residuals: bool = False) -> None:
        """Write the fitted model to one file; ``cosmodag.load`` reads it again.

        Parameters
        ----------
        path : path
        residuals : bool
            Also save the residuals of the training data, so that :meth:`sample` can draw from them.
            The training table can then be reconstructed from the file: use False for confidential
            data.
        """
        from cosmodag.fit.saved import save

        check_is_fitted(self, "fitted_")
        save(self, path, residuals=residuals)

    def report(
        self,
        path: "str | os.PathLike[str]",
        *,
        data: Any = None,
        bootstrap: Any = None,
        groups: "Mapping[Any, Any] | None" = None,
    ) -> None:
        """Write a report: one self-contained HTML file, see ``docs/report.md``.

        It shows the surest arcs and what they rest on, the graph, effects, arcs, weights, training,
        the diagnosis of the data, the choices with their reasons, and how to reproduce the fit. It
        contains no row of the data.

        Parameters
        ----------
        path : path
            The file to write.
        data : table, optional
            The training data, for the diagnosis and standard errors; only needed for a model that
            was loaded.
        bootstrap : object, optional
            A :class:`cosmodag.stability.BootstrapResult` of the same table.
        groups : mapping, optional
            Name of the group of each variable, which the page shows by colour. By default the tiers
            of the knowledge.
        """
        from cosmodag.report import Evidence, write_report

        check_is_fitted(self, "fitted_")
        run = None if groups is None else {"groups": groups}
        write_report(path, self, Evidence.of(self, data, bootstrap), run)

    def _repr_html_(self) -> str:
        """Draw the graph for a notebook; before the fit, what scikit-learn shows."""
        from sklearn.utils import estimator_html_repr

        from cosmodag.report.drawings.thumbnail import thumbnail

        if not hasattr(self, "fitted_"):
            return str(estimator_html_repr(self))
        return thumbnail(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        # scikit-learn's own would come before _repr_html_.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def prepared(self, X: Any) -> NDArray[np.float64]:
        """Check the columns of new data, and prepare it like the training data."""
        return self._dag.prepared(X)

    def training_data(self) -> NDArray[np.float64]:
        """Recover the training data, prepared, from the residuals."""
        return self._dag.training_data()
