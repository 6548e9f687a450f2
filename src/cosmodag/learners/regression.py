"""Sparse regression of each variable on its predecessors in a causal order."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cosmodag.errors import DataError
from cosmodag.runtime.random_state import preserve_random_state
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.search.moments import Moments

Floats = NDArray[np.float64]

CRITERIA = ("bic", "aic", "none")

# Fraction of a variable's variance below which a residual is rounding error of float32 data.
NEGLIGIBLE = 1e-10
# Factor on the regressors of the lasso: its path ends, and drops regressors, at absolute tolerances
# of about 1e-7, and the factor keeps the regressors of smallest weight above them.
_ENLARGEMENT = 1e6
# Coefficients of the path, as fractions of the least-squares ones, that are rounding errors.
_VANISHED = 1e-9


def regress_on_predecessors(
    data: NDArray[Any] | Moments,
    order: NDArray[np.intp],
    criterion: str = "bic",
    *,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Floats:
    r"""Regress each variable on its predecessors in an order, and keep the useful regressors.

    This is the second half of *sortnregress* (Reisach, Seiler and Weichwald 2021). Least squares
    gives coefficients :math:`b`. An adaptive lasso, that is, the lasso on regressors multiplied by
    :math:`|b|`, gives a path of models with more and more regressors. The model is chosen by the
    information criterion

    .. math:: \mathrm{RSS} / \hat\sigma^2 + c \cdot \text{(number of regressors)},
       \qquad c = \log n \text{ (BIC) or } 2 \text{ (AIC)},

    where :math:`\hat\sigma^2` is the error variance of least squares. If a column is measured in
    another unit, its coefficients change accordingly, and the arcs stay the same.

    With more than (n − 1)/2 predecessors, there are too few rows to estimate :math:`\sigma^2`. Then
    :math:`b` is the least-squares solution of minimum norm, :math:`n \log \mathrm{RSS}` replaces
    :math:`\mathrm{RSS} / \hat\sigma^2`, and at most (n − 1)/2 regressors are kept.

    Everything is computed from the d×d matrix of second moments, so that only one product depends
    on n. A table is regressed without an intercept: centre it, or pass its moments about the means.

    Parameters
    ----------
    data : (n, d) array, or Moments
    order : (d,) array of int
        The variables, causes first.
    criterion : {"bic", "aic", "none"}
        Criterion for the choice; ``"none"`` keeps least squares on all predecessors.
    support, required : (d, d) bool, optional
        Arcs that may exist, and arcs that are always kept; required arcs must agree with the order.
    should_stop : callable
        Called before each regression. Once it returns True, no more variables are regressed.

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
        data = Moments.of(data).about_zero()
    moments, d = data, data.variables
    order = order[moments.own_scales[order] > 0]
    weights = np.zeros((d, d))
    # The lasso warns of redundant regressors that it leaves out, which is intended.
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
    gram: Floats, target: Floats, n: int, criterion: str, forced: NDArray[np.bool_] | None
) -> Floats:
    """Regress a variable of unit size, given mean products of the regressors and with the variable.

    Required regressors that the criterion leaves out are fitted to the residual of the regression
    on the chosen ones, whose coefficients do not change.
    """
    if not len(target):
        return np.zeros(0)
    least_squares = _least_squares(gram, target)
    if criterion == "none":
        return least_squares
    penalty = math.log(n) if criterion == "bic" else 2.0
    noise = _noise_variance(target, least_squares, n)
    used = np.flatnonzero(least_squares)
    factors = _ENLARGEMENT * np.abs(least_squares[used])
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
    """Coefficients of least squares, of minimum norm if regressors are redundant."""
    if not len(target):
        return np.zeros(0)
    found = linalg.lstsq(gram, target, cond=NEGLIGIBLE, lapack_driver="gelsy")[0]
    return np.asarray(found, np.float64)


def _noise_variance(target: Floats, least_squares: Floats, n: int) -> float | None:
    """Error variance of least squares; None if there are too few rows."""
    regressors = len(target)
    if 2 * regressors > n - 1:
        return None
    unexplained = 1.0 - float(target @ least_squares)
    return max(unexplained, NEGLIGIBLE) * n / (n - regressors - 1)


def _lasso_path(gram: Floats, target: Floats, n: int) -> Floats:
    """Solutions of the lasso, one column for each change in the set of regressors."""
    with preserve_random_state():
        from sklearn.linear_model import lars_path_gram

    if not len(target):
        return np.zeros((0, 1))
    path = lars_path_gram(n * target, n * gram, n_samples=n, method="lasso")[2]
    return np.where(np.abs(path) * _ENLARGEMENT > _VANISHED, path, 0.0)


def _criterion(
    path: Floats, gram: Floats, target: Floats, n: int, penalty: float, noise: float | None
) -> Floats:
    """Information criterion of each solution, with the noise variance given or profiled out."""
    explained = 2 * target @ path - np.sum(path * (gram @ path), axis=0)
    unexplained = np.maximum(1.0 - explained, NEGLIGIBLE)
    regressors = np.count_nonzero(path, axis=0)
    if noise is not None:
        return np.asarray(n * unexplained / noise + penalty * regressors)
    criterion = n * np.log(unexplained) + penalty * regressors
    return np.where(2 * regressors <= n - 1, criterion, np.inf)
