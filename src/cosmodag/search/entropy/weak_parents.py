r"""The last step of the entropy search: weak parents that only the shape of the noise reveals.

While orders are searched, parents are chosen by Gaussian evidence, the correlation of a candidate
with the residuals r. If the noise is not Gaussian, the efficient test is the correlation with the
*score* of the residuals, :math:`-f'(r)/f(r)`, where f is their density: the evidence is twice as
large with Laplace noise, and larger with skewed or bounded noise. A candidate without an effect is
independent of r and therefore of its score, whatever the estimate of f, so that large evidence by
chance is as rare as with the Gaussian test.

On linear tables (d = 8 to 50, n = 200 to 1,000; exponential, uniform, Laplace, Gumbel and t noise;
8 tables each of 14 kinds), missed arcs fell from 254 to 162 and false arcs rose from 37 to 50.
Choosing parents by the entropy approximation instead left 172 missed arcs and 69 false ones.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cosmodag.search.chooser import NO_CHANGE, Change, change_best
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.moments import Moments, least_squares
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.search_run import never

_POINTS = 512  # of the grid
# Bandwidth of a normal kernel for the derivative of a density, in standard deviations of the data:
# (4 / 5)^(1/7) n^(−1/7).
_WIDTH, _RATE = 0.97, 1.0 / 7.0
_REACH = 5.0  # standard deviations at which the kernel is cut off
_NORMAL_QUARTILES = 1.349  # interquartile range of a standard normal variable
_DEPENDENT = 1e-9  # share of a candidate's variance that the parents must leave unexplained


def with_weak_parents(
    score: ColumnScore,
    order: NDArray[np.int64],
    graph: RegressionGraph,
    should_stop: Callable[[], bool] = never,
) -> csr_array:
    """Add the best predecessor of each variable while its evidence exceeds the penalty.

    The moments must hold their table, and the graph must agree with the order. Returns the weights
    (d, d), refitted for variables with new parents. Once `should_stop` returns True, the other
    variables keep their parents.
    """
    moments, support, d = score.moments, score.constraints.support, score.variables
    parents = np.split(graph.parents, graph.starts[1:-1])
    weights = np.split(graph.weights, graph.starts[1:-1])
    for place, child in enumerate(order.tolist()):
        if should_stop():
            break
        earlier = order[:place]
        candidates = earlier if support is None else earlier[support[earlier, child]]
        if len(candidates) and moments.own_scales[child] > 0:
            chosen = _extended(moments, child, parents[child], candidates, score.penalty)
            if len(chosen) > len(parents[child]):
                parents[child], weights[child] = chosen, least_squares(moments, child, chosen)
    heads = np.repeat(np.arange(d), [len(some) for some in parents])
    arcs = np.concatenate(parents), heads
    return csr_array((np.concatenate(weights), arcs), shape=(d, d))


def _extended(
    moments: Moments,
    child: int,
    parents: NDArray[np.int64],
    candidates: NDArray[np.int64],
    penalty: float,
) -> NDArray[np.int64]:
    """Parents of a child, followed by the candidates whose evidence exceeds the penalty."""
    assert moments.table is not None
    counted = moments.table[moments.variables + moments.group[child]]
    rows = counted > 0
    columns, roots = moments.table[: moments.variables, rows], np.sqrt(counted[rows])
    y, total = columns[child], float(moments.own_rows[child])
    most = max(total > 2, total // 3)

    def best() -> Change:
        others = candidates[~np.isin(candidates, parents)]
        if len(parents) >= most or not len(others):
            return NO_CHANGE
        # Rows are multiplied by the square roots of their weights, as weighted least squares needs.
        basis = np.linalg.qr(np.column_stack([roots, columns[parents].T * roots[:, None]]))[0]
        residuals = (y * roots - basis @ (basis.T @ (y * roots))) / roots
        scores = scores_of(residuals, counted[rows]) * roots
        gains = _gains(basis, scores, columns[others].T * roots[:, None])
        return total * gains.max(), int(others[np.argmax(gains)])

    def add(u: int) -> None:
        nonlocal parents
        parents = np.append(parents, u)

    change_best(best, add, penalty)
    return parents


def _gains(
    basis: NDArray[np.float64], scores: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log-likelihood per row that each of the other columns adds, given the basis."""
    sizes = np.sum(others**2, axis=0)
    scores = scores - basis @ (basis.T @ scores)
    others = others - basis @ (basis.T @ others)
    spread = np.sum(others**2, axis=0)
    products = spread * (scores @ scores)
    allowed = (spread > _DEPENDENT * sizes) & (products > 0)
    share = (scores @ others) ** 2 / np.where(allowed, products, 1.0)
    share = np.where(allowed, np.minimum(share, 1.0 - 1e-12), 0.0)
    return np.asarray(-0.5 * np.log1p(-share))


def scores_of(residuals: NDArray[np.float64], counted: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Compute the score :math:`-f'(r)/f(r)` of each residual; f is a kernel density estimate.

    `counted` are the weights of the rows.

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
    # With a width that is negligible beside the range, the largest value lies on the last point.
    below = np.minimum(places.astype(np.int64), _POINTS - 2)
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
