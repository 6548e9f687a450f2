"""Comparison of learners, and of values of a parameter, on one table."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.assess.bootstrapping import BootstrapResult, bootstrap
from cosmodag.assess.bootstrapping.bootstrap_result import most_frequent
from cosmodag.assess.bootstrapping.resample_fits import quiet_clone
from cosmodag.data.knowledge import Bounds
from cosmodag.errors import DataError
from cosmodag.fit.input_checks import seeds_from
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.selection.criteria import held_out

if TYPE_CHECKING:
    import pandas as pd


def compare(
    learners: Sequence[StructureLearner] | Mapping[str, StructureLearner],
    X: Any,
    *,
    folds: int = 5,
    resamples: int = 10,
    interventions: Any = None,
    random_state: Any = 0,
    verbose: bool = True,
) -> "pd.DataFrame":
    """Rank learners on a table by held-out likelihood, and measure their stability.

    Parameters
    ----------
    learners : sequence of learners, or mapping of names to learners
        Not changed.
    X : table
    folds : int
        Number of folds of the cross-validation; all learners have the same folds.
    resamples : int
        Number of half-samples for stability, the same for all learners; 0 omits stability.
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of learners whose random state is None.
    interventions, verbose
        As for :func:`cosmodag.assess.bootstrapping.bootstrap`.

    Returns
    -------
    DataFrame
        One row for each learner, the best first: ``held_out``, the mean log-likelihood per row and
        variable (:func:`cosmodag.selection.held_out`); ``behind``, that of the best learner minus
        this, and ``error``, the standard error of that difference over folds; ``stability``, the
        fraction of the arcs of one half-sample that are found in another; ``arcs``, the number of
        arcs found in the whole table, and ``seconds``, the time of that fit. Learners within two
        errors of the best are equally good by this measure: stability, or prior knowledge, may
        decide.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, OrderSearch, VarianceSort, simulate
    >>> data = simulate.load("n300_d6_ER2_gauss", seed=0)
    >>> ranked = compare([EmptyGraph(), OrderSearch(), VarianceSort()], data.X, resamples=4)
    >>> list(ranked.columns)
    ['held_out', 'behind', 'error', 'stability', 'arcs', 'seconds']
    >>> ranked.index[-1]
    'EmptyGraph()'
    """
    import pandas as pd

    (seed,) = seeds_from(random_state, 1)
    named = _named(learners)
    scores, rows = {}, {}
    for name, learner in named.items():
        model = quiet_clone(learner, verbose)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=seed)
        scores[name] = held_out(
            model, X, folds=folds, interventions=interventions, random_state=seed
        )
        rows[name] = _facts(model, X, resamples, interventions, seed, verbose)
    best = scores[max(scores, key=lambda name: scores[name].mean())]
    for name, found in scores.items():
        behind = best - found
        rows[name] = {
            "held_out": found.mean(),
            "behind": behind.mean(),
            "error": behind.std(ddof=1) / np.sqrt(folds),
            **rows[name],
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.sort_values("held_out", ascending=False, kind="stable")


def agreement(result: BootstrapResult) -> float:
    """Compute the fraction of the arcs of one resample that are found in another.

    It is Σ c (c − 1) / ((m − 1) Σ c) for arcs found in c of m resamples, and 1 without any arc.
    """
    m = len(result.done)
    counts = result.arc_probabilities * m
    if m < 2 or not counts.any():
        return 1.0
    return float(np.sum(counts * (counts - 1)) / ((m - 1) * np.sum(counts)))


def _named(
    learners: Sequence[StructureLearner] | Mapping[str, StructureLearner],
) -> dict[str, StructureLearner]:
    if isinstance(learners, Mapping):
        named = dict(learners)
    else:
        named = {}
        for learner in learners:
            name = " ".join(repr(learner).split())
            if name in named:
                raise DataError(f"{name} is listed twice: give a mapping with distinct names.")
            named[name] = learner
    if not named:
        raise DataError("There is no learner to compare: give at least one.")
    return named


def _facts(
    model: StructureLearner, X: Any, resamples: int, interventions: Any, seed: int, verbose: bool
) -> dict[str, float]:
    """Measure stability, number of arcs, and seconds of one learner."""
    stability = float("nan")
    if resamples:
        found = bootstrap(
            model,
            X,
            resamples,
            sample="half",
            interventions=interventions,
            random_state=seed,
            verbose=verbose,
        )
        stability = agreement(found)
    begin = time.perf_counter()
    whole = clone(model).fit(X, interventions=interventions)
    seconds = time.perf_counter() - begin
    return {"stability": stability, "arcs": int(whole.edges_.nnz), "seconds": seconds}


@dataclass(frozen=True, eq=False)
class StabilitySelection:
    """Frequency of each arc, at each value of a parameter.

    Attributes
    ----------
    parameter, values
        The parameter, and its values.
    names
        Names of the variables.
    probabilities
        (values, d, d): fraction of the half-samples in which the arc u → v was found.
    bounds
        Arcs that may and must exist by knowledge, and the known partial order; None without
        knowledge, and if it is the parameter.
    """

    parameter: str
    values: list[Any]
    names: list[Any]
    probabilities: NDArray[np.float64]
    bounds: Bounds | None = None

    @property
    def highest(self) -> NDArray[np.float64]:
        """(d, d): the highest probability over all values."""
        return np.asarray(self.probabilities.max(axis=0))

    def graph(self, threshold: float = 0.75) -> NDArray[np.bool_]:
        """Build an acyclic graph of the arcs with at least this probability at some value.

        Arcs are inserted by falling probability, except those that would close a cycle, or
        contradict a known order.
        """
        return most_frequent(self.highest, threshold, self.bounds)

    def expected_false(self, threshold: float = 0.75) -> float:
        """Bound the expected number of false arcs above a threshold greater than one half.

        The bound is q² / ((2π − 1) p) for a threshold π, p possible arcs, and q arcs found on
        average at any of the values (Meinshausen and Bühlmann 2010). Here q is the sum of the
        highest probabilities, as if the arcs found at one value were among those at another. The
        bound assumes that false arcs are exchangeable, which holds for graphs only approximately.
        """
        if not 0.5 < threshold <= 1:
            raise DataError(
                f"threshold is {threshold!r}: for the bound it must be above 0.5, and at most 1."
            )
        d = len(self.names)
        return float(self.highest.sum()) ** 2 / ((2 * threshold - 1) * d * (d - 1))


def stability_selection(
    model: StructureLearner,
    X: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    n: int = 50,
    interventions: Any = None,
    random_state: Any = 0,
    verbose: bool = True,
) -> StabilitySelection:
    """Count how often each arc is found in half-samples, for several values of a parameter.

    No single penalty has to be chosen: arcs that are frequent at some penalty are selected.

    Parameters
    ----------
    model : StructureLearner
        Not changed.
    X : table
    parameter : str
        A parameter of the model, such as ``"lambda1"`` or ``"threshold"``.
    values : sequence
        Values of the parameter.
    n : int
        Number of half-samples for each value, the same for all values.
    interventions, random_state, verbose
        As for :func:`cosmodag.assess.bootstrapping.bootstrap`.

    Examples
    --------
    >>> from cosmodag import Dagma, simulate
    >>> data = simulate.load("n300_d6_ER2_gauss", seed=0)
    >>> found = stability_selection(Dagma(), data.X, "lambda1", [0.02, 0.2], n=4, random_state=0)
    >>> found.probabilities.shape
    (2, 6, 6)
    """
    if parameter not in model.get_params():
        raise DataError(
            f"parameter is {parameter!r}, which {type(model).__name__} does not have: it has "
            f"{', '.join(model.get_params())}."
        )
    if not len(values):
        raise DataError("values is empty: give the values of the parameter to try.")
    # One number for all values, whose half-samples are then the same.
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**32))
    elif not isinstance(random_state, int | np.integer):
        (random_state,) = seeds_from(random_state, 1)
    found = [
        bootstrap(
            clone(model).set_params(**{parameter: value}),
            X,
            n,
            interventions=interventions,
            sample="half",
            random_state=random_state,
            verbose=verbose,
        )
        for value in values
    ]
    shares = np.stack([result.arc_probabilities for result in found])
    bounds = None if parameter == "knowledge" else found[0].bounds
    return StabilitySelection(parameter, list(values), found[0].names, shares, bounds)
