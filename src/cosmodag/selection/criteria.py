"""Criteria that need no held-out rows: the extended BIC, and a path over thresholds by it."""

import math
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cosmodag.errors import DataError
from cosmodag.fit.checks import check_number
from cosmodag.fit.known import NOTHING
from cosmodag.fit.matrices import count_arcs
from cosmodag.graph.dags import above
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.trained.networks import NetworkLearner

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["at_threshold", "extended_bic", "threshold_path"]

_THRESHOLDS = 50


def extended_bic(model: StructureLearner, X: Any, gamma: float = 0.5) -> float:
    r"""Give the extended BIC of a fitted model: smaller is better.

    .. math:: -2 \ell + k \log n + 4 \gamma\, k \log d

    with the Gaussian log-likelihood :math:`\ell` of the table and k parameters on arcs (Foygel and
    Drton 2010); :math:`\gamma = 0` is the BIC, and more of it asks for sparser graphs where there
    are many variables to choose from. An arc of a network has as many parameters as its first
    hidden layer has units.

    Parameters
    ----------
    model : fitted StructureLearner
    X : table
        That it was fitted on.
    gamma : float

    Examples
    --------
    >>> from cosmodag import EmptyGraph, OrderSearch, simulate
    >>> X = simulate.load("n300_d6_ER2_gauss", seed=0).X
    >>> extended_bic(OrderSearch(random_state=0).fit(X), X) < extended_bic(EmptyGraph().fit(X), X)
    True
    """
    check_is_fitted(model, "adjacency_")
    check_number("gamma", gamma, low=0.0, low_allowed=True)
    likelihoods = model._log_likelihoods(X)
    parameters = count_arcs(model.adjacency_) * getattr(model, "hidden", (1,))[0]
    price = math.log(len(likelihoods)) + 4 * gamma * math.log(model.n_features_in_)
    return float(-2 * likelihoods.sum() + price * parameters)


def at_threshold(model: StructureLearner, X: Any, threshold: float) -> StructureLearner:
    """Read a fitted model again at another threshold; the learner is not fitted again.

    Weights of the arcs that are left are those of least squares; networks stay as they are, and
    lose the inputs that are cut.

    Parameters
    ----------
    model : fitted StructureLearner
        Not changed.
    X : table
        That it was fitted on.
    threshold : float
        Arcs of ``weights_`` above it are kept.
    """
    check_is_fitted(model, "adjacency_")
    if not hasattr(model, "weights_"):
        raise DataError("A model of so many variables keeps no weights below its threshold.")
    check_number("threshold", threshold, low=0.0, low_allowed=True)
    one = copy(model)
    one._told = getattr(model, "_told", NOTHING)
    one.threshold = threshold
    one.adjacency_ = above(model.weights_, threshold)
    data = one._prepared(X)
    if not isinstance(one, NetworkLearner):
        one.adjacency_ = _least_squares(data, one.adjacency_ != 0)
    one._settle(data.astype(np.float32))
    return one


def _least_squares(data: NDArray[np.float64], arcs: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of arcs by regression on the parents."""
    weights = np.zeros(arcs.shape)
    covariance = data.T @ data
    for v in np.flatnonzero(arcs.any(axis=0)):
        parents = np.flatnonzero(arcs[:, v])
        own = covariance[np.ix_(parents, parents)]
        weights[parents, v] = np.linalg.lstsq(own, covariance[parents, v], rcond=None)[0]
    return weights


def threshold_path(
    model: StructureLearner, X: Any, thresholds: ArrayLike | None = None, gamma: float = 0.5
) -> "pd.DataFrame":
    """Graphs of one fit at many thresholds, by extended BIC; the learner is not fitted again.

    Parameters
    ----------
    model : fitted StructureLearner
        Best without refinement, which leaves little to cut.
    X : table
        That it was fitted on.
    thresholds : sequence of float, optional
        By default 0 and up to 50 of the sizes that weights have.
    gamma : float
        Of :func:`extended_bic`.

    Returns
    -------
    DataFrame
        Columns ``threshold``, ``arcs``, ``log_likelihood`` per row and variable, ``extended_bic``
        and ``best``, true in the row of smallest extended BIC.

    Examples
    --------
    >>> from cosmodag import Cosmo, simulate
    >>> X = simulate.load("n500_d10_ER2_gauss", seed=0).X
    >>> model = Cosmo(refine=None, random_state=0).fit(X)
    >>> path = threshold_path(model, X)
    >>> arcs = path["arcs"][path["best"]].iloc[0]  # of which 20 are true
    >>> bool(20 <= arcs <= 25)
    True
    """
    import pandas as pd

    check_is_fitted(model, "adjacency_")
    values = _sizes(model) if thresholds is None else np.sort(np.asarray(thresholds, np.float64))
    rows = []
    for threshold in values.tolist():
        one = at_threshold(model, X, threshold)
        rows.append(
            {
                "threshold": threshold,
                "arcs": count_arcs(one.adjacency_),
                "log_likelihood": one.score(X),
                "extended_bic": extended_bic(one, X, gamma),
            }
        )
    path = pd.DataFrame(rows)
    path["best"] = path.index == path["extended_bic"].idxmin()
    return path


def _sizes(model: StructureLearner) -> Any:
    """Zero, and sizes of weights at which arcs go, evenly by number."""
    if not hasattr(model, "weights_"):
        raise DataError("A model of so many variables keeps no weights below its threshold.")
    sizes = np.unique(np.abs(model.weights_[model.weights_ != 0]))
    places = np.linspace(0, max(0, len(sizes) - 1), min(len(sizes), _THRESHOLDS)).astype(int)
    return np.concatenate([[0.0], sizes[places]])
