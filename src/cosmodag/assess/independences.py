"""Conditional independences that a graph implies, and their tests."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import ndtr, stdtr

from cosmodag.search.moments import Moments

Floats = NDArray[np.float64]
Test = Callable[[int, NDArray[np.intp], NDArray[np.intp]], tuple[Floats, Floats]]
"""A test of one variable against each of several others, given further variables.

It returns statistics, which are standard normal or t under independence, and p-values."""

# Minimum fraction of a column's variance that must remain unexplained for a test.
_MIN_UNEXPLAINED = 1e-8
# Random cosines of a curved regression, and its ridge penalty.
_FEATURES = 60
_RIDGE = 1e-2
# Ridge penalty per row of a regression on lines, above the rounding errors of products of columns.
_LINE_RIDGE = 1e-12


class Tested(NamedTuple):
    """Results of tests of pairs, (m,) each: independence given the parents of `second`."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    statistics: Floats
    p_values: Floats


def implied(
    arcs: NDArray[np.bool_], order: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
    """List the independences that a DAG implies: a variable, its earlier non-parents, its parents.

    The variable is independent of its earlier non-parents given its parents. Each pair that no arc
    joins occurs once. For Gaussian variables, these independences imply all others of the graph.
    The order has causes first.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    >>> list(implied(chain, np.arange(3)))
    [(2, array([0]), array([1]))]
    """
    for place, v in enumerate(order):
        earlier = order[:place]
        others = earlier[~arcs[earlier, v]]
        if len(others):
            yield int(v), others, np.flatnonzero(arcs[:, v])


def run_tests(arcs: NDArray[np.bool_], order: NDArray[np.intp], test: Test) -> Tested:
    """Test all independences that a DAG implies, without pairs that cannot be tested."""
    found = [Tested(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0), np.zeros(0))]
    for v, others, parents in implied(arcs, order):
        found.append(Tested(others, np.full(len(others), v), *test(v, others, parents)))
    columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    usable = np.isfinite(columns[3])
    return Tested(*(column[usable] for column in columns))


def failing_share(p_values: NDArray[np.float64]) -> float:
    """Fraction of p-values below .05; NaN if there are none."""
    return float(np.mean(p_values < 0.05)) if len(p_values) else float("nan")


def holm(p_values: Floats) -> Floats:
    """Correct p-values for their number by Holm's method.

    >>> holm(np.array([0.01, 0.5, 0.04])).tolist()
    [0.03, 0.5, 0.08]
    """
    m = len(p_values)
    rank = np.argsort(p_values)
    raised = np.minimum(np.maximum.accumulate(p_values[rank] * np.arange(m, 0, -1)), 1.0)
    corrected = np.empty(m)
    corrected[rank] = raised
    return corrected


def partial_correlation(
    moments: Moments, v: int, others: NDArray[np.intp], given: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Test by partial correlations, which is exact for linear relations with Gaussian noise.

    Rows in which the variable was set by intervention are left out.
    """
    group = moments.group[v]
    stored, rows = moments.correlations[group], float(moments.rows[group])
    variances = np.diag(stored) * moments.unit
    given = given[variances[given] > 0]
    ends = np.append(others, v)
    among = stored[np.ix_(given, given)] * moments.unit
    with_ends = stored[np.ix_(given, ends)] * moments.unit
    explained = linalg.pinvh(among) @ with_ends
    residual = variances[ends] - np.einsum("ij,ij->j", with_ends, explained)
    common = stored[others, v] * moments.unit - with_ends[:, :-1].T @ explained[:, -1]
    usable = (residual[:-1] > _MIN_UNEXPLAINED) & (residual[-1] > _MIN_UNEXPLAINED)
    freedom = rows - len(given) - 2
    if freedom < 1:
        usable[:] = False
    r = np.zeros(len(others))
    r[usable] = common[usable] / np.sqrt(residual[:-1][usable] * residual[-1])
    r = np.clip(r, -1 + 1e-12, 1 - 1e-12)
    t = r * np.sqrt(max(freedom, 1.0) / (1 - r**2))
    p = 2 * stdtr(max(freedom, 1.0), -np.abs(t))
    return t, np.where(usable, p, np.nan)


def residual_products(
    X: Floats,
    counted: NDArray[np.bool_] | None,
    curved: bool,
    v: int,
    others: NDArray[np.intp],
    given: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Test by products of residuals: the generalised covariance measure (Shah and Peters 2020).

    Both variables are regressed on the given ones, and the mean product of their residuals is
    compared with its standard error. This is valid for noise of any distribution, also if it
    depends on a parent. `X` (n, d) is standardised; `counted` marks the rows that count for each
    variable (None: all). If `curved`, ridge regressions also use random cosines of the columns.
    """
    rows = slice(None) if counted is None else counted[:, v]
    X = X[rows]
    ends = X[:, np.append(others, v)]
    residuals = ends - ends.mean(axis=0)
    if len(given):
        ridge = _RIDGE if curved else _LINE_RIDGE * len(X)
        residuals = _residuals(_features(X[:, given], curved), residuals, ridge)
    products = residuals[:, :-1] * residuals[:, -1:]
    spread = products.std(axis=0)
    usable = spread > _MIN_UNEXPLAINED
    z = np.zeros(len(others))
    z[usable] = np.sqrt(len(X)) * products.mean(axis=0)[usable] / spread[usable]
    return z, np.where(usable, 2 * ndtr(-np.abs(z)), np.nan)


def _features(given: Floats, curved: bool) -> Floats:
    """Return the regressors; cosines of random frequencies approximate a Gaussian kernel."""
    if not curved:
        return np.asarray(given - given.mean(axis=0))
    random = np.random.default_rng(0)
    k = given.shape[1]
    frequencies = random.normal(size=(k, _FEATURES)) / np.sqrt(k)
    waves = np.cos(given @ frequencies + random.uniform(0, 2 * np.pi, _FEATURES))
    found = np.hstack([given, waves * np.sqrt(2)])
    return np.asarray(found - found.mean(axis=0))


def _residuals(features: Floats, targets: Floats, ridge: float) -> Floats:
    gram = features.T @ features + ridge * np.eye(features.shape[1])
    return np.asarray(targets - features @ linalg.solve(gram, features.T @ targets, assume_a="pos"))


TESTS = ("partial-correlation", "residuals", "curved")
"""Names of tests: for linear relations with Gaussian noise, with any noise, and any relations."""
