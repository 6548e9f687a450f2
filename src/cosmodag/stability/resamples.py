"""Resamples of a table: which rows a fit sees, from a seed alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SAMPLES", "rows_of"]


def _with_replacement(n: int, random: np.random.Generator) -> NDArray[np.intp]:
    return random.integers(n, size=n)


def _half(n: int, random: np.random.Generator) -> NDArray[np.intp]:
    return random.permutation(n)[: max(2, n // 2)]


SAMPLES: dict[str, Any] = {"bootstrap": _with_replacement, "half": _half}
"""How rows are drawn, by name: n of n with replacement, or half of them without."""


def rows_of(
    sample: str, n: int, seed: int, groups: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Draw the rows of one resample, sorted; within groups (n,) of rows, if these are given.

    Examples
    --------
    >>> rows_of("bootstrap", 6, seed=0).tolist()
    [0, 1, 1, 3, 3, 5]
    """
    random = np.random.default_rng(seed)
    if groups is None:
        rows: NDArray[np.intp] = SAMPLES[sample](n, random)
        return np.sort(rows)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.sort(np.concatenate([own[SAMPLES[sample](len(own), random)] for own in members]))
