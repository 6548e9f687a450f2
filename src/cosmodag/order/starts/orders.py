"""Starting orders: the learners', and those that correlations or variances suggest."""

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.errors import DataError
from cosmodag.graph.dags import respecting
from cosmodag.order.moments import Moments
from cosmodag.order.scores import default_penalty
from cosmodag.order.starts.conditional_variances import equal_variance_order
from cosmodag.order.starts.elimination import eliminate

# Up to these sizes a random start, and the equal-variance order, cost little.
RANDOM_UP_TO = 40
RANDOM, VARIANCE, EQUAL_VARIANCE = "random", "variance", "equal-variance"
SCALE_FREE, HUBS_FIRST = "scale-free", "hubs first"
EQUAL_VARIANCE_UP_TO = 2000
ELIMINATED_UP_TO = 3000
WIDE_UP_TO = 3000
# What is added to the diagonal of correlations, so that collinear columns have an inverse.
RIDGE = 1e-6


def variance_order(moments: Moments) -> NDArray[np.int64]:
    """Variables by rising variance; ties by index.

    Examples
    --------
    >>> variance_order(Moments.of([[0.0, 1.0, 2.0], [3.0, 2.0, 0.0]])).tolist()
    [1, 2, 0]
    """
    return np.argsort(moments.own_scales, kind="stable").astype(np.int64)


def scale_free_order(moments: Moments, penalty: float | None = None) -> NDArray[np.int64]:
    """Order that does not depend on units.

    By `elimination_order` with at least twice as many rows as variables; with fewer rows the
    inverse of the correlations is mostly noise, and beyond 3,000 variables elimination takes too
    long: there, by the share of the variance of each that the best few others explain, least first.

    Parameters
    ----------
    moments : Moments
    penalty : float, optional
        Per arc; by default `default_penalty`.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, y = random.normal(size=(2, 500))
    >>> scale_free_order(Moments.of(np.column_stack([x + y, x]))).shape
    (2,)
    """
    d, rows = moments.variables, float(moments.rows.max())
    if penalty is None:
        penalty = default_penalty(rows, d)
    if d <= ELIMINATED_UP_TO and rows >= 2 * d:
        return elimination_order(moments, penalty)
    from cosmodag.order.large import unexplained

    return np.argsort(-unexplained(moments, penalty), kind="stable").astype(np.int64)


def elimination_order(moments: Moments, penalty: float) -> NDArray[np.int64]:
    """Order found from its end: next to last comes the variable whose elimination costs least.

    The inverse of the correlations joins every two variables that depend on each other given all
    others: parents and children, and the parents of a child. To eliminate a variable joins its
    neighbours. A variable without children has parents for neighbours, which are joined already;
    once it is gone, they are joined no more unless something else joins them. So of a sparse graph
    the variable goes first that adds fewest pairs (the minimum fill of sparse factorisations).
    Started from here, searches need few moves: with 20 neighbours each and 10,000 rows .07 to .11
    wrong arcs per arc were left before any move (d = 200 to 1,000), 5 in the order of summed
    squared correlations. That each neighbour costs as much as one pair, and the least share of a
    pair (`eliminate`), were chosen on two tables for each kind of `benchmarks/search.md`, other
    seeds; costs of .5 to 2 a neighbour gave graphs of about the same score.

    One matrix of correlations is used where variables count different rows: that of most rows.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> order = elimination_order(Moments.of(data.X), 7.0)
    >>> sorted(order.tolist()) == list(range(10))
    True
    """
    d, largest = moments.variables, int(np.argmax(moments.rows))
    inverse = np.linalg.inv(moments.correlations[largest] + RIDGE * np.eye(d))
    ints = np.zeros((3, d), np.int64)
    ints[1] = 2
    eliminate(inverse, 0.5 * float(moments.rows[largest]), penalty, np.zeros(d), ints)
    return np.asarray(ints[0].copy(), np.int64)


def is_wide(d: int, rows: float) -> bool:
    """Tell whether rows are so few that parents are few too, and searches cheap."""
    return d <= WIDE_UP_TO and 4 * rows <= d


def hubs_first(moments: Moments) -> NDArray[np.int64]:
    """Variables by the falling sum of their squared correlations.

    With far fewer rows than variables (1,000 and 2,000 variables, 150 rows) searches from here
    ended higher than from `scale_free_order` on 6 of 8 tables, by 95 to 342, and lower on two, by
    147 and 251.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, y = random.normal(size=(2, 500))
    >>> int(hubs_first(Moments.of(np.column_stack([x, x + y, y])))[0])
    1
    """
    correlations = moments.correlations[int(np.argmax(moments.rows))]
    sums = np.einsum("ij,ij->j", correlations, correlations)
    # Rounded, since equal sums differ in their last digits.
    return np.argsort(-np.round(sums, 9), kind="stable").astype(np.int64)


def closed_order(*parts: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Give what must come before what, by some relations together, with all that follows from it.

    Examples
    --------
    >>> first, second = np.zeros((2, 3, 3), bool)
    >>> first[0, 1] = second[1, 2] = True
    >>> closed_order(first, second).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    closed = closure(np.logical_or.reduce(parts))
    if closed.diagonal().any():
        raise DataError("What is required to come before what has a cycle.")
    return closed


def further_starts(
    moments: Moments,
    random: np.random.Generator,
    before: NDArray[np.bool_] | None = None,
    penalty: float | None = None,
) -> dict[str, NDArray[np.int64]]:
    """Orders that cost little beside a search.

    By variance; by variance given those before; `scale_free_order`; `hubs_first` where rows are
    few; and at random, where there are few variables.
    """
    d = moments.variables
    starts = {VARIANCE: respecting(variance_order(moments), before)}
    if d <= EQUAL_VARIANCE_UP_TO:
        starts[EQUAL_VARIANCE] = equal_variance_order(moments, before=before, penalty=penalty)
    starts[SCALE_FREE] = respecting(scale_free_order(moments, penalty), before)
    if is_wide(d, float(moments.rows.max())):
        starts[HUBS_FIRST] = respecting(hubs_first(moments), before)
    if d <= RANDOM_UP_TO:
        starts[RANDOM] = respecting(random.permutation(d), before)
    return starts
