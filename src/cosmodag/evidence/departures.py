"""Tests of what was kept: the noise must be independent of the parents and of other noise."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Standardised values beyond this are clipped, so that single rows decide no test.
_CLIP = 3.0
# Products of more pairs of parents than this are not tested.
_MOST_PAIRS = 2000

WORDS = {
    "mean": "the mean of the noise of {head} depends on {tail}",
    "spread": "the spread of the noise of {head} depends on {tail}",
    "jointly": "the noise of {head} depends on products of its causes, such as {tail}",
    "shared": "the noises of {head} and {tail} depend on one another",
    "shape": "the noise of {head} is not normal",
}
"""Kinds of departures, in words."""


@dataclass(frozen=True)
class Departure:
    """The clearest of the dependences of one kind, with the size of its statistic."""

    kind: str
    tail: int
    head: int
    size: float  # standard deviations of the statistic under independence
    limit: float  # size that chance exceeds in few tables
    count: int  # number of pairs beyond the limit

    def sentence(self, names: list[str]) -> str:
        """Describe the departure."""
        text = WORDS[self.kind].format(head=names[self.head], tail=names[self.tail])
        return f"{text} ({self.size:.1f} standard errors; chance: at most {self.limit:.1f})"


def departures(
    X: Floats, noise: Floats, arcs: Bools, level: float = 0.01, *, linear: bool = False
) -> list[Departure]:
    """Test the noise (n, d) of the equations of a graph; each kind has the given level in total.

    The noise of a variable must depend on its parents neither in mean nor in spread, nor on their
    products, and not on the noise of other variables. With `linear`, the table should also be
    jointly normal: the noise must be normal, and no other variable may bend its mean.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, e = random.normal(size=(2, 500))
    >>> X = np.column_stack([x, x**2 + e])
    >>> arcs = np.array([[False, True], [False, False]])
    >>> departures(X, np.column_stack([x, e]), arcs)
    []
    >>> [one.kind for one in departures(X, X - X.mean(axis=0), arcs)]
    ['mean', 'spread', 'shared']
    """
    n, d = X.shape
    Z, R = _standardised(X), _standardised(noise)
    second, third, spread = _power(Z, 2), _power(Z, 3), _power(R, 2)
    both = arcs | arcs.T
    np.fill_diagonal(both, False)
    everywhere = ~np.eye(d, dtype=np.bool_)
    bends = everywhere if linear else arcs
    found = [
        _worst("mean", [second.T @ R / n, third.T @ R / n], bends, n, level),
        _worst("spread", [Z.T @ spread / n, second.T @ spread / n], arcs, n, level),
        _jointly(Z, R, arcs, level),
        _worst(
            "shared",
            # Squares of correlated normal noise have the squared correlation.
            [R.T @ spread / n, spread.T @ spread / n - (R.T @ R / n) ** 2, _power(R, 3).T @ R / n],
            everywhere,
            n,
            level,
        ),
    ]
    if linear:
        own = np.stack([(R**3).mean(axis=0) / np.sqrt(15), _excess(noise) / np.sqrt(96)])
        shape = np.diag(np.abs(own).max(axis=0))
        found.append(_worst("shape", [shape], np.eye(d, dtype=np.bool_), n, level))
    return [one for one in found if one is not None and one.count]


def _worst(
    kind: str, statistics: list[Floats], tested: Bools, n: int, level: float
) -> Departure | None:
    """Find the clearest of the tested pairs; None if there are none."""
    pairs = np.argwhere(tested)
    if not len(pairs):
        return None
    limit = float(-ndtri(level / (2 * len(statistics) * len(pairs))))
    sizes = np.sqrt(n) * np.max([np.abs(one[tested]) for one in statistics], axis=0)
    place = int(sizes.argmax())
    tail, head = pairs[place].tolist()
    return Departure(
        kind, tail, head, float(sizes[place]), limit, int(np.count_nonzero(sizes > limit))
    )


def _jointly(Z: Floats, R: Floats, arcs: Bools, level: float) -> Departure | None:
    """Dependence of the noise on products of two parents, beyond what each explains alone."""
    triples = [
        (int(u), int(w), v)
        for v in range(Z.shape[1])
        for u, w in combinations(np.flatnonzero(arcs[:, v]), 2)
    ][:_MOST_PAIRS]
    if not triples:
        return None
    limit = float(-ndtri(level / (2 * len(triples))))
    first, second, head = np.array(triples).T
    products = _standardised(Z[:, first] * Z[:, second])
    sizes = np.abs((products * R[:, head]).sum(axis=0)) / np.sqrt(len(Z))
    place = int(sizes.argmax())
    count = int(np.count_nonzero(sizes > limit))
    return Departure(
        "jointly", int(first[place]), int(head[place]), float(sizes[place]), limit, count
    )


def _standardised(X: Floats) -> Floats:
    """Columns of mean zero and deviation one, clipped; constant columns are zero."""
    centred = X - X.mean(axis=0)
    deviations = centred.std(axis=0)
    return _scaled(np.clip(centred / np.where(deviations > 0, deviations, 1.0), -_CLIP, _CLIP))


def _scaled(X: Floats) -> Floats:
    centred = X - X.mean(axis=0)
    deviations = centred.std(axis=0)
    return np.asarray(centred / np.where(deviations > 0, deviations, 1.0))


def _power(Z: Floats, degree: int) -> Floats:
    """Squares or cubes of standardised columns without their linear part, standardised.

    They are not clipped again, which would restore a linear part.
    """
    power = Z**degree
    return _scaled(power - (power * Z).mean(axis=0) * Z)


def _excess(noise: Floats) -> Floats:
    """Excess kurtosis of each column, clipped at five deviations; normal columns have none."""
    centred = noise - noise.mean(axis=0)
    deviations = centred.std(axis=0)
    scaled = np.clip(centred / np.where(deviations > 0, deviations, 1.0), -5, 5)
    return np.asarray((scaled**4).mean(axis=0) - 3.0)
