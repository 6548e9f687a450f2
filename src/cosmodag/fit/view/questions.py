"""Questions about a fitted graph: effects, adjustment sets, bootstrap, validation."""

from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

from cosmodag.errors import DataError, name_list
from cosmodag.fit.input_checks import check_choice, refuse_lags
from cosmodag.fit.view.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from cosmodag.assess import Effect, Effects, ResampledFits, Validation
    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.fit.view.fitted import FittedGraph
    from cosmodag.learners.structure_learner import StructureLearner


class Questions(Shown):
    """Methods of fitted graphs that import `cosmodag.assess` on demand."""

    def effect(
        self,
        cause: Any,
        effect: Any,
        *,
        direct: bool = False,
        values: "Sequence[float | str] | None" = None,
        bootstrap: "int | ResampledFits | str | None" = "auto",
        level: float = 0.95,
        X: Any = None,
        interventions: Any = None,
    ) -> "Effect":
        """Estimate the effect of one variable on another: the change if the first is set.

        For linear equations it is a regression coefficient, adjusted for the optimal set
        (`adjustment_set`); for others, rows are simulated by the fitted equations. If graphs that
        fit equally well give different effects, the result has them all (``possible``), and the
        interval covers them all. See ``docs/effects.md``.

        Parameters
        ----------
        cause, effect : name of a column, or its number if the table had no names
        direct : bool
            Whether all other causes of `effect` are held fixed: the direct effect, not the total
            one.
        values : pair of float or str, optional
            The two values of the cause to compare, in its units, or two of its levels. By default
            they are one unit apart, about its mean; a category of more than two levels has no
            default.
        bootstrap : int, ResampledFits, "auto" or None
            Number of resamples of the rows to fit, for an interval that includes the uncertainty of
            the graph. Their fits are kept for later calls. ``"auto"``: 100 if all are fitted within
            five seconds (linear equations), otherwise None: an interval for this graph only, which
            is too short.
        level : float
            Coverage of the interval.
        X : table, optional
            The training data, for a model that was loaded without it.
        interventions : optional
            What was set in `X`, as for ``fit``.

        Returns
        -------
        Effect
            Printed as sentences.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from cosmodag import OrderSearch
        >>> random = np.random.default_rng(0)
        >>> rain, sun = random.normal(size=(2, 500))
        >>> growth = 2 * rain + sun + random.normal(size=500)
        >>> table = pd.DataFrame({"rain": rain, "sun": sun, "growth": growth})
        >>> model = OrderSearch(random_state=0).fit(table)
        >>> print(model.effect("rain", "growth", bootstrap=None))
        Raising rain by 1 raises growth by 2.03. The 95 % interval is 1.94 to 2.11 (standard errors,
        for this graph only). It is adjusted for sun. The directions rest on: shape of the graph
        (determined).
        """
        return self._effects(bootstrap, X, interventions).effect(
            cause, effect, direct=direct, values=values, level=level
        )

    def _effects(
        self, bootstrap: "int | ResampledFits | str | None", X: Any, interventions: Any
    ) -> "Effects":
        """Return the effects of the model; for its own training data they are cached."""
        from cosmodag.assess import Effects

        dag, model = self._dag, cast("FittedGraph", self)
        refuse_lags(self, "effect", "impulse_responses gives effects over time")
        kept = self._resamples(bootstrap, X, interventions)
        if X is not None:
            return Effects.of(model, X=X, interventions=interventions, resampled=kept)
        done = vars(self).get("_effects_")
        if done is None or done.dag is not dag or done.resampled is not kept:
            done = self._effects_ = Effects.of(model, resampled=kept)
        return done

    def _resamples(
        self, bootstrap: "int | ResampledFits | str | None", X: Any, interventions: Any
    ) -> "ResampledFits | None":
        """Fit resamples and keep them, or return those kept earlier; None if there are none.

        Fits that were kept are those of the training data, or of an equal table `X`.
        """
        from cosmodag.assess import ResampledFits, quick_resamples, refit_resamples

        if bootstrap is None or isinstance(bootstrap, ResampledFits):
            return bootstrap
        model = cast("FittedGraph", self)
        kept: ResampledFits | None = vars(self).get("_resampled_fits_")
        if kept is not None and X is not None and not kept.are_of(model, X, interventions):
            kept = None
        # With training data of its own, a model may also be asked about other tables.
        is_own = X is None or not hasattr(self, "residuals_")
        if isinstance(bootstrap, str):
            check_choice("bootstrap", bootstrap, ("auto",))
            if kept is not None or (is_own and vars(self).get("_no_quick_refits_")):
                return kept
            kept = quick_resamples(model, X=X, interventions=interventions)
        elif kept is None or kept.asked != bootstrap:
            kept = refit_resamples(model, bootstrap, X=X, interventions=interventions)
        if is_own:
            self._resampled_fits_, self._no_quick_refits_ = kept, kept is None
        return kept

    def take_graph(self, dag: "FittedDAG") -> None:
        """Store another graph of the same fit; delete what was computed from the one before."""
        for name in ("bootstrap_", "_resampled_fits_", "_effects_", "_arc_table_"):
            vars(self).pop(name, None)
        self._no_quick_refits_ = True  # refits would have the graph of the learner
        self.fitted_ = dag

    @property
    def effects_(self) -> "pd.DataFrame":
        """Total effects of a change by one unit of each variable (rows) on all others (columns).

        NaN if graphs that fit equally well give different effects (`effect` gives the range); zero
        if there is no directed path; one on the diagonal. Linear effects among more than 1,000
        variables are sums over paths of products of weights in the fitted graph, as sparse columns.
        """
        return self._effects(None, None, None).matrix()

    def bootstrap(self, X: Any, n: int = 200, **options: Any) -> "BootstrapResult":
        """Fit the learner to resamples of the rows, and count how often each edge is found.

        The result is kept: ``arcs_``, ``graph_``, ``summary`` and ``report`` then give ``p_edge``
        and ``p_direction``.

        Parameters
        ----------
        X : table
            The training data.
        n : int
            Number of resamples.
        **options
            As for :func:`cosmodag.assess.bootstrap`: ``interventions``, ``random_state``, …

        Returns
        -------
        BootstrapResult
        """
        from cosmodag.assess.bootstrapping import bootstrap

        dag = self._dag
        interventions = options.get("interventions")
        dag.ask_for_targets(options.get("regimes") if interventions is None else interventions)
        result = bootstrap(cast("StructureLearner", self), X, n, **options)
        are_named = dag.columns is not None and isinstance(result.names[0], str)
        if len(result.names) != dag.d or (are_named and result.names != dag.names):
            raise DataError(
                f"The table has the columns {name_list(list(map(str, result.names)), most=10)}, "
                f"but the model was fitted on {name_list(dag.texts, most=10)}: give the training "
                "data."
            )
        self.bootstrap_ = result
        return result

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
            If no directed path leads from cause to effect, or graphs of the equivalence class
            differ in the effect.
        """
        from cosmodag.assess.effects.possible import adjustment_set

        refuse_lags(self, "adjustment_set", "impulse_responses gives effects over time")
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
        max_time: float = 60.0,
        random_state: int = 0,
    ) -> "Validation":
        """Test whether the data contradict the graph; see ``docs/validate.md``.

        Independences that the graph implies are tested, with p-values corrected for their number.
        The graph is compared with graphs of shuffled names.

        Parameters
        ----------
        X : table, optional
            New rows, from which the graph was not learnt: the fair test. By default the training
            data, which favour the graph.
        interventions : optional
            What was set in `X`, as for ``fit``.
        split : float, optional
            Without new rows: hold out this fraction of the training rows, fit the learner to the
            others, and test that graph on the rows held out.
        test : {"auto", "partial-correlation", "residuals", "curved"}
            Test for linear relations with normal noise, for linear relations with any noise, or for
            relations of any shape; ``"auto"`` follows the assumptions of the model.
        level : float
            Probability that a correct graph is rejected.
        shuffles : int
            Number of graphs with shuffled names to compare with.
        max_time : float
            Seconds after which no further shuffles are tried.
        random_state : int

        Returns
        -------
        Validation
            Printed as a verdict in plain words.
        """
        from cosmodag.assess.validate import validate

        check_is_fitted(self, "fitted_")
        return validate(
            cast("FittedGraph", self),
            X,
            interventions=interventions,
            split=split,
            test=test,
            level=level,
            shuffles=shuffles,
            max_time=max_time,
            random_state=random_state,
        )
