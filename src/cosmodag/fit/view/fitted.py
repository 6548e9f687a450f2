"""Methods and attributes that every fitted learner has."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cosmodag.fit.dag.linear_equations import FittedEquations
from cosmodag.fit.input_checks import check_count, refuse_lags
from cosmodag.fit.time.unroll import InTime
from cosmodag.fit.time.view import TimeSeriesView, values_held
from cosmodag.fit.view.arcs import largest_first, standardised_weights
from cosmodag.graph.equivalence import EquivalenceClass
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.io.tables.foreign import labelled, like_table, with_number_labels

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from cosmodag.data.diagnose import Finding

Floats = NDArray[np.float64]


class OfDAG:
    """Attribute of a learner that is read from its fitted DAG; by default, missing if None."""

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
    """Base of all learners: the attributes and methods that need only ``fitted_``."""

    stopped_: str | None
    refinement_: str | None
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
    """Names of further fitted attributes that are arrays, and are saved."""

    extra_facts: ClassVar[tuple[str, ...]] = ()
    """Names of further fitted attributes that are plain values, and are saved."""

    takes_levels: ClassVar[bool] = False
    """Whether the learner takes unordered categories of three levels or more."""

    leaves_out_gross: ClassVar[bool] = False
    """Whether rows with a cell far outside its column take no part in a fit."""

    # Whether the learnt order depends on the units of the columns, as with squared errors.
    _order_from_units: ClassVar[bool] = True

    @property
    def is_linear(self) -> bool:
        """Whether the equations of variables are linear, so that regression can refit them."""
        return True

    def order_follows_units(self, noise: str | None) -> bool:
        """Whether the order depends on units; an order found under a noise model does not."""
        return self._order_from_units and noise is None

    def decides(self, d: int) -> bool:
        """Whether a fit to d variables makes a choice that resamples must not make again."""
        return False

    def decided(self) -> dict[str, Any]:
        """Parameters that fix the choices of the fit, so that resamples do not choose again."""
        return {}

    def equations_from(self, arrays: dict[str, NDArray[Any]]) -> FittedEquations:
        """Rebuild the equations of a saved fit from their ``arrays``."""
        from cosmodag.fit.files.dag import equations_from

        return equations_from(arrays, {})

    @property
    def causal_order_(self) -> list[Any]:
        """Names, or numbers, of the variables in causal order, causes first."""
        names = self.names_
        return [names[place] for place in self._dag.order]

    @property
    def edges_(self) -> sparse.coo_array:
        """The learnt graph as a sparse matrix: ``row`` → ``col`` with weight ``data``.

        It contains the arcs that knowledge requires, even with a weight of zero.
        """
        return self._dag.edges.copy()

    @property
    def arrow_basis_(self) -> list[str]:
        """Basis of the direction of each arc, in the order of ``arcs_``; see ``docs/arrows.md``.

        It is the first of these that applies: ``"stated"`` (the whole graph was given),
        ``"time"``, ``"knowledge"``, ``"interventions"``,
        ``"intervention (found target)"``, ``"shape of the graph"`` (``"weak evidence"`` if turning
        the arrow costs the Gaussian score less than 5), ``"curves"``; then the assumption about the
        noise, ``"equal variances"``, ``"non-Gaussianity"`` or ``"uneven noise"``; ``"scale of the
        columns"`` if the
        order follows the units; or ``"free choice"``, which nothing in the data supports.
        """
        return self._largest_first(self._dag.assertions.bases)

    @property
    def arrow_grades_(self) -> list[str]:
        """How firmly each direction may be asserted, in the order of ``arcs_``.

        ``"determined"`` under the stated assumptions, ``"weakly"`` or ``"open"``; see
        ``docs/arrows.md``.
        """
        return self._largest_first(self._dag.assertions.grades)

    def _largest_first(self, of_arcs: "Sequence[str]") -> list[str]:
        places = largest_first(standardised_weights(self), self.edges_.data)
        return [of_arcs[place] for place in places]

    def predict(
        self, X: Any, do: "Mapping[Any, Any] | None" = None, *, series: Any = None, time: Any = None
    ) -> Any:
        """Predict every variable from its parents in ``adjacency_``.

        With `lags`, each row is predicted one step ahead, from the rows before it alone; the
        prediction is NaN if these are missing.

        Parameters
        ----------
        X : table with the columns of the training data
        do : mapping, optional
            Variables that are set by an intervention, and their values: a number or label, or one
            for each row. Their descendants are predicted from predicted parents.
        series, time : optional
            With `lags`, as for ``fit``; by default the columns named there, if X has them.

        Returns
        -------
        (n, d) array, or data frame if X is one (with `lags`, always an array); levels whose labels
        are text are numbers in an array, and labels in a frame
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
        """Compute the mean log-likelihood, per row and variable, under ``adjacency_``.

        It is Gaussian, except for counts and levels, with the noise variances of the training data.
        Constant columns are left out (if all columns are constant, the score is zero), and so are
        values that were set, which `interventions` names as for ``fit``. If `regimes` gives the
        regime of each row, targets have their own equations. Greater is better, as scikit-learn's
        searches require.
        """
        return self._dag.score(X, interventions, regimes)

    def log_likelihoods(self, X: Any) -> Floats:
        """Compute the log-likelihood of every entry of columns that have noise.

        It is Gaussian, except for counts and levels.
        """
        return self._dag.log_likelihoods(X)

    def sample(
        self, n: int, random_state: int | None = None, *, do: "Mapping[Any, Any] | None" = None
    ) -> "Floats | pd.DataFrame":
        """Draw n new rows from the fitted equations, with noise from the training residuals.

        A model that was loaded without its residuals draws normal noise of their variances. With
        `lags` the rows are successive times of one series.

        Parameters
        ----------
        n : int
        random_state : int, optional
        do : mapping, optional
            Variables that are set by an intervention, and their values: a number or label, or one
            for each row.

        Returns
        -------
        (n, d) array, or pandas data frame if the training data had names; levels whose labels are
        text are numbers in an array, and labels in a frame. With `lags`, always an array.
        """
        dag = self._dag
        check_count("n", n, low=0)
        if dag.window is not None:
            return self._sample_path(n, random_state, do)
        drawn = dag.sample(n, random_state, values_held(dag, do, n))
        if dag.columns is None:
            return with_number_labels(drawn, dag.kinds)
        import pandas as pd

        return labelled(pd.DataFrame(drawn, columns=dag.names), dag.kinds)

    @property
    def cpdag_(self) -> EquivalenceClass:
        """Class of graphs that the data cannot distinguish without assumptions about the noise.

        Its ``directed`` arrows are in every graph that has the same conditional independences and
        agrees with knowledge and with the effects of interventions; ``undirected`` edges have one
        direction in some of these graphs, and the other direction in others.
        """
        return EquivalenceClass.of(self.names_, self._dag.equivalence_class())

    @property
    def pag_(self) -> PartialAncestralGraph:
        """Partial ancestral graph, for data with possible hidden causes.

        Its edges are ``→`` (a cause), ``↔`` (a hidden common cause), ``∘→`` (one of these two) and
        ``∘–∘`` (undecided). It is computed from the graph and the training data, on first use; see
        ``docs/hidden_causes.md``.
        """
        refuse_lags(self, "pag_", "cpdag_ gives the class, as if nothing were hidden")
        return self._dag.pag

    def equivalence_class(self) -> Any:
        """Return ``cpdag_`` as a (d, d) data frame of bool with the names of the variables.

        For very many variables it is a sparse matrix, as ``adjacency_`` is.

        True at [u, v] alone is an arrow of every graph of the class; true at [u, v] and [v, u] is
        an edge whose direction the class leaves open.
        """
        import pandas as pd

        marks, names = self._dag.equivalence_class(), self.names_
        return marks if sparse.issparse(marks) else pd.DataFrame(marks, index=names, columns=names)

    def save(self, path: "str | os.PathLike[str]", *, residuals: bool = False) -> None:
        """Write the fitted model to one file; ``cosmodag.load`` reads it again.

        Parameters
        ----------
        path : path
        residuals : bool
            Whether to save the residuals of the training data, so that :meth:`sample` can draw from
            them. The training table can then be reconstructed from the file: use False for
            confidential data.
        """
        from cosmodag.fit.files.saved import save

        check_is_fitted(self, "fitted_")
        save(self, path, residuals=residuals)

    def prepared(self, X: Any) -> Floats:
        """Check the columns of new data, and prepare the data like the training data."""
        return self._dag.prepared(X)

    def training_data(self) -> Floats:
        """Recover the prepared training data from the residuals."""
        return self._dag.training_data()
