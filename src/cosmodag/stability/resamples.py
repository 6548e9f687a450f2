"""Resamples of a table: the rows of a fit, from a seed alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SAMPLES", "block_length", "rows_of"]


def _with_replacement(n: int, random: np.random.Generator) -> NDArray[np.intp]:
    return random.integers(n, size=n)


def _half(n: int, random: np.random.Generator) -> NDArray[np.intp]:
    return random.permutation(n)[: max(2, n // 2)]


SAMPLES: dict[str, Any] = {"bootstrap": _with_replacement, "half": _half}
"""How rows are drawn, by name: n of n with replacement, or half of them without."""


def rows_of(
    sample: str, n: int, seed: int, block: int = 1, groups: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Draw the rows of one resample, sorted; within groups (n,) of rows, if these are given.

    With a `block` greater than one, successive rows are drawn together: dependence between rows of
    a time series that the equations do not explain is then the same as in the table.

    Examples
    --------
    >>> rows_of("bootstrap", 6, seed=0).tolist()
    [0, 1, 1, 3, 3, 5]
    """
    random = np.random.default_rng(seed)
    if block > 1:
        return np.sort(_BLOCKS[sample](n, block, random))
    if groups is None:
        rows: NDArray[np.intp] = SAMPLES[sample](n, random)
        return np.sort(rows)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.sort(np.concatenate([own[SAMPLES[sample](len(own), random)] for own in members]))


def block_length(n: int, lags: int) -> int:
    """Successive windows that are drawn together: n^(1/3), and no fewer than a window's times.

    Examples
    --------
    >>> block_length(1000, 2), block_length(20, 5)
    (10, 6)
    """
    return max(int(np.cbrt(n)), lags + 1)


def _blocks_with_replacement(n: int, block: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Draw blocks that start anywhere; the first row follows the last."""
    starts = random.integers(n, size=-(-n // block))
    return np.asarray((starts[:, None] + np.arange(block)).ravel()[:n] % n, np.intp)


def _half_of_blocks(n: int, block: int, random: np.random.Generator) -> NDArray[np.intp]:
    parts = np.array_split(np.arange(n), max(-(-n // block), 2))
    chosen = random.permutation(len(parts))[: max(1, len(parts) // 2)]
    return np.concatenate([parts[place] for place in chosen])


_BLOCKS: dict[str, Any] = {"bootstrap": _blocks_with_replacement, "half": _half_of_blocks}
