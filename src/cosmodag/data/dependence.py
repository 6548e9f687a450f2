"""Whether noise is independent of the parents: residuals against parents, arc by arc.

In a linear model the residual r of a variable is independent of each parent x. If the relation is
curved, r depends on x² or x³; if the noise depends on a parent, r² depends on x or x². The noise
decision and the findings `curved` and `uneven_noise` both use these tests, each with its own
limits. Values are clipped, so that a few outliers do not decide.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Values are clipped at this many deviations: heavy tails would invalidate the standard errors.
_CLIPPED_AT = 3.0
# A residual below this share of its column is rounding error.
_ROUNDING = 1e-6


class Powers(NamedTuple):
    """Clipped values, their squares, and residuals of powers given lower ones; of unit length."""

    first: Floats
    square: Floats
    second: Floats
    third: Floats


class ArcTests(NamedTuple):
    """What was tested of each arc, (arcs,) each, in standard errors.

    Attributes
    ----------
    tails, heads
        The arc u → v, with r the residual of v and x the column u.
    square, cube
        Correlations of r with x², and with x³ less what lower powers explain of it.
    spread
        The larger, in size, of the correlations of r² with x and with x².
    curved
        Correlation of r with x² less what x explains of it, with a standard error that allows for
        noise that depends on x.
    uneven
        The same as ``spread``, but the second correlation is that of the residuals of r² given r
        and of x² given x. It is more sensitive, also to arcs that a search set slightly wrong where
        noise is skewed.
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
    variable was not set, where `counted` is not 0. The tests are sorted by head; arcs into columns
    that their parents determine are left out, and those that are left when `should_stop` says so.

    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> X, left = np.column_stack([x, x + noise]), np.column_stack([x, noise])
    >>> found = arc_tests(X, left, np.array([0]), np.array([1]))
    >>> bool(abs(found.curved[0]) < 3.5)
    True
    """
    is_noise = residuals.std(axis=0) > _ROUNDING * X.std(axis=0)
    order = np.argsort(heads, kind="stable")
    order = order[is_noise[heads[order]]]
    tails, heads = tails[order], heads[order]
    kept: dict[int, Powers] = {}
    found: list[tuple[float, ...]] = []
    last, left = -1, None
    for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
        if should_stop():
            break
        rows = slice(None) if counted is None else counted[:, head] > 0
        if left is None or head != last:
            last, left = head, powers_of(residuals[rows, head])
        if counted is not None or tail not in kept:
            kept[tail] = powers_of(X[rows, tail])
        found.append(pair_tests(left, kept[tail]))
    tails, heads = tails[: len(found)], heads[: len(found)]
    return ArcTests(tails, heads, *np.array(found, np.float64).reshape(-1, 5).T.copy())


def pair_tests(left: Powers, parent: Powers) -> tuple[float, float, float, float, float]:
    """Give the five statistics of one arc, in the order of `ArcTests`."""
    size = float(np.sqrt(len(left.first)))
    products = left.first * parent.second
    error = max(float(np.linalg.norm(products)), np.finfo(float).tiny)
    with_square = left.square @ parent.first
    return (
        size * float(left.first @ parent.square),
        size * float(left.first @ parent.third),
        size * float(max(with_square, left.square @ parent.square, key=abs)),
        float(products.sum()) / error,
        # Least squares makes r uncorrelated with x, so that r² and its residual given r have the
        # same covariance with x. Its standard error is that of r²; for exponential noise that of
        # the residual would be smaller by √2.
        size * float(max(with_square, left.second @ parent.second, key=abs)),
    )


def powers_of(values: Floats) -> Powers:
    """Take powers of a column; a residual of least squares is uncorrelated with the first."""
    centred = values - values.mean()
    clipped = centred / max(float(centred.std()), np.finfo(float).tiny)
    clipped = np.clip(clipped, -_CLIPPED_AT, _CLIPPED_AT)
    first = _residual(clipped)
    square, second = _residual(clipped**2), _residual(clipped**2, first)
    return Powers(first, square, second, _residual(clipped**3, first, second))


def _residual(values: Floats, *explained: Floats) -> Floats:
    """Residual after regression on a constant and orthogonal columns: unit length, or zero."""
    rest = values - values.mean()
    length = float(np.linalg.norm(rest))
    for column in explained:
        rest = rest - (column @ rest) * column
    left = float(np.linalg.norm(rest))
    return np.asarray(rest / left if left > _ROUNDING * length else np.zeros_like(rest))
