"""Tests of whether the noise of a variable is independent of its parents, arc by arc.

In a linear model the residual r of a variable is independent of each parent x. If the relation is
curved, r depends on x² or x³; if the noise depends on a parent, r² depends on x or x². The noise
decision and the findings `curved` and `uneven_noise` both use these tests, each with its own
limits. Values are clipped, so that a few outliers do not determine the result.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Values are clipped at this many standard deviations: heavy tails would invalidate the standard
# errors.
_CLIPPED_AT = 3.0
# A residual that is smaller than this fraction of its column is rounding error.
_ROUNDING = 1e-6


class Powers(NamedTuple):
    """Powers of a clipped column: centred vectors of unit length."""

    first: Floats
    square: Floats
    second: Floats  # residual of the square after regression on the values
    third: Floats  # residual of the cube after regression on the values and the square


class ArcTests(NamedTuple):
    """Statistics of the tests of each arc, (arcs,) each, in standard errors.

    Attributes
    ----------
    tails, heads
        The arc u → v. Below, r is the residual of v, and x is the column u.
    square, cube
        Correlation of r with x², and with the residual of x³ given lower powers of x.
    spread
        The correlation of r² with x or with x², whichever is larger in absolute value.
    curved
        Correlation of r with the residual of x² given x; its standard error allows for noise that
        depends on x.
    uneven
        The same as ``spread``, but the second correlation is that of the residual of r² given r
        with the residual of x² given x. It is more sensitive, but where noise is skewed it also
        reacts to small errors of a search.
    """

    tails: NDArray[np.intp]
    heads: NDArray[np.intp]
    square: Floats
    cube: Floats
    spread: Floats
    curved: Floats
    uneven: Floats


def arc_tests(
    X: Floats,
    residuals: Floats,
    tails: NDArray[np.intp],
    heads: NDArray[np.intp],
    counted: Floats | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ArcTests:
    """Test for each arc whether the residual of its head is independent of its tail.

    Residuals (n, d) are those of linear equations. An equation is tested on the rows in which its
    variable was not set: those in which `counted` (n, d) is not 0. The tests are sorted by head.
    Arcs into columns that their parents determine are left out, and so are all further arcs once
    `should_stop` returns True.

    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> X, residuals = np.column_stack([x, x + noise]), np.column_stack([x, noise])
    >>> found = arc_tests(X, residuals, np.array([0]), np.array([1]))
    >>> bool(abs(found.curved[0]) < 3.5)
    True
    """
    is_noise = residuals.std(axis=0) > _ROUNDING * X.std(axis=0)
    order = np.argsort(heads, kind="stable")
    order = order[is_noise[heads[order]]]
    tails, heads = tails[order], heads[order]
    parents: dict[int, Powers] = {}
    found: list[tuple[float, ...]] = []
    last, residual = -1, None
    for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
        if should_stop():
            break
        rows = slice(None) if counted is None else counted[:, head] > 0
        if residual is None or head != last:
            last, residual = head, powers_of(residuals[rows, head])
        if counted is not None or tail not in parents:
            parents[tail] = powers_of(X[rows, tail])
        found.append(pair_tests(residual, parents[tail]))
    tails, heads = tails[: len(found)], heads[: len(found)]
    return ArcTests(tails, heads, *np.array(found, np.float64).reshape(-1, 5).T.copy())


def pair_tests(residual: Powers, parent: Powers) -> tuple[float, float, float, float, float]:
    """Compute the five statistics of one arc, in the order of `ArcTests`."""
    size = float(np.sqrt(len(residual.first)))
    products = residual.first * parent.second
    error = max(float(np.linalg.norm(products)), np.finfo(float).tiny)
    with_square = residual.square @ parent.first
    return (
        size * float(residual.first @ parent.square),
        size * float(residual.first @ parent.third),
        size * float(max(with_square, residual.square @ parent.square, key=abs)),
        float(products.sum()) / error,
        # Least squares makes r uncorrelated with x, so r² and its residual given r have the same
        # covariance with x. The standard error of that covariance is the one of r²; with
        # exponential noise, the standard error of the residual would be too small by √2.
        size * float(max(with_square, residual.second @ parent.second, key=abs)),
    )


def powers_of(values: Floats) -> Powers:
    """Compute the powers of a column after standardising and clipping it."""
    centred = values - values.mean()
    clipped = centred / max(float(centred.std()), np.finfo(float).tiny)
    clipped = np.clip(clipped, -_CLIPPED_AT, _CLIPPED_AT)
    first = _unit_residual(clipped)
    square, second = _unit_residual(clipped**2), _unit_residual(clipped**2, first)
    return Powers(first, square, second, _unit_residual(clipped**3, first, second))


def _unit_residual(values: Floats, *explained: Floats) -> Floats:
    """Residual after regression on a constant and orthonormal columns: unit length, or zero."""
    rest = values - values.mean()
    length = float(np.linalg.norm(rest))
    for column in explained:
        rest = rest - (column @ rest) * column
    size = float(np.linalg.norm(rest))
    return np.asarray(rest / size if size > _ROUNDING * length else np.zeros_like(rest))
