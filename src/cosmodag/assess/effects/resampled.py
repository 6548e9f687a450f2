"""Fits to resamples of the rows, for intervals of effects."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from cosmodag.assess.bootstrapping.resample_fits import fit_resamples, rows_of
from cosmodag.assess.effects.mixed_graph import ClassView
from cosmodag.assess.effects.slopes import Covariance
from cosmodag.assess.question_inputs import given_table, training_table
from cosmodag.errors import CosmodagWarning, DataError
from cosmodag.fit.dag.known import Known
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import check_count, seeds_from
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.solve.watch import Watch

_SAMPLE = "bootstrap"
# Largest difference between values of one column, relative to its range.
_ROUNDING = 1e-5


RESAMPLES = 100
"""Number of resamples for the interval of an effect, unless another is asked for."""

# Seconds that these may take, and the largest number of variables for which they are tried.
_QUICK, _MOST_VARIABLES = 5.0, 200


class SlowRefits(DataError):
    """Resamples were not fitted in the given time."""


@dataclass(frozen=True, eq=False)
class ResampledFits:
    """Fits of one learner to resamples of the rows of one table.

    Attributes
    ----------
    dags
        Result of each fit.
    seeds
        Random seed of the rows of each resample.
    X
        (n, d): the table, centred, in its own units, with missing values filled in.
    known
        Which values were set by intervention, and which are missing.
    asked
        Number of resamples requested; fits that diverged are left out.
    """

    dags: tuple[FittedDAG, ...]
    seeds: tuple[int, ...]
    X: NDArray[np.float64]
    known: Known
    asked: int

    @property
    def source(self) -> str:
        """Source of intervals from these fits, in words."""
        return f"{len(self.dags)} fits to resamples of the rows"

    def are_of(self, model: FittedGraph, X: Any, interventions: Any) -> bool:
        """Whether the fits are those of a model to resamples of this table."""
        given = given_table(model, X, interventions)
        values = given.X * given.preparation.factors
        none = np.zeros(values.shape, np.bool_)
        mine, theirs = (
            none if known.targets is None else known.targets for known in (self.known, given.known)
        )
        if values.shape != self.X.shape or not np.array_equal(mine, theirs):
            return False
        # The training data of a fit are kept in single precision.
        differences = values - values.mean(axis=0) - (self.X - self.X.mean(axis=0))
        return bool(np.all(np.abs(differences) <= _ROUNDING * np.ptp(values, axis=0)))

    @cached_property
    def views(self) -> list[ClassView]:
        """Graph and equivalence class of each fit."""
        return [ClassView.of(dag) for dag in self.dags]

    @cached_property
    def covariances(self) -> list[Covariance]:
        """Covariance of each resample, for linear equations."""
        drawn = [rows_of(_SAMPLE, len(self.X), seed) for seed in self.seeds]
        return [
            Covariance.of_data(self.X[rows], self.known.of_resample(rows, dag.texts), dag.arcs)
            for rows, dag in zip(drawn, self.dags, strict=True)
        ]


def refit_resamples(
    model: FittedGraph,
    n: int,
    *,
    X: Any = None,
    interventions: Any = None,
    random_state: Any = 0,
    max_time: float | None = None,
    verbose: bool = True,
) -> ResampledFits:
    """Fit the learner of a model again, to resamples of its rows.

    The assumption about the noise that was chosen on the whole table is kept.

    Parameters
    ----------
    model : fitted learner
        It is not changed.
    n : int
        Number of resamples.
    X : table, optional
        The training data, for a model that was loaded without it.
    interventions : optional
        The interventions in `X`, as for ``fit``.
    random_state : int, Generator, RandomState or None
        Random seed.
    max_time : float, optional
        Seconds after which the refits are given up: `SlowRefits` is then raised.
    verbose : bool
        Whether to show progress on stderr if it is a terminal.
    """
    check_count("bootstrap", n, low=2)
    dag: Any = model.fitted_
    if dag.regimes is not None:
        raise DataError(
            "Effects have no bootstrap intervals after a fit with regimes: leave bootstrap out."
        )
    if X is not None and dag.window is None:
        dag.ask_for_targets(interventions)
    learner: Any = clone(model)
    learner.set_params(**model.decided())
    seeds = seeds_from(random_state, n)
    with ignoring(CosmodagWarning):  # the fit to the whole table has issued them already
        given = training_table(model) if X is None else given_table(model, X, interventions)
        with Watch(n, f"resamples of {type(model).__name__}", max_time, verbose) as watch:
            fits = fit_resamples(learner, given, seeds, _SAMPLE, watch, _keep_dag)
            found = dict(fits)
            if watch.stop == "time" and len(found) < n:
                raise SlowRefits(f"{n} resamples were not fitted within {max_time:g} s.")
    if not found:
        raise DataError(
            f"None of {n} resamples was fitted: all fits diverged or were stopped. Leave bootstrap "
            "out, or choose other settings."
        )
    places = sorted(found)
    return ResampledFits(
        tuple(found[place] for place in places),
        tuple(seeds[place] for place in places),
        given.X * given.preparation.factors,
        given.known,
        n,
    )


def quick_resamples(
    model: FittedGraph, *, X: Any = None, interventions: Any = None
) -> ResampledFits | None:
    """Refit a model to 100 resamples if this takes less than five seconds, None otherwise.

    Only linear equations are refitted: the effects of others are simulated in each fit, which takes
    longer. A graph that was given is not learnt again.
    """
    dag = model.fitted_
    has_rows = X is not None or dag.residuals is not None
    is_usual = dag.is_linear and dag.d <= _MOST_VARIABLES and dag.window is None
    if not (has_rows and is_usual) or dag.is_stated or dag.regimes is not None:
        return None
    if getattr(model, "stopped_", None) is not None:
        return None
    options = {"X": X, "interventions": interventions, "max_time": _QUICK, "verbose": False}
    try:
        return refit_resamples(model, RESAMPLES, **options)
    except SlowRefits:
        return None


def _keep_dag(place: int, dag: FittedDAG) -> tuple[int, FittedDAG]:
    """Keep a fit; of linear ones, only the graph, since the seed determines the rows."""
    if dag.is_linear:
        small = sparse.csr_array(dag.edges)
        dag = replace(dag, adjacency=small, weights=None, residuals=None, turning_losses=None)
    return place, dag
