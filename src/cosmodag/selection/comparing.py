"""Comparison of learners on one table."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from cosmodag.assess.bootstrapping.resample_fits import quiet_clone
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
    interventions: Any = None,
    random_state: Any = 0,
    verbose: bool = True,
) -> "pd.DataFrame":
    """Rank learners on a table by held-out likelihood.

    Parameters
    ----------
    learners : sequence of learners, or mapping of names to learners
        Not changed.
    X : table
    folds : int
        Number of folds of the cross-validation; all learners have the same folds.
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of learners whose random state is None.
    interventions, verbose
        As for :func:`cosmodag.assess.bootstrapping.bootstrap`.

    Returns
    -------
    DataFrame
        One row for each learner, the best first: ``held_out``, the mean log-likelihood per row and
        variable (:func:`cosmodag.selection.held_out`); ``behind``, that of the best learner minus
        this, and ``error``, the standard error of that difference over folds; ``arcs``, the number
        of arcs found in the whole table, and ``seconds``, the time of that fit. Learners within two
        errors of the best are equally good by this measure: prior knowledge, or the stability of
        their arcs (:func:`cosmodag.bootstrap`), may decide.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, OrderSearch, VarianceSort, simulate
    >>> data = simulate.load("n300_d6_ER2_gauss", seed=0)
    >>> ranked = compare([EmptyGraph(), OrderSearch(), VarianceSort()], data.X)
    >>> list(ranked.columns)
    ['held_out', 'behind', 'error', 'arcs', 'seconds']
    >>> ranked.index[-1]
    'EmptyGraph()'
    """
    import pandas as pd

    (seed,) = seeds_from(random_state, 1)
    named = _named(learners)
    scores: dict[str, Any] = {}
    rows: dict[str, dict[str, float]] = {}
    for name, learner in named.items():
        model = quiet_clone(learner, verbose)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=seed)
        scores[name] = held_out(
            model, X, folds=folds, interventions=interventions, random_state=seed
        )
        begin = time.perf_counter()
        whole = clone(model).fit(X, interventions=interventions)
        seconds = time.perf_counter() - begin
        rows[name] = {"arcs": int(whole.edges_.nnz), "seconds": seconds}
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
