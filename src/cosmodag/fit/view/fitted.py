"""Methods and attributes that every fitted learner has."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cosmodag.fit.checks import refuse_lags
from cosmodag.fit.dag.equations import FittedEquations
from cosmodag.fit.time.unroll import InTime
from cosmodag.fit.time.view import TimeSeriesView
from cosmodag.graph.equivalence import EquivalenceClass
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.io.tables.foreign import labelled, like_table

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import pandas as pd

    from cosmodag.data.diagnose import Finding

Floats = NDArray[np.float64]


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


class FittedGraph(TimeSeriesView, BaseEstimator):  # type: ignore[misc]
    """Base of all learners: attributes and methods that need ``fitted_`` only."""

    stopped_: str | None
    findings_: "list[Finding]"
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    raw_weights_: Floats
    was_cyclic_: bool
    dropped_arcs_: int
    missing_report_: dict[str, Any]
    noise_scores_: dict[str, float]
    refine_report_: list[dict[str, Any]]

    order_: OfDAG = OfDAG("order")
    adjacency_: OfDAG = OfDAG("adjacency")
    weights_: OfDAG = OfDAG("weights")
    preparation_: OfDAG = OfDAG("preparation")
    known_: OfDAG = OfDAG("known")
    knowledge_: OfDAG = OfDAG("knowledge", may_be_none=True)
    target_sets_: OfDAG = OfDAG("target_sets")
    kinds_: OfDAG = OfDAG("kinds")
    regimes_: OfDAG = OfDAG("regimes")
    noise_: OfDAG = OfDAG("noise")
    noise_reason_: OfDAG = OfDAG("noise_reason")
    residuals_: OfDAG = OfDAG("residuals")
    noise_variances_: OfDAG = OfDAG("noise_variances")
    deviations_: OfDAG = OfDAG("deviations")
    turning_losses_: OfDAG = OfDAG("turning_losses")

    extra_arrays: ClassVar[tuple[str, ...]] = ()
    """Names of further fitted attributes that are arrays; they are saved too."""

    extra_facts: ClassVar[tuple[str, ...]] = ()
    """Names of further fitted attributes that are plain values; they are saved too."""

    takes_levels: ClassVar[bool] = False
    """Whether categories of more than two levels can be learnt from."""

    # Whether the order that is learnt depends on units, as that of squared errors does.
    _order_from_units: ClassVar[bool] = True

    @property
    def is_linear(self) -> bool:
        """Whether the equations of variables are linear, so that regressions may replace them."""
        return True

    def order_follows_units(self, noise: str | None) -> bool:
        """Whether the order depends on units; an order found under a noise model does not."""
        return self._order_from_units and noise is None

    def decided(self) -> dict[str, Any]:
        """Parameters that fix what the fit decided, so that resamples do not decide again."""
        return {}

    def equations_from(self, arrays: dict[str, NDArray[Any]]) -> FittedEquations:
        """Rebuild the equations of a saved fit from what their ``arrays`` gave."""
        from cosmodag.fit.files.dag import equations_from

        return equations_from(arrays, {})

    @property
    def causal_order_(self) -> list[Any]:
        """Names, or numbers, of the variables, causes first."""
        names = self.names_
        return [names[place] for place in self._dag.order]

    @property
    def edges_(self) -> sparse.coo_array:
        """The learnt graph as a sparse matrix: ``row`` → ``col`` with weight ``data``.

        An arc that knowledge requires is there even if its weight is zero.
        """
        return self._dag.edges.copy()

    @property
    def arrow_basis_(self) -> list[str]:
        """What the direction of each arc of ``edges_`` rests on, in the same order.

        The first of these that holds. ``"time"``: with `lags`, the cause comes earlier.
        ``"knowledge"``: knowledge excludes the reverse.
        ``"interventions"``: one end of it was set in some rows in which the other was not, which
        shows in which direction influence passes. ``"intervention (found target)"``: likewise, in a
        regime whose targets were found and not stated (``targets_``). ``"shape of the graph"``:
        every graph with the same conditional independences has the arrow; it is as sure as the arcs
        around it. ``"weak evidence"``: likewise, but turning it costs the Gaussian score less than
        5 (``turning_losses_``). Knowledge and interventions again, for arrows that follow from
        those by Meek's rules. Otherwise what was assumed of the noise: ``"equal variances"`` or
        ``"non-Gaussianity"``; ``"scale of the columns"`` where the order follows the units; or
        nothing in the data, a ``"free choice"``.
        """
        return list(self._dag.arrow_basis)

    def predict(
        self, X: Any, do: "Mapping[Any, Any] | None" = None, *, series: Any = None, time: Any = None
    ) -> Any:
        """Predict every variable from its parents in ``adjacency_``.

        With `lags`, each row is predicted from the rows before it alone, one step ahead; it is NaN
        where these are missing.

        Parameters
        ----------
        X : table with the columns of the training data
        do : mapping, optional
            Variables that are set from outside, and to what: a number or label, or one for each
            row. Their descendants are predicted from predicted parents.
        series, time : optional
            With `lags`, as for ``fit``; by default the columns named there, if X has them.

        Returns
        -------
        (n, d) array, or data frame if X is one; levels are numbers in an array, labels in a frame
        """
        dag = self._dag
        if dag.window is not None:
            return self._predict_ahead(X, do, InTime.like(dag.window, X, series, time))
        if do is None:
            return like_table(dag.predict(X), X, dag.names, dag.kinds)
        from cosmodag.assess.effects.slopes import predict_set

        return like_table(predict_set(dag, X, do), X, dag.names, dag.kinds)

    def score(
        self, X: Any, y: Any = None, *, interventions: Any = None, regimes: Any = None
    ) -> float:
        """Mean Gaussian log-likelihood, per row and variable, under ``adjacency_``.

        Error variances are those of the training data. Constant columns are left out (a table
        without others has the score zero), and so are values that were set, which `interventions`
        names as for ``fit``. If `regimes` gives the regime of each row, targets have their own
        equations. Greater is better, so that scikit-learn's searches can use it.
        """
        return self._dag.score(X, interventions, regimes)

    def log_likelihoods(self, X: Any) -> Floats:
        """Log-likelihood of every entry of columns that have noise; Gaussian, except for levels."""
        return self._dag.log_likelihoods(X)

    def sample(
        self, n: int, random_state: int | None = None, *, do: "Mapping[Any, Any] | None" = None
    ) -> "Floats | pd.DataFrame":
        """Draw n new rows: noise from the training residuals, pushed through ``adjacency_``.

        A model that was loaded without its residuals draws from normal distributions of their
        variances instead. With `lags` the rows are successive times of one series.

        Parameters
        ----------
        n : int
        random_state : int, optional
        do : mapping, optional
            Variables that are set from outside, and to what: a number or label, or one for each
            row.

        Returns
        -------
        (n, d) array, or pandas data frame if the training data had names; levels are numbers in an
        array, labels in a frame
        """
        dag = self._dag
        if dag.window is not None:
            return self._sample_path(n, random_state, do)
        if do is None:
            drawn = dag.sample(n, random_state)
        else:
            from cosmodag.assess.inputs import values_set

            drawn = dag.sample(n, random_state, values_set(dag.names, do, n, dag.kinds))
        if dag.columns is None:
            return drawn
        import pandas as pd

        return labelled(pd.DataFrame(drawn, columns=dag.names), dag.kinds)

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
        ``∘–∘`` (open). Computed on first use, from the graph and the training data; see
        ``docs/hidden_causes.md``.
        """
        refuse_lags(self, "pag_", "cpdag_ gives the class, as if nothing were hidden")
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
        from cosmodag.fit.files.saved import save

        check_is_fitted(self, "fitted_")
        save(self, path, residuals=residuals)

    def prepared(self, X: Any) -> Floats:
        """Check the columns of new data, and prepare it like the training data."""
        return self._dag.prepared(X)

    def training_data(self) -> Floats:
        """Recover the training data, prepared, from the residuals."""
        return self._dag.training_data()
