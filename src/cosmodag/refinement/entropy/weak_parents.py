r"""The last step of the entropy search: parents that only the shape of the noise makes visible.

While orders are searched, parents are chosen by Gaussian evidence, the correlation of residuals r
with a candidate. Where noise is not Gaussian, the correlation of its *score* :math:`-f'(r)/f(r)`, f
the density of the residuals, is the efficient test: twice as much evidence with Laplace noise, more
with noise that is skewed or bounded. A candidate without an effect is independent of r and so of
its score, whatever the estimate of f: the evidence is as rarely large by chance as the Gaussian.

Measured on linear tables (d = 8 to 50, n = 200 to 1,000; exponential, uniform, Laplace, Gumbel and
t noise; 8 tables each of 14 kinds), missed arcs fell from 254 to 162 and false ones rose from 37 to
50. Choosing parents by the entropy approximation in place of this missed 172, and found 69 that
are false.
"""

import numpy as np
from numpy.typing import NDArray

from cosmodag.refinement.entropy.families import EntropyProblem, Families

__all__ = ["add_weak_parents", "scores_of"]

_POINTS = 512
# Of a normal kernel for the derivative of a density: (4 / 5)^(1/7), in deviations of the data.
_WIDTH, _RATE = 0.97, 1.0 / 7.0
_REACH = 5.0  # deviations of the kernel
_NORMAL_QUARTILES = 1.349
_DEPENDENT = 1e-9  # share of a candidate's variance that the parents must leave


def add_weak_parents(problem: EntropyProblem, families: Families) -> None:
    """Add the best predecessor while its evidence exceeds the penalty, for every variable.

    Parents and their least-squares weights are written into the families; the scores stay those of
    the search.
    """
    for place, child in enumerate(families.order.tolist()):
        earlier = families.order[:place]
        candidates = earlier[problem.support[earlier, child]]
        if len(candidates):
            _add(problem, families, child, candidates)


def _add(
    problem: EntropyProblem, families: Families, child: int, candidates: NDArray[np.int64]
) -> None:
    counted = problem.counted[problem.rows_of[child]]
    rows = counted > 0
    roots = np.sqrt(counted[rows])
    y, count = problem.columns[child, rows], int(families.parent_counts[child])
    parents = families.parents[child, :count].copy()
    while len(parents) < problem.most_parents:
        others = candidates[~np.isin(candidates, parents)]
        if not len(others):
            break
        # Rows are weighted by their roots, so that least squares count each as often as it counts.
        base = np.column_stack([roots, problem.columns[parents][:, rows].T * roots[:, None]])
        basis = np.linalg.qr(base)[0]
        left = (y * roots - basis @ (basis.T @ (y * roots))) / roots
        scores = scores_of(left, counted[rows]) * roots
        gains = _gains(basis, scores, problem.columns[others][:, rows].T * roots[:, None])
        best = int(np.argmax(gains))
        if not gains[best] * problem.totals[problem.rows_of[child]] > problem.penalty:
            break
        parents = np.append(parents, others[best])
    if len(parents) > count:
        families.parents[child, : len(parents)] = parents
        families.weights[child, : len(parents)] = _fitted(problem, child, parents)
        families.parent_counts[child] = len(parents)


def _gains(
    basis: NDArray[np.float64], scores: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log-likelihood a row that each of the others adds, given what the basis explains."""
    sizes = np.sum(others**2, axis=0)
    scores = scores - basis @ (basis.T @ scores)
    others = others - basis @ (basis.T @ others)
    spread = np.sum(others**2, axis=0)
    allowed = spread > _DEPENDENT * sizes
    share = (scores @ others) ** 2 / np.where(allowed, spread * (scores @ scores), 1.0)
    share = np.where(allowed, np.minimum(share, 1.0 - 1e-12), 0.0)
    return np.asarray(-0.5 * np.log1p(-share))


def _fitted(problem: EntropyProblem, child: int, parents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Least squares of a child on its parents."""
    covariance = problem.covariances[problem.rows_of[child]]
    products, with_child = covariance[np.ix_(parents, parents)], covariance[parents, child]
    return np.asarray(np.linalg.lstsq(products, with_child, rcond=1e-10)[0], np.float64)


def scores_of(residuals: NDArray[np.float64], counted: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Score :math:`-f'(r)/f(r)` at each residual, f estimated by a normal kernel on a grid.

    Parameters
    ----------
    residuals, counted : (n,) arrays
        Values, and how often each counts.

    Examples
    --------
    >>> r = np.random.default_rng(0).normal(size=5_000)
    >>> float(np.corrcoef(scores_of(r, np.ones(5_000)), r)[0, 1].round(2))
    0.99
    """
    total = counted.sum()
    centred = residuals - np.average(residuals, weights=counted)
    deviation = np.sqrt(np.average(centred**2, weights=counted))
    if not deviation > 0:
        return np.zeros_like(residuals)
    low, high = np.quantile(centred, [0.25, 0.75])
    spread = min(deviation, (high - low) / _NORMAL_QUARTILES) or deviation
    width = _WIDTH * spread * total**-_RATE
    start = centred.min() - _REACH * width
    step = (centred.max() + _REACH * width - start) / (_POINTS - 1)
    places = (centred - start) / step
    below = places.astype(np.int64)
    share = places - below
    counts = np.bincount(below, counted * (1 - share), _POINTS)
    counts += np.bincount(below + 1, counted * share, _POINTS)
    reach = int(np.ceil(_REACH * width / step))
    offsets = np.arange(-reach, reach + 1) * (step / width)
    kernel = np.exp(-0.5 * offsets**2)
    density = np.convolve(counts, kernel)[reach : reach + _POINTS]
    slope = np.convolve(counts, -offsets * kernel)[reach : reach + _POINTS]
    ratio = -slope / np.maximum(density, np.finfo(np.float64).tiny)
    return np.asarray(np.interp(places, np.arange(_POINTS), ratio), np.float64)
