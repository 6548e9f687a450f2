"""Multinomial logistic regression by Newton's method: equations of categories."""

import numpy as np
from numpy.typing import NDArray

_STEPS = 30
_SETTLED = 1e-3  # gain of log-likelihood below which a fit has ended
# Penalty on squared coefficients, so that separated levels have finite ones.
_RIDGE = 1e-2


def probabilities(design: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, k + 1): probabilities of levels; that of the first has no weights."""
    utilities = np.column_stack([np.zeros(len(design)), design @ weights])
    utilities -= utilities.max(axis=1, keepdims=True)
    shares = np.exp(utilities)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fit_levels(
    design: NDArray[np.float64], levels: NDArray[np.integer], count: int
) -> tuple[NDArray[np.float64], float]:
    """Fit the probabilities of levels to columns.

    Parameters
    ----------
    design : (n, p) array
        The first column is constant.
    levels : (n,) array of int
    count : int
        Number of levels.

    Returns
    -------
    weights : (p, count - 1) array
    likelihood : float
        Log-likelihood of all rows.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 200)
    >>> design = np.column_stack([np.ones(200), x])
    >>> weights, _ = fit_levels(design, (x > 0.5).astype(int), 2)
    >>> bool(probabilities(design, weights)[-1, 1] > 0.99)
    True
    """
    n, p = design.shape
    hits = np.asarray(levels[:, None] == np.arange(1, count), np.float64)
    rows = np.arange(n)
    weights = np.zeros((p, count - 1))
    weights[0] = np.log((hits.sum(axis=0) + 0.5) / (n - hits.sum() + 0.5))
    before, reached = weights, -np.inf
    for _ in range(_STEPS):
        shares = probabilities(design, weights)
        likelihood = float(np.log(np.maximum(shares[rows, levels], 1e-300)).sum())
        penalised = likelihood - 0.5 * _RIDGE * float((weights[1:] ** 2).sum())
        if penalised < reached:
            weights = before + 0.25 * (weights - before)
            if np.max(np.abs(weights - before)) < 1e-6:
                break
            continue
        if penalised - reached < _SETTLED:
            break
        before, reached = weights, penalised
        weights = before + _newton_step(design, hits - shares[:, 1:], shares[:, 1:], before)
    return before, float(np.log(_own(probabilities(design, before), levels)).sum())


def level_cost(levels: NDArray[np.int64], means: NDArray[np.float64]) -> float:
    """Compute minus the log-likelihood of levels, in nats, from predictions of their indicators.

    Means of indicators are no probabilities: a logistic regression on them gives these.

    Parameters
    ----------
    levels : (n,) array of int
    means : (n, m) array
        Predicted combinations of indicators, each row from other rows.

    Examples
    --------
    >>> levels = np.arange(90) % 3
    >>> round(level_cost(levels, np.zeros((90, 2))) / 90, 3)  # log 3
    1.099
    """
    present, numbers = np.unique(levels, return_inverse=True)
    if len(present) == 1:
        return 0.0
    design = np.column_stack([np.ones(len(levels)), means])
    return -fit_levels(design, numbers, len(present))[1]


def _own(shares: NDArray[np.float64], levels: NDArray[np.integer]) -> NDArray[np.float64]:
    return np.asarray(np.maximum(shares[np.arange(len(shares)), levels], 1e-300))


def _newton_step(
    design: NDArray[np.float64],
    left: NDArray[np.float64],
    shares: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Change of the weights that maximises the quadratic model of the likelihood."""
    p, k = weights.shape
    prices = np.full(p, _RIDGE)
    prices[0] = 1e-8
    gradient = design.T @ left - prices[:, None] * weights
    hessian = np.empty((k, p, k, p))
    for a in range(k):
        for b in range(a, k):
            curve = shares[:, a] * ((a == b) - shares[:, b])
            hessian[a, :, b] = (design.T * curve) @ design
            hessian[b, :, a] = hessian[a, :, b]
        hessian[a, range(p), a, range(p)] += prices
    full = hessian.reshape(k * p, k * p)
    full[np.diag_indices(k * p)] += 1e-9 * np.trace(full) / (k * p) + 1e-12
    return np.asarray(np.linalg.solve(full, gradient.T.ravel()).reshape(k, p).T)
