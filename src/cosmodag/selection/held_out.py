"""Held-out likelihood: how well a learnt graph predicts rows that it has not seen."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.data.interventions import take_column
from cosmodag.errors import DataError
from cosmodag.fit.checks import check_count, seeds_from
from cosmodag.fit.missing import complete
from cosmodag.io.frames import Table
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

    The rows are dealt into folds; the learner is fitted to all but one of them and asked for the
    one left out, in turn. Lines and networks are compared by it on equal terms, and so are settings
    of one learner. Graphs of one equivalence class have one likelihood: it does not tell directions
    that rest on non-Gaussian noise.

    Parameters
    ----------
    model : StructureLearner
        Not changed, fitted or not.
    X : table
    folds : int
    interventions : optional
        What was set in each row, as for ``fit``; such entries are not asked for.
    random_state : int, Generator, RandomState or None
        Deals the rows: the same number deals alike for every learner.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, OrderSearch, simulate
    >>> data = simulate.load("n300_d6_ER2_gauss", seed=0)
    >>> found = held_out(OrderSearch(random_state=0), data.X)
    >>> bool(np.all(found > held_out(EmptyGraph(), data.X)))
    True
    """
    check_count("folds", folds, low=2)
    X, entries = take_column(X, interventions)
    table, targets, *_ = complete(model, X, entries)
    n = len(table.X)
    if n < 2 * folds:
        raise DataError(f"{n} rows are too few for {folds} folds: give fewer folds.")
    (seed,) = seeds_from(random_state, 1)
    fold_of = np.random.default_rng(seed).permutation(n) % folds
    scores = []
    for fold in range(folds):
        seen, held = fold_of != fold, fold_of == fold
        one = clone(model)
        rows = None if targets is None else targets[seen]
        one.fit(Table(table.X[seen], table.names), interventions=rows)
        likelihoods = one.log_likelihoods(Table(table.X[held], table.names))
        if targets is not None:
            likelihoods = likelihoods[~targets[held][:, ~one.preparation_.constant]]
        scores.append(float(np.mean(likelihoods)))
    return np.array(scores)
