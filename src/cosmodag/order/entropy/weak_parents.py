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
from scipy.sparse import csr_array

from cosmodag.order.chooser import NO_CHANGE, Change, change_best
from cosmodag.order.moments import Moments
from cosmodag.order.regression_graph import RegressionGraph

_POINTS = 512
# Of a normal kernel for the derivative of a density: (4 / 5)^(1/7), in deviations of the data.
_WIDTH, _RATE = 0.97, 1.0 / 7.0
_REACH = 5.0  # deviations of the kernel
_NORMAL_QUARTILES = 1.349
_DEPENDENT = 1e-9  # share of a candidate's variance that the parents must leave


def with_weak_parents(
    moments: Moments,
    order: NDArray[np.int64],
    graph: RegressionGraph,
    penalty: float,
    support: NDArray[np.bool_] | None = None,
) -> csr_array:
    """Weights after the best predecessor was added while its evidence exceeds the penalty.

    Parameters
    ----------
    moments : Moments
        With their table.
    order : (d,) array of int
        Causes first.
    graph : RegressionGraph
        On that order.
    penalty : float
        Per arc.
    support : (d, d) array of bool, optional
        Arcs that may exist.
    """
    d = moments.variables
    parents = np.split(graph.parents, graph.starts[1:-1])
    weights = np.split(graph.weights, graph.starts[1:-1])
    for place, child in enumerate(order.tolist()):
        earlier = order[:place]
        candidates = earlier if support is None else earlier[support[earlier, child]]
        if len(candidates) and moments.own_scales[child] > 0:
            chosen = _with_more(moments, child, parents[child], candidates, penalty)
            if len(chosen) > len(parents[child]):
                parents[child], weights[child] = chosen, _fitted(moments, child, chosen)
    heads = np.repeat(np.arange(d), [len(some) for some in parents])
    arcs = np.concatenate(parents), heads
    return csr_array((np.concatenate(weights), arcs), shape=(d, d))


def _with_more(
    moments: Moments,
    child: int,
    parents: NDArray[np.int64],
    candidates: NDArray[np.int64],
    penalty: float,
) -> NDArray[np.int64]:
    assert moments.table is not None
    counted = moments.table[moments.variables + moments.group[child]]
    rows = counted > 0
    columns, roots = moments.table[: moments.variables, rows], np.sqrt(counted[rows])
    y, total = columns[child], float(moments.own_rows[child])
    most = max(1, moments.rows.min() // 3)

    def best() -> Change:
        others = candidates[~np.isin(candidates, parents)]
        if len(parents) >= most or not len(others):
            return NO_CHANGE
        # Rows are weighted by their roots, so that least squares count each as often as it counts.
        basis = np.linalg.qr(np.column_stack([roots, columns[parents].T * roots[:, None]]))[0]
        left = (y * roots - basis @ (basis.T @ (y * roots))) / roots
        scores = scores_of(left, counted[rows]) * roots
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
    """Log-likelihood a row that each of the others adds, given what the basis explains."""
    sizes = np.sum(others**2, axis=0)
    scores = scores - basis @ (basis.T @ scores)
    others = others - basis @ (basis.T @ others)
    spread = np.sum(others**2, axis=0)
    allowed = spread > _DEPENDENT * sizes
    share = (scores @ others) ** 2 / np.where(allowed, spread * (scores @ scores), 1.0)
    share = np.where(allowed, np.minimum(share, 1.0 - 1e-12), 0.0)
    return np.asarray(-0.5 * np.log1p(-share))


def _fitted(moments: Moments, child: int, parents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Least squares of a child on its parents, in the units of the data."""
    group = moments.group[child]
    correlations, scales = moments.correlations[group], moments.scales[group]
    products, with_child = correlations[np.ix_(parents, parents)], correlations[parents, child]
    weights = np.linalg.lstsq(products * moments.unit, with_child * moments.unit, rcond=1e-10)[0]
    return np.asarray(weights * scales[child] / np.where(scales > 0, scales, 1.0)[parents])


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
