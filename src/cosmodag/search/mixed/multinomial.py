"""Multinomial logistic regression by Newton's method, for the equations of categories."""

import numpy as np
from numpy.typing import NDArray

_MOST_STEPS = 30
_LEAST_GAIN = 1e-3  # a fit ends when a step gains less log-likelihood
# Penalty on squared coefficients: without it, those of separated levels would be infinite.
_RIDGE = 1e-2


def probabilities(design: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, k + 1): probabilities of levels; the first level has no weights."""
    utilities = np.column_stack([np.zeros(len(design)), design @ weights])
    utilities -= utilities.max(axis=1, keepdims=True)
    shares = np.exp(utilities)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fit_levels(
    design: NDArray[np.float64], levels: NDArray[np.integer], count: int
) -> tuple[NDArray[np.float64], float]:
    """Fit a multinomial logistic regression of levels, numbers below `count`, on columns.

    The first column of the `design` (n, p) is constant. Returns the weights (p, count - 1) and the
    total log-likelihood.

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
    weights = np.zeros((p, count - 1))
    weights[0] = np.log((hits.sum(axis=0) + 0.5) / (n - hits.sum() + 0.5))
    before, reached = weights, -np.inf
    for _ in range(_MOST_STEPS):
        shares = probabilities(design, weights)
        penalised = _likelihood(shares, levels) - 0.5 * _RIDGE * float((weights[1:] ** 2).sum())
        if penalised < reached:
            weights = before + 0.25 * (weights - before)
            if np.max(np.abs(weights - before)) < 1e-6:
                break
            continue
        if penalised - reached < _LEAST_GAIN:
            break
        before, reached = weights, penalised
        weights = before + _newton_step(design, hits - shares[:, 1:], shares[:, 1:], before)
    return before, _likelihood(probabilities(design, before), levels)


def level_cost(levels: NDArray[np.int64], means: NDArray[np.float64]) -> float:
    """Compute minus the log-likelihood of levels, in nats, from predictions of their indicators.

    `means` (n, m) are predicted combinations of the indicators; each row is predicted from the
    others. They need not be probabilities, so a logistic regression on them is fitted.

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


def _likelihood(shares: NDArray[np.float64], levels: NDArray[np.integer]) -> float:
    return float(np.log(np.maximum(shares[np.arange(len(shares)), levels], 1e-300)).sum())


def _newton_step(
    design: NDArray[np.float64],
    residuals: NDArray[np.float64],
    shares: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Change of the weights that maximises the quadratic model of the penalised likelihood."""
    p, k = weights.shape
    ridge = np.full(p, _RIDGE)
    ridge[0] = 1e-8
    gradient = design.T @ residuals - ridge[:, None] * weights
    hessian = np.empty((k, p, k, p))
    for a in range(k):
        for b in range(a, k):
            curve = shares[:, a] * ((a == b) - shares[:, b])
            hessian[a, :, b] = (design.T * curve) @ design
            hessian[b, :, a] = hessian[a, :, b]
        hessian[a, range(p), a, range(p)] += ridge
    full = hessian.reshape(k * p, k * p)
    full[np.diag_indices(k * p)] += 1e-9 * np.trace(full) / (k * p) + 1e-12
    return np.asarray(np.linalg.solve(full, gradient.T.ravel()).reshape(k, p).T)
