"""Sparse regression of each variable on those before it in a causal order."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cosmodag.errors import DataError
from cosmodag.order.moments import Moments
from cosmodag.random_state import preserve_random_state
from cosmodag.warning_filters import ignoring

Floats = NDArray[np.float64]

CRITERIA = ("bic", "aic", "none")

# Share of a variable's variance below which what is left of it is rounding of float32 data.
NEGLIGIBLE = 1e-10
# The lasso path ends, and drops regressors, at absolute tolerances of about 1e-7. Multiplied by
# this factor, the regressors of smallest weight stay above them.
ENLARGEMENT = 1e6
# A path coefficient is a share of the least-squares one; this much of it is rounding.
VANISHED = 1e-9


def regress_on_predecessors(
    data: NDArray[Any] | Moments,
    order: NDArray[np.intp],
    criterion: str = "bic",
    *,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    counted: NDArray[Any] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Floats:
    r"""Regress each variable on all variables before it in an order, and keep the useful ones.

    The second half of *sortnregress* (Reisach, Seiler and Weichwald 2021): least squares gives
    coefficients :math:`b`, and an adaptive lasso, that is the lasso on regressors multiplied by
    :math:`|b|`, a path of ever more regressors, from which the information criterion

    .. math:: \mathrm{RSS} / \hat\sigma^2 + c \cdot \text{(number of regressors)},
       \qquad c = \log n \text{ (BIC) or } 2 \text{ (AIC)},

    chooses, :math:`\hat\sigma^2` being the error variance of least squares. The result follows
    the units: a column in other units has other coefficients, but the same arcs.

    With more than (n − 1)/2 predecessors, least squares has too few rows to estimate
    :math:`\sigma^2`. Then :math:`b` is the least-squares solution of least norm,
    :math:`n \log \mathrm{RSS}` takes the place of :math:`\mathrm{RSS} / \hat\sigma^2`, and at most
    (n − 1)/2 regressors are kept.

    All of it is computed from the d×d matrix of second moments, so that only one product depends
    on n. A table is regressed without an intercept: centre it, or give its
    moments about their means.

    Parameters
    ----------
    data : (n, d) array, or Moments
    order : (d,) array of int
        The variables, causes first.
    criterion : {"bic", "aic", "none"}
        How to choose; ``"none"`` keeps least squares on all predecessors.
    support, required : (d, d) bool, optional
        Arcs that may exist, and arcs that are always in; these agree with the order.
    counted : (n, d), optional
        How much row i of a table counts in the regression of v, at [i, v].
    should_stop : callable
        Called before each regression; after True the variables that are left are not regressed.

    Returns
    -------
    (d, d) array
        Coefficient of u in the regression of v at [u, v]; zero for constant variables.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> y = 2 * x + random.normal(size=500)
    >>> data = np.column_stack([y - x + random.normal(size=500), y, x])
    >>> regress_on_predecessors(data, order=np.array([2, 1, 0])).round(1)
    array([[ 0. ,  0. ,  0. ],
           [ 1. ,  0. ,  0. ],
           [-0.9,  2. ,  0. ]])
    """
    from sklearn.exceptions import ConvergenceWarning

    if criterion not in CRITERIA:
        raise DataError(f"criterion is {criterion!r}: it must be one of {CRITERIA}.")
    if not isinstance(data, Moments):
        data = Moments.of(data, counted).about_zero()
    moments, d = data, data.variables
    order = order[moments.own_scales[order] > 0]
    weights = np.zeros((d, d))
    # It warns of redundant regressors that it leaves out, which is intended.
    with ignoring(ConvergenceWarning):
        for k in range(1, len(order)):
            if should_stop():
                break
            v, earlier = order[k], order[:k]
            group = moments.group[v]
            products, sizes = moments.correlations[group], moments.scales[group]
            earlier = earlier[sizes[earlier] > 0]
            if support is not None:
                earlier = earlier[support[earlier, v]]
            forced = None if required is None else required[earlier, v]
            weights[earlier, v] = (sizes[v] / sizes[earlier]) * _regress(
                moments.unit * products[np.ix_(earlier, earlier)],
                moments.unit * products[earlier, v],
                int(moments.rows[group]),
                criterion,
                forced,
            )
    return weights


def _regress(
    gram: Floats, target: Floats, n: int, criterion: str, forced: NDArray[np.bool_] | None = None
) -> Floats:
    """Regress a variable of unit size, given the mean products among regressors and with it.

    Required regressors that the criterion leaves out are fitted to the residual of the chosen
    ones, and change no other weight.
    """
    if not len(target):
        return np.zeros(0)
    least_squares = _least_squares(gram, target)
    if criterion == "none":
        return least_squares
    penalty = math.log(n) if criterion == "bic" else 2.0
    noise = _noise_variance(target, least_squares, n)
    used = np.flatnonzero(least_squares)
    factors = ENLARGEMENT * np.abs(least_squares[used])
    scaled = gram[np.ix_(used, used)] * np.outer(factors, factors)
    path = _lasso_path(scaled, target[used] * factors, n)
    criteria = _criterion(path, scaled, target[used] * factors, n, penalty, noise)
    coefficients = np.zeros_like(least_squares)
    coefficients[used] = path[:, np.argmin(criteria)] * factors
    if forced is not None:
        added = np.flatnonzero(forced & (coefficients == 0))
        left = target[added] - gram[added] @ coefficients
        coefficients[added] = _least_squares(gram[np.ix_(added, added)], left)
    return coefficients


def _least_squares(gram: Floats, target: Floats) -> Floats:
    """Coefficients of least squares; zeros among regressors that others determine."""
    if not len(target):
        return np.zeros(0)
    found = linalg.lstsq(gram, target, cond=NEGLIGIBLE, lapack_driver="gelsy")[0]
    return np.asarray(found, np.float64)


def _noise_variance(target: Floats, least_squares: Floats, n: int) -> float | None:
    """Error variance of least squares; None if the rows are too few."""
    regressors = len(target)
    if 2 * regressors > n - 1:
        return None
    unexplained = 1.0 - float(target @ least_squares)
    return max(unexplained, NEGLIGIBLE) * n / (n - regressors - 1)


def _lasso_path(gram: Floats, target: Floats, n: int) -> Floats:
    """Solutions of the lasso, a column for each place where the set of regressors changes."""
    with preserve_random_state():
        from sklearn.linear_model import lars_path_gram

    if not len(target):
        return np.zeros((0, 1))
    path = lars_path_gram(n * target, n * gram, n_samples=n, method="lasso")[2]
    return np.where(np.abs(path) * ENLARGEMENT > VANISHED, path, 0.0)


def _criterion(
    path: Floats, gram: Floats, target: Floats, n: int, penalty: float, noise: float | None
) -> Floats:
    """Information criterion of each solution, with the noise variance known or profiled out."""
    explained = 2 * target @ path - np.sum(path * (gram @ path), axis=0)
    unexplained = np.maximum(1.0 - explained, NEGLIGIBLE)
    regressors = np.count_nonzero(path, axis=0)
    if noise is not None:
        return np.asarray(n * unexplained / noise + penalty * regressors)
    criterion = n * np.log(unexplained) + penalty * regressors
    return np.where(2 * regressors <= n - 1, criterion, np.inf)
