"""Distributions of a category by combinations of its parents' levels."""

import math

import numpy as np
from numpy.typing import NDArray

# Rows of the marginal distribution that are added to each combination of levels.
_ADDED = 1.0


def states_of(levels: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Encode the combination of levels in each row as a number; the last column changes fastest.

    `counts` are the numbers of levels of the columns.

    Examples
    --------
    >>> states_of(np.array([[0, 0], [0, 2], [1, 0]]), np.array([2, 3])).tolist()
    [0, 2, 3]
    """
    states = np.zeros(len(levels), np.int64)
    for column, count in zip(levels.T, counts, strict=True):
        states = states * int(count) + column
    return states


def shares_of(
    states: NDArray[np.integer], levels: NDArray[np.integer], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Estimate probabilities of levels: (combinations, levels).

    One row with the shares of all rows is added to each combination, so that a combination without
    rows has the shares of all. To these, half a row of each level is added.

    Examples
    --------
    >>> shares_of(np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0]), (3, 2)).tolist()
    [[0.075, 0.925], [0.65, 0.35], [0.3, 0.7]]
    """
    cells = np.bincount(states * shape[1] + levels, minlength=math.prod(shape)).reshape(shape)
    counts = cells + _ADDED * margin_of(cells.sum(axis=0))
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def margin_of(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """Shares of levels from their counts plus one half."""
    return np.asarray((counts + 0.5) / (counts.sum() + 0.5 * len(counts)))


def held_out_shares(
    levels: NDArray[np.integer],
    states: NDArray[np.integer],
    count: int,
    folds: NDArray[np.integer],
) -> NDArray[np.float64]:
    """(n,): probability of the level in each row, by `shares_of` the rows of the other folds."""
    _, states = np.unique(states, return_inverse=True)
    cells, found = states * count + levels, np.zeros(len(levels))
    size = (int(states.max(initial=0)) + 1) * count
    both, alone = np.bincount(cells, minlength=size), np.bincount(states)
    margin = np.bincount(levels, minlength=count)
    for fold in range(int(folds.max(initial=-1)) + 1):
        held = folds == fold
        hits = both[cells[held]] - np.bincount(cells[held], minlength=size)[cells[held]]
        rows = alone[states[held]] - np.bincount(states[held], minlength=len(alone))[states[held]]
        shares = margin_of(margin - np.bincount(levels[held], minlength=count))
        found[held] = (hits + _ADDED * shares[levels[held]]) / (rows + _ADDED)
    return found
