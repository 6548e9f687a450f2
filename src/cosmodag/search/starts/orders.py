"""Starting orders that correlations or variances suggest."""

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import default_penalty
from cosmodag.search.moments import Moments
from cosmodag.search.starts.conditional_variances import equal_variance_order
from cosmodag.search.starts.elimination import eliminate

# Names of the starts.
RANDOM, VARIANCE, EQUAL_VARIANCE = "random", "variance", "equal-variance"
SCALE_FREE, HUBS_FIRST = "scale-free", "hubs first"
# Number of variables up to which each start is cheap beside a search.
RANDOM_UP_TO = 40
EQUAL_VARIANCE_UP_TO = 2000
ELIMINATED_UP_TO = 3000
WIDE_UP_TO = 3000
# Added to the diagonal of the correlations, so that they have an inverse if columns are collinear.
RIDGE = 1e-6


def variance_order(moments: Moments) -> NDArray[np.int64]:
    """Sort the variables by variance, in ascending order; ties by index.

    Examples
    --------
    >>> variance_order(Moments.of([[0.0, 1.0, 2.0], [3.0, 2.0, 0.0]])).tolist()
    [1, 2, 0]
    """
    return np.argsort(moments.own_scales, kind="stable").astype(np.int64)


def scale_free_order(moments: Moments, penalty: float | None = None) -> NDArray[np.int64]:
    """Compute an order that does not depend on units.

    This is `elimination_order` if there are at least twice as many rows as variables, and at most
    3,000 variables: with fewer rows the inverse correlations are mostly noise, and with more
    variables elimination takes too long. Otherwise, variables are sorted by the share of their
    variance that the best few others explain, in ascending order.

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
    from cosmodag.search.wide import unexplained

    return np.argsort(-unexplained(moments, penalty), kind="stable").astype(np.int64)


def elimination_order(moments: Moments, penalty: float) -> NDArray[np.int64]:
    """Build an order from its end by repeatedly eliminating the variable of least cost.

    Two variables are neighbours if their entry in the inverse correlations is not zero, that is, if
    they depend on each other given all others: these are parents and children, and the parents of a
    common child (the moral graph). Eliminating a variable can make any two of its neighbours depend
    on each other. The neighbours of a variable without children are its parents, which depend on
    each other already; eliminating it adds no pair, and removes those that only it had joined. In a
    sparse graph, the variable that adds the fewest pairs is therefore eliminated first, as in the
    minimum-fill heuristic of sparse factorisations.

    A search from this order needs few moves: with 20 neighbours each and 10,000 rows there were .07
    to .11 wrong arcs per arc before any move (d = 200 to 1,000), and 5 in the order by summed
    squared correlations. That a neighbour costs as much as a pair, and the least share of a pair
    (`eliminate`), were chosen on two tables of each kind in `benchmarks/search.md`, with other
    seeds; costs of .5 to 2 per neighbour gave graphs of about the same score.

    If variables use different rows, the correlations of the largest group of rows are used.

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
    """Whether there are so few rows per variable that parents are few, and searches cheap."""
    return d <= WIDE_UP_TO and 4 * rows <= d


def hubs_first(moments: Moments) -> NDArray[np.int64]:
    """Sort the variables by the sum of their squared correlations, in descending order.

    With far fewer rows than variables (1,000 and 2,000 variables, 150 rows), searches from this
    order ended at higher scores than from `scale_free_order` on 6 of 8 tables, by 95 to 342, and at
    lower ones on two, by 147 and 251.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, y = random.normal(size=(2, 500))
    >>> int(hubs_first(Moments.of(np.column_stack([x, x + y, y])))[0])
    1
    """
    correlations = moments.correlations[int(np.argmax(moments.rows))]
    sums = np.einsum("ij,ij->j", correlations, correlations)
    # Rounded, because equal sums differ in their last digits.
    return np.argsort(-np.round(sums, 9), kind="stable").astype(np.int64)


def further_starts(
    moments: Moments,
    random: np.random.Generator,
    constraints: Constraints = NO_CONSTRAINTS,
    penalty: float | None = None,
) -> dict[str, NDArray[np.int64]]:
    """Compute starts that are cheap beside a search, by name.

    These are `variance_order`, `equal_variance_order`, `scale_free_order`, `hubs_first` if rows are
    few, and a random order if variables are few.
    """
    d = moments.variables
    ruled = constraints.respected
    starts = {VARIANCE: ruled(variance_order(moments))}
    if d <= EQUAL_VARIANCE_UP_TO:
        before = constraints.precedence
        starts[EQUAL_VARIANCE] = equal_variance_order(moments, before=before, penalty=penalty)
    starts[SCALE_FREE] = ruled(scale_free_order(moments, penalty))
    if is_wide(d, float(moments.rows.max())):
        starts[HUBS_FIRST] = ruled(hubs_first(moments))
    if d <= RANDOM_UP_TO:
        starts[RANDOM] = ruled(random.permutation(d))
    return starts
