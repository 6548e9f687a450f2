"""A fitted graph: what can be asked of every learner once it has learnt."""

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
from cosmodag.graph.equivalence import EquivalenceClass

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import networkx as nx
    import pandas as pd

    from cosmodag.assess import Effect, Effects, ResampledFits, Validation
    from cosmodag.data.diagnose import Finding

__all__ = ["FittedGraph", "OfDAG"]


class OfDAG:
    """Attribute of a learner that is one of its fitted DAG; absent where the DAG has none."""

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
        # Otherwise a value set on the learner would hide that of the fit.
        raise AttributeError(f"{self._path} is part of a fit, which cannot be changed in place.")


class FittedGraph(BaseEstimator):  # type: ignore[misc]
    """What can be asked of a learner once ``fit`` has set ``fitted_``: all of it is there."""

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
    """Names of the arrays among a learner's own fitted attributes: they are saved too."""

    extra_facts: ClassVar[tuple[str, ...]] = ()
    """Names of its own fitted attributes that are plain values."""

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
        return self._dag.edges

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
        return self._dag.arrow_basis

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

    def effect(
        self,
        cause: Any,
        effect: Any,
        *,
        direct: bool = False,
        values: "Sequence[float] | None" = None,
        bootstrap: "int | ResampledFits | None" = None,
        level: float = 0.95,
        X: Any = None,
        interventions: Any = None,
    ) -> "Effect":
        """Effect of one variable on another: by how much the second changes if the first is set.

        For linear equations it is a regression, adjusted for the optimal set (`adjustment_set`);
        for others rows are simulated through the fitted equations. Where graphs that fit equally
        well give different effects, all of them are given (``possible``), and the interval covers
        them all. See ``docs/effects.md``.

        Parameters
        ----------
        cause, effect : name of a column, or its number where the table had no names
        direct : bool
            The effect with all other causes of `effect` held fixed, in place of the total one.
        values : pair of float, optional
            The two values of the cause to compare, in its units. By default they are one unit
            apart, about its mean.
        bootstrap : int or ResampledFits, optional
            Fit so many resamples of the rows, for an interval that holds the uncertainty of the
            graph. They are kept and used for the next questions too. Without them the interval
            takes the graph as known, and is too short.
        level : float
            Of the interval.
        X : table, optional
            The training data, for a model that was loaded without it.
        interventions : optional
            What was set in `X`, as for ``fit``.

        Returns
        -------
        Effect
            Its text is the answer in plain words.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from cosmodag import OrderSearch
        >>> random = np.random.default_rng(0)
        >>> rain, sun = random.normal(size=(2, 500))
        >>> growth = 2 * rain + sun + random.normal(size=500)
        >>> table = pd.DataFrame({"rain": rain, "sun": sun, "growth": growth})
        >>> print(OrderSearch(random_state=0).fit(table).effect("rain", "growth"))
        Raising rain by 1 raises growth by 2.03. The 95 % interval is 1.94 to 2.11 (standard errors,
        as if the graph had been known). It is adjusted for sun. The directions rest on: shape of
        the graph.
        """
        return self._effects(bootstrap, X, interventions).effect(
            cause, effect, direct=direct, values=values, level=level
        )

    def _effects(
        self, bootstrap: "int | ResampledFits | None", X: Any, interventions: Any
    ) -> "Effects":
        """Collect what effects are computed from; resamples that were fitted are kept."""
        from cosmodag.assess import Effects, refit_resamples

        dag = self._dag
        kept = vars(self).get("_resampled_fits_")
        if isinstance(bootstrap, int) and (kept is None or kept.asked != bootstrap):
            kept = refit_resamples(self, bootstrap, X=X, interventions=interventions)
            self._resampled_fits_ = kept
        elif bootstrap is not None and not isinstance(bootstrap, int):
            kept = bootstrap
        if X is not None:
            return Effects.of(self, X=X, interventions=interventions, resampled=kept)
        done = vars(self).get("_effects_")
        if done is None or done.dag is not dag or done.resampled is not kept:
            done = self._effects_ = Effects.of(self, resampled=kept)
        return done

    @property
    def effects_(self) -> "pd.DataFrame":
        """Total effects of all variables (rows) on all others (columns), for one unit.

        NaN where graphs that fit equally well differ (`effect` gives the range); zero where no
        directed path leads from the one to the other; one on the diagonal. Above 1,000 variables
        they are products of weights over paths, sparse, in the fitted graph.
        """
        return self._effects(None, None, None).matrix()

    def adjustment_set(self, cause: Any, effect: Any, kind: str = "optimal") -> tuple[Any, ...]:
        """Variables to adjust for in a regression of `effect` on `cause`.

        Parameters
        ----------
        cause, effect : name of a column, or its number
        kind : {"optimal", "parents"}
            The set whose regression has the smallest variance (Henckel, Perković and Maathuis
            2022), or the parents of the cause.

        Raises
        ------
        DataError
            Where no directed path leads from cause to effect, or the class leaves the effect open.
        """
        from cosmodag.assess.effects import adjustment_set

        return adjustment_set(self._dag, cause, effect, kind)

    def validate(
        self,
        X: Any = None,
        *,
        interventions: Any = None,
        split: float | None = None,
        test: str = "auto",
        level: float = 0.01,
        shuffles: int = 100,
        subsets: int = 5,
        max_time: float = 60.0,
        random_state: int = 0,
    ) -> "Validation":
        """Test whether the graph is believable; see ``docs/validate.md``.

        Independences that the graph implies are tested, and the p-values corrected for their
        number. The graph is compared with graphs of shuffled names, and the learner is fitted to
        subsets of the columns, to see whether it agrees with itself.

        Parameters
        ----------
        X : table, optional
            New rows, which the graph was not learnt from: the honest test. By default the training
            data, which flatters the graph.
        interventions : optional
            What was set in `X`, as for ``fit``.
        split : float, optional
            Without new rows: hold out this share of the old ones, fit the learner to the others,
            and test that graph on the rows held out.
        test : {"auto", "partial-correlation", "residuals", "curved"}
            For linear relations with normal noise, linear ones with any noise, or relations of any
            shape; automatically what the model assumes.
        level : float
            Probability with which a right graph is rejected.
        shuffles : int
            Graphs with shuffled names to compare with.
        subsets : int
            Subsets of the columns to fit; 0 for none.
        max_time : float
            Seconds after which no more shuffles and subsets are tried.
        random_state : int

        Returns
        -------
        Validation
            Its text is the verdict in plain words.
        """
        from cosmodag.assess.validate import validate

        check_is_fitted(self, "fitted_")
        return validate(
            self,
            X,
            interventions=interventions,
            split=split,
            test=test,
            level=level,
            shuffles=shuffles,
            subsets=subsets,
            max_time=max_time,
            random_state=random_state,
        )

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
        return self._dag.equivalence_class()

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

        check_is_fitted(self, "fitted_")
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

        check_is_fitted(self, "fitted_")
        write_report(path, self, Evidence.of(self, data, bootstrap))

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
        """Check new data against the training data's columns and prepare it alike."""
        return self._dag.prepared(X)

    def training_data(self) -> NDArray[np.float64]:
        """Recover the training data, prepared, from the residuals."""
        return self._dag.training_data()
