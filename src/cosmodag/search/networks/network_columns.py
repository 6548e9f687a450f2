"""Columns of variables for Gaussian processes: one for a number, indicators for a category."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.search.networks.process_evidence import Floats

# Combinations of indicators vary if their variance exceeds this fraction of the largest.
_NO_SPREAD = 1e-9


class ProcessColumns(NamedTuple):
    """The variables of a table as inputs and as targets of Gaussian processes."""

    inputs: Floats
    """(n, d): standardised columns; with categories (n, d, width): blocks padded by zeros."""
    targets: tuple[Floats, ...]
    """(n,) per number or count, (n, m) per category."""
    deviations: NDArray[np.float64]
    """(d,): standard deviations by which inputs were divided; 1 if strengths refer to the inputs
    as they are."""
    levels: tuple[NDArray[np.int64] | None, ...]
    """(n,) per category, the numbers of its levels; None for numbers and counts."""

    @classmethod
    def of_numbers(cls, data: NDArray[np.float64]) -> "ProcessColumns":
        """Represent a table in which all columns are numbers."""
        deviations = data.std(axis=0)
        deviations[deviations == 0] = 1
        columns = np.ascontiguousarray((data - data.mean(axis=0)) / deviations, dtype=np.float32)
        return cls(columns, tuple(columns.T), deviations, (None,) * len(deviations))

    @classmethod
    def of_kinds(cls, data: NDArray[np.float64], embedding: Embedding) -> "ProcessColumns":
        """Represent a table with categories or counts, in its own units.

        As an input, a category is the indicators of all its levels, scaled to a total variance of
        one, so that all pairs of levels have the same distance. As a target, it is uncorrelated
        combinations of them.
        """
        n, d = data.shape
        blocks = [_block(embedding, data[:, v], v) for v in range(d)]
        inputs = np.zeros((n, d, max(block.shape[1] for block in blocks)), np.float32)
        targets, levels = [], []
        for v, block in enumerate(blocks):
            total = float(block.var(axis=0).sum())
            inputs[:, v, : block.shape[1]] = block / np.sqrt(total if total > 0 else 1.0)
            is_levels = embedding.is_levels(v)
            targets.append(_uncorrelated(block) if is_levels else inputs[:, v, 0].copy())
            levels.append(np.argmax(block, axis=1) if is_levels else None)
        return cls(inputs, tuple(targets), np.ones(d), tuple(levels))

    def of_rows(self, rows: NDArray[np.intp]) -> "ProcessColumns":
        """Select rows, in the given order."""
        targets = tuple(np.ascontiguousarray(one[rows]) for one in self.targets)
        levels = tuple(None if one is None else one[rows] for one in self.levels)
        inputs = np.ascontiguousarray(self.inputs[rows])
        return self._replace(inputs=inputs, targets=targets, levels=levels)

    @property
    def standardised(self) -> NDArray[np.float64]:
        """(n, d): one standardised number per variable; for a category, its first indicator."""
        flat = self.inputs if self.inputs.ndim == 2 else self.inputs[:, :, 0]
        flat = flat.astype(np.float64) - flat.mean(axis=0, dtype=np.float64)
        deviations = flat.std(axis=0)
        return np.asarray(flat / np.where(deviations > 0, deviations, 1.0))


def centred_squares(inputs: Floats) -> Floats:
    """Compute squares of numbers, less one: they represent curved effects at relevance zero."""
    squares = np.square(inputs) - 1
    if inputs.ndim == 2:
        return squares
    is_number = ~np.any(inputs[:, :, 1:] != 0, axis=(0, 2))
    return np.asarray(squares * (is_number[:, None] & (np.arange(inputs.shape[2]) == 0)))


def _block(embedding: Embedding, x: NDArray[np.float64], v: int) -> NDArray[np.float64]:
    if not embedding.is_levels(v):
        return embedding.block(x, v, 1)
    levels = embedding.levels_of(x, v)
    return np.asarray(levels[:, None] == np.arange(int(embedding.widths[v]) + 1), np.float64)


def _uncorrelated(block: NDArray[np.float64]) -> Floats:
    """Principal components of the columns, scaled to variance one, without constant ones."""
    centred = block - block.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(block))
    varies = values > _NO_SPREAD * max(values[-1], 1e-300)
    return np.asarray(centred @ (vectors[:, varies] / np.sqrt(values[varies])), np.float32)
