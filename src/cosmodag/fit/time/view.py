"""Attributes and methods of fitted time series: window, summary graph, responses, forecasts."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cosmodag.data.kinds import matched
from cosmodag.data.time.lags import as_times
from cosmodag.errors import DataError
from cosmodag.fit.input_checks import check_count, check_level
from cosmodag.fit.time.paths import (
    drawn_path,
    expected_rows,
    forecast,
    lagged_weights,
    response_errors,
    responses,
)
from cosmodag.fit.time.unroll import InTime, checked_variables, unroll
from cosmodag.fit.view.questions import Questions
from cosmodag.graph.texts import counted
from cosmodag.io.tables.foreign import with_number_labels
from cosmodag.io.tables.frames import as_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import networkx as nx
    import pandas as pd

    from cosmodag.assess import ResampledFits
    from cosmodag.data.time.window import Window
    from cosmodag.fit.fitted_dag import FittedDAG

Floats = NDArray[np.float64]


class TimeSeriesView(Questions):
    """Attributes and methods of learners that were fitted with ``lags``; see ``docs/time.md``."""

    @property
    def window_(self) -> "Window":
        """Variables and lags of the window."""
        window = self._dag.window
        if window is None:
            kind = type(self).__name__
            raise AttributeError(f"This {kind} was fitted without lags, and has no window.")
        return window

    @property
    def window_graph_(self) -> "nx.DiGraph[Any]":
        """The learnt DAG: ``x`` and ``x[t-1]`` as nodes, each with its ``variable`` and ``lag``.

        All arcs lead into time t; the same arcs between earlier times are left out.
        """
        window, graph = self.window_, self.graph_
        for place, name in enumerate(window.columns):
            graph.nodes[name].update(variable=window.names[place % window.d], lag=place // window.d)
        return graph

    @property
    def summary_graph_(self) -> "nx.DiGraph[Any]":
        """Graph of the variables: edges for arcs at any lag, with their ``lags`` and ``weights``.

        It may have cycles and loops, since a may act on b and b later on a; ``window_graph_`` is
        acyclic.
        """
        import networkx as nx

        window, weights = self.window_, self.lagged_weights_
        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(window.names)
        edges = self._dag.edges
        present = np.zeros(weights.shape, np.bool_)
        present[edges.row // window.d, edges.row % window.d, edges.col] = True
        for u, v in np.argwhere(present.any(axis=0)).tolist():
            lags = np.flatnonzero(present[:, u, v]).tolist()
            graph.add_edge(
                window.names[u], window.names[v], lags=lags, weights=weights[lags, u, v].tolist()
            )
        return graph

    @property
    def lagged_weights_(self) -> Floats:
        """(k + 1, d, d): at [lag, u, v] the weight of the arc from u at t − lag to v at t."""
        _ = self.window_
        return lagged_weights(self._dag)

    def impulse_responses(self, horizon: int = 10, *, cumulative: bool = False) -> "pd.DataFrame":
        """Compute effects over time: changes of variables after one was raised once, by one unit.

        At the next time, the raised variable follows its own equation again. For equations that are
        not linear the changes are means over paths drawn from the model. A variable with two values
        changes from the lower to the upper one; categories have no responses (NaN).

        Parameters
        ----------
        horizon : int
            Number of times after the pulse.
        cumulative : bool
            Whether to give cumulative sums of the changes.

        Returns
        -------
        DataFrame
            A row for each ``cause`` and ``effect``, and a column for each time, starting at 0.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from cosmodag import OrderSearch
        >>> random = np.random.default_rng(0)
        >>> rain, river = random.normal(size=(2, 1000))
        >>> river[1:] += 0.8 * rain[:-1]
        >>> table = pd.DataFrame({"rain": rain, "river": river})
        >>> model = OrderSearch(lags=1, random_state=0).fit(table)
        >>> model.impulse_responses(2).loc[("rain", "river")].round(2).tolist()
        [0.0, 0.83, 0.0]
        """
        import pandas as pd

        names, found = self.window_.names, self._responses(self._dag, horizon, cumulative)
        pairs = pd.MultiIndex.from_product([names, names], names=["cause", "effect"])
        times = pd.RangeIndex(horizon + 1, name="time")
        return pd.DataFrame(found.reshape(horizon + 1, -1).T, pairs, times)

    def response_intervals(
        self,
        horizon: int = 10,
        *,
        cumulative: bool = False,
        bootstrap: "int | ResampledFits | None" = None,
        level: float = 0.95,
        X: Any = None,
    ) -> "pd.DataFrame":
        """Compute impulse responses with intervals.

        Parameters
        ----------
        horizon, cumulative
            As for `impulse_responses`.
        bootstrap : int or ResampledFits, optional
            Number of resamples, of blocks of successive rows, to fit for intervals that include the
            uncertainty of the graph. Their fits are kept for later calls. Without such fits,
            intervals follow from the standard errors of the equations, as if the graph were known,
            and are too short if it is not; equations that are not linear then have no intervals.
        level : float
            Coverage of the intervals.
        X : table, optional
            The training data, for a model that was loaded without it.

        Returns
        -------
        DataFrame
            A row for each ``cause``, ``effect`` and ``time``, with ``estimate``, ``low`` and
            ``high`` (NaN without an interval).

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from cosmodag import OrderSearch
        >>> random = np.random.default_rng(0)
        >>> rain, river = random.normal(size=(2, 1000))
        >>> river[1:] += 0.8 * rain[:-1]
        >>> model = OrderSearch(lags=1, random_state=0).fit(pd.DataFrame({"a": rain, "b": river}))
        >>> model.response_intervals(1).loc[("a", "b", 1)].round(2).to_dict()
        {'estimate': 0.83, 'low': 0.76, 'high': 0.89}
        """
        import pandas as pd

        names, found = self.window_.names, self._responses(self._dag, horizon, cumulative)
        check_level(level)
        if bootstrap is None and X is None:
            bootstrap = vars(self).get("_resampled_fits_")
        resampled = self._resamples(bootstrap, X, None)
        if resampled is not None:
            draws = [self._responses(one, horizon, cumulative) for one in resampled.dags]
            outside = (1 - level) / 2
            ends = np.quantile(draws, [outside, 1 - outside], axis=0)
            low, high = np.minimum(ends[0], found), np.maximum(ends[1], found)
        else:
            dag, errors = self._dag, np.full(found.shape, np.nan)
            has_data = dag.residuals is not None
            if dag.is_linear and dag.knows_targets and (has_data or X is not None):
                data = dag.training_data() if has_data else dag.prepared(X)
                errors = response_errors(dag, data, horizon, cumulative=cumulative)
            width = ndtri((1 + level) / 2) * errors
            low, high = found - width, found + width
        labels = [names, names, range(horizon + 1)]
        pairs = pd.MultiIndex.from_product(labels, names=["cause", "effect", "time"])
        columns = {"estimate": found, "low": low, "high": high}
        return pd.DataFrame(
            {name: part.transpose(1, 2, 0).ravel() for name, part in columns.items()}, pairs
        )

    @staticmethod
    def _responses(dag: "FittedDAG", horizon: int, cumulative: bool) -> Floats:
        check_count("horizon", horizon, low=0)
        found = responses(dag, horizon)
        return found.cumsum(axis=0) if cumulative else found

    def forecast(self, X: Any, steps: int = 1) -> Floats:
        """Predict the rows after the last row of a series, each from the rows before it.

        Parameters
        ----------
        X : table with the variables of the training data, in order of time
            At least as many rows as lags.
        steps : int
            Number of rows to predict.

        Returns
        -------
        (steps, d) array
        """
        check_count("steps", steps)
        window = self.window_
        X, by_row = InTime.like(window, X).taken_from(X)
        is_array = isinstance(X, np.ndarray | list | tuple)
        given = as_table(X, fewest_rows=1, declared=window.names)
        table = checked_variables(given, window, is_array)
        if len(table.X) < window.lags:
            raise DataError(
                f"A forecast needs the last {counted(window.lags, 'row')}, but X has "
                f"{len(table.X)}: give at least as many rows as lags."
            )
        if by_row.series is not None and len(set(by_row.series)) > 1:
            raise DataError("A forecast continues one series: give the rows of one series only.")
        rows = np.arange(len(table.X)) if by_row.time is None else np.argsort(as_times(by_row.time))
        known = matched(table, self._dag.kinds[: window.d])
        return forecast(self._dag, known[rows[-window.lags :]], steps)

    def _predict_ahead(self, X: Any, do: "Mapping[Any, Any] | None", in_time: InTime) -> Floats:
        """Predict each row from the rows before it; NaN if these are missing."""
        from cosmodag.fit.dag.by_kind import EquationsByKind

        window = self.window_
        found = unroll(X, window.lags, in_time, trained_on=window)
        past = matched(found.table, self._dag.kinds)[:, window.d :]
        usable = np.ones(len(past), np.bool_)
        if isinstance(self._dag.equations, EquationsByKind):  # NaN is not a level
            usable = ~np.isnan(past).any(axis=1)
        rows = found.rows[usable]
        held = {v: values[rows] for v, values in values_held(self._dag, do, found.n).items()}
        predicted = np.full((found.n, window.d), np.nan)
        predicted[rows] = expected_rows(self._dag, past[usable], held)
        return with_number_labels(predicted, self._dag.kinds[: window.d])

    def _sample_path(
        self, n: int, random_state: int | None, do: "Mapping[Any, Any] | None"
    ) -> Floats:
        """Draw n successive rows."""
        random = np.random.default_rng(random_state)
        path = drawn_path(self._dag, n, random, values_held(self._dag, do, n))
        return with_number_labels(path, self._dag.kinds[: path.shape[1]])


def values_held(
    dag: "FittedDAG", do: "Mapping[Any, Any] | None", n: int
) -> dict[int, NDArray[Any]]:
    """Check the values (n,) that variables are set to; those of a time series are set at time t."""
    if do is None:
        return {}
    from cosmodag.assess.question_inputs import values_set

    d = dag.d if dag.window is None else dag.window.d
    return values_set(dag.names[:d], do, n, dag.kinds[:d])
