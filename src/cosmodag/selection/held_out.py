"""Held-out likelihood: how well a learnt graph predicts rows that were not used in the fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.data.interventions import take_column
from cosmodag.errors import DataError
from cosmodag.fit.checks import check_count, refuse_lags, seeds_from
from cosmodag.fit.missing import complete
from cosmodag.fit.pipeline import FitTask, fit_prepared
from cosmodag.fit.prepare import prepare
from cosmodag.learners.base import StructureLearner

__all__ = ["held_out"]


def held_out(
    model: StructureLearner,
    X: Any,
    *,
    folds: int = 5,
    interventions: Any = None,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Gaussian log-likelihood of held-out rows, per row and variable: one number for each fold.

    The rows are divided at random into folds. For each fold the learner is fitted to the other
    folds, all fits in one batch, and evaluated on it. Linear and non-linear learners can be
    compared, and so can settings of one learner. All graphs of an equivalence class have the same
    Gaussian likelihood: it cannot evaluate directions that rest on non-Gaussian noise.

    Parameters
    ----------
    model : StructureLearner
        Not changed, fitted or not.
    X : table
    folds : int
    interventions : optional
        What was set in each row, as for ``fit``; such entries are not evaluated.
    random_state : int, Generator, RandomState or None
        Seed of the folds: the same number gives the same folds for every learner.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, OrderSearch, simulate
    >>> data = simulate.load("n300_d6_ER2_gauss", seed=0)
    >>> found = held_out(OrderSearch(random_state=0), data.X)
    >>> bool(np.all(found > held_out(EmptyGraph(), data.X)))
    True
    """
    check_count("folds", folds, low=2)
    refuse_lags(model, "held_out", "fit to early rows, and score later ones")
    X, entries = take_column(X, interventions)
    table, targets, *_ = complete(model, X, entries)
    n = len(table.X)
    if n < 2 * folds:
        raise DataError(f"{n} rows are too few for {folds} folds: give fewer folds.")
    (seed,) = seeds_from(random_state, 1)
    fold_of = np.random.default_rng(seed).permutation(n) % folds
    tasks = []
    for fold in range(folds):
        seen = fold_of != fold
        one, rows = clone(model), None if targets is None else targets[seen]
        tasks.append(FitTask(one, prepare(one, table.of_rows(seen), rows)))
    scores = []
    for fold, result in enumerate(fit_prepared(tasks, examine=False)):
        held = fold_of == fold
        likelihoods = result.dag.log_likelihoods(table.of_rows(held))
        if targets is not None:
            likelihoods = likelihoods[~targets[held][:, ~result.dag.preparation.constant]]
        scores.append(float(np.mean(likelihoods)))
    return np.array(scores)
