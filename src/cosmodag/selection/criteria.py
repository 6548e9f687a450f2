"""Criteria for model choice: held-out likelihood, extended BIC, graphs at other thresholds."""

import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from cosmodag.data.interventions import never_free, take_column, targets_of
from cosmodag.errors import DataError, DataWarning
from cosmodag.fit.dag.known import Known
from cosmodag.fit.input_checks import check_count, check_number, refuse_lags, seeds_from
from cosmodag.fit.missing import complete
from cosmodag.fit.pipeline import FitTask, fit_prepared
from cosmodag.fit.prepare import prepare
from cosmodag.fit.settle import chosen_arcs
from cosmodag.fit.time.unroll import as_windows
from cosmodag.graph.texts import counted
from cosmodag.learners.regression import regress_on_predecessors
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.runtime.warning_filters import ignoring


def held_out(
    model: StructureLearner,
    X: Any,
    *,
    folds: int = 5,
    interventions: Any = None,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Compute the Gaussian log-likelihood of held-out rows, per row and variable, for each fold.

    The rows are divided at random into folds. The learner is evaluated on each fold after a fit to
    the other folds; all fits are one batch. Missing values are treated once, before the division,
    and imputed ones are not evaluated. Linear and non-linear learners can be compared, and
    settings of one learner. All graphs of an equivalence class have the same Gaussian likelihood,
    which thus cannot evaluate directions that rest on non-Gaussian noise.

    Parameters
    ----------
    model : StructureLearner
        Not changed, fitted or not.
    X : table
    folds : int
        Number of folds.
    interventions : optional
        What was set in each row, as for ``fit``; these entries are not evaluated.
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
    is_named = not isinstance(X, np.ndarray | list | tuple)
    whole = complete(model, X, entries)._replace(is_named=is_named)
    n = len(whole.table.X)
    if n < 2 * folds:
        raise DataError(
            f"The table has too few rows ({n:,}) for {folds} folds: give fewer folds, or more rows."
        )
    (seed,) = seeds_from(random_state, 1)
    fold_of = np.random.default_rng(seed).permutation(n) % folds
    tasks = []
    for fold in range(folds):
        one = clone(model)
        tasks.append(FitTask(one, prepare(one, whole.of_rows(fold_of != fold))))
    scores = []
    for fold, result in enumerate(fit_prepared(tasks, examine=False)):
        held = whole.of_rows(fold_of == fold)
        likelihoods = result.dag.log_likelihoods(held.table)
        measured = Known(targets=held.targets, absent=held.absent).counted
        if measured is not None:
            likelihoods = likelihoods[measured[:, ~result.dag.preparation.constant] > 0]
        scores.append(float(np.mean(likelihoods)) if likelihoods.size else 0.0)
    return np.array(scores)


def extended_bic(
    model: StructureLearner, X: Any, gamma: float = 0.5, *, interventions: Any = None
) -> float:
    r"""Compute the extended BIC of a fitted model: smaller is better.

    .. math:: -2 \ell + k \log n + 4 \gamma\, k \log d

    with the Gaussian log-likelihood :math:`\ell` of the table and k parameters of arcs (Foygel and
    Drton 2010); :math:`\gamma = 0` is the BIC, and larger values prefer sparser graphs. A line has
    one parameter, a curve one for each of its polynomials, and an effect on or of a category one
    for each level but the first. The number of parameters of an arc of a network is the number of
    units in the first hidden layer, and that of another mechanism its number of weights per arc.

    Parameters
    ----------
    model : fitted StructureLearner
    X : table
        The training data of the model.
    gamma : float
        Weight of the price for the number of possible graphs, at least 0.
    interventions : optional
        What was set in each row, as for ``fit``; by default the interventions of the fit. Values
        that were set count neither in the likelihood nor in the number of rows.

    Examples
    --------
    >>> from cosmodag import EmptyGraph, OrderSearch, simulate
    >>> X = simulate.load("n300_d6_ER2_gauss", seed=0).X
    >>> extended_bic(OrderSearch(random_state=0).fit(X), X) < extended_bic(EmptyGraph().fit(X), X)
    True
    """
    check_is_fitted(model, "adjacency_")
    check_number("gamma", gamma, low=0.0, low_allowed=True)
    refuse_lags(model, "extended_bic", "fit to early rows, and score later ones")
    X, entries = take_column(X, interventions)
    likelihoods = model.log_likelihoods(X)
    known = _known(model, entries, len(likelihoods))
    if (weights := known.counted) is None:
        weights = np.ones((len(likelihoods), model.n_features_in_))
    parameters = model.fitted_.equations.arc_parameters(model.edges_)
    prices = np.log(weights.sum(axis=0)) + 4 * gamma * math.log(model.n_features_in_)
    varying = ~model.preparation_.constant
    return float(-2 * np.sum(likelihoods * weights[:, varying]) + prices @ parameters)


def at_threshold(
    model: StructureLearner, X: Any, threshold: float, *, interventions: Any = None
) -> StructureLearner:
    """Return a copy of a fitted model with another threshold of its weights, without a new fit.

    The equations are fitted again to the remaining arcs. Networks are not trained again, and lose
    the inputs below the threshold; equations of targets in their regimes are those of the fit. Arcs
    that knowledge requires are kept.

    Parameters
    ----------
    model : fitted StructureLearner
        Not changed.
    X : table
        The training data of the model.
    threshold : float
        Arcs of ``weights_`` above it are kept.
    interventions : optional
        As for :func:`extended_bic`. No equation is fitted to rows in which its variable was set.
    """
    check_is_fitted(model, "adjacency_")
    _check_weights(model)
    check_number("threshold", threshold, low=0.0, low_allowed=True)
    X, entries = take_column(X, interventions)
    dag, data = model.fitted_, model.prepared(X)
    if dag.window is not None:
        _, entries = as_windows(dag.window, X, entries)
    known = _known(model, entries, len(data))
    adjacency = chosen_arcs(dag.weights, threshold, known.required)
    arcs = adjacency != 0 if known.required is None else (adjacency != 0) | known.required
    equations = dag.equations
    if dag.is_linear:
        moments = known.moments(data)
        adjacency = regress_on_predecessors(
            moments.about_zero() if model.scale == "none" else moments,
            dag.order,
            "none",
            support=arcs,
        )
    else:
        equations = equations.on_arcs(dag.preparation.undo(data), arcs, known.counted)
    losses = dag.turning_losses
    if losses is not None:
        losses = np.where(arcs, losses, np.nan)
    dag = replace(dag, adjacency=adjacency, known=known, equations=equations, turning_losses=losses)
    one = copy(model)
    one.threshold = threshold
    one.take_graph(dag.settled(data.astype(np.float32), recentre=model.scale != "none"))
    return one


def _known(model: StructureLearner, entries: Any, rows: int) -> Known:
    """Return what was known in the fit, with other interventions if these are given."""
    known = model.fitted_.known
    if entries is not None:
        names = model.fitted_.texts
        known = replace(known, targets=targets_of(entries, names, rows))
    elif known.targets is None:  # not saved with the model
        model.fitted_.ask_for_targets(None)
    masks = [mask for mask in (known.targets, known.absent) if mask is not None]
    if any(len(mask) != rows for mask in masks):
        raise DataError(
            f"The table has {counted(rows, 'row')}, but the model was fitted on "
            f"{counted(len(masks[-1]), 'row')}, some with interventions or missing values: give "
            f"the table that it was fitted on{'' if entries is not None else ', or interventions'}."
        )
    if entries is None or known.targets is None:
        return known
    with ignoring(DataWarning):  # as in the fit, a variable that was always set counts as a root
        always = never_free(known.targets, names, known.absent)
    return replace(known, targets=known.targets & ~always)


def _check_weights(model: StructureLearner) -> None:
    if not hasattr(model, "weights_"):
        raise DataError(
            f"A model of {model.n_features_in_:,} variables keeps no weights below its threshold: "
            "fit the learner again with the other threshold."
        )
