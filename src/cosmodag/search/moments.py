"""Sufficient statistics of linear scores: correlations, numbers of rows and scales."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError

# A column whose standard deviation is below this share of its largest magnitude is constant but for
# rounding errors.
ROUNDING = 1e-13
# With more than 30,000 variables, correlations are stored as integers, in multiples of a unit,
# which takes half the memory (10 GB instead of 20 for 50,000). Floating-point numbers of the same
# size have steps of 2⁻²⁴ near one: too coarse where parents leave a share of 1e-7 of a variance, as
# they do in deep graphs.
WHOLE_BEYOND, UNIT = 30_000, 2.0**-30
# Maximum number of columns in one matrix product of a wide table: OpenBLAS 0.3.31 crashes in the
# product of 50,000 columns.
TILE = 2048


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments of a table, with one set for all variables that use the same rows.

    The local score of a variable v uses the rows in which v follows its own equation. These rows
    differ between variables if interventions set some variables in some rows. Variables with the
    same rows form a group and share one matrix of correlations. Columns are centred on the rows
    they use, which replaces an intercept.

    Attributes
    ----------
    correlations : (g, d, d) array
        One matrix per group; rows and columns of constant columns are zero. Double precision up to
        30,000 variables; with more, int32 in units of 2⁻³⁰ (`unit`).
    group : (d,) array of int
        Group of each variable.
    rows : (g,) array
        Number of rows of each group, or sum of their weights.
    means, scales : (g, d) arrays
        Mean and standard deviation per column; the scale of a constant column is 0.
    given : (d,) array of bool, optional
        Columns without an equation, such as the past of a time series. A common noise variance is
        not estimated from them.
    table : (d + g, n) array, optional
        The centred columns, followed by the row weights of each group; used by scores based on
        entropy.
    """

    correlations: NDArray[Any]
    group: NDArray[np.int64]
    rows: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    given: NDArray[np.bool_] | None = None
    table: NDArray[np.float64] | None = None

    @property
    def variables(self) -> int:
        """Number of variables d."""
        return len(self.group)

    @property
    def unit(self) -> float:
        """The correlation that an entry of 1 in ``correlations`` represents."""
        return UNIT if self.correlations.dtype == np.int32 else 1.0

    @property
    def own_scales(self) -> NDArray[np.float64]:
        """Standard deviation of each variable over the rows of its own equation."""
        return self.scales[self.group, np.arange(len(self.group))]

    @property
    def has_noise(self) -> NDArray[np.bool_]:
        """Columns that vary and have an equation."""
        varies = self.own_scales > 0
        return varies if self.given is None else varies & ~self.given

    @property
    def own_rows(self) -> NDArray[np.float64]:
        """Number of rows of each variable's own equation."""
        return self.rows[self.group]

    @staticmethod
    def of(X: ArrayLike, counted: ArrayLike | None = None) -> "Moments":
        """Compute the moments of a table.

        Columns are divided by their standard deviations before they are multiplied, so that scaling
        a column by a power of two does not change a bit of the correlations.

        Parameters
        ----------
        X : (n, d) array
        counted : (n,) or (n, d) array, optional
            Weight of row i in the equation of variable v, at [i, v] (or at [i] for all variables):
            0 if v was set by an intervention, the number of repetitions in a bootstrap; default 1.

        Examples
        --------
        >>> moments = Moments.of([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [4.0, 8.0, 5.0]])
        >>> moments.correlations[0].round(12).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
        """
        table = np.asarray(X, np.float64)
        if table.ndim != 2 or not len(table):
            raise DataError(f"A table has rows and columns, but this one has shape {table.shape}.")
        n, d = table.shape
        columns, group = _groups(counted, n, d)
        sets = [standardised_table(table, weights) for weights in columns]
        kind: Any = np.int32 if d > WHOLE_BEYOND else np.float64
        correlations = np.empty((len(sets), d, d), kind)
        for place, (standard, *_) in enumerate(sets):
            occupied = np.any(standard, axis=0)
            if kind == np.int32:
                _multiply_in_tiles(standard, correlations[place])
                np.fill_diagonal(correlations[place], occupied * round(1 / UNIT))
            else:
                np.matmul(standard.T, standard, out=correlations[place])
                np.fill_diagonal(correlations[place], occupied)
        return Moments(
            correlations,
            group,
            np.array([rows for _, rows, _, _ in sets]),
            np.stack([means for _, _, means, _ in sets]),
            np.stack([scales for *_, scales in sets]),
        )

    def with_rows(self, X: ArrayLike, counted: ArrayLike | None = None) -> "Moments":
        """Add the rows of the same table, which scores based on entropy need."""
        columns = np.asarray(X, np.float64).T
        centred = columns - columns.mean(axis=1, keepdims=True)
        shared = np.ones(1) if counted is None else np.asarray(counted, np.float64).T
        first_of_group = np.unique(self.group, return_index=True)[1]
        weights = np.broadcast_to(shared, columns.shape)[first_of_group]
        return replace(self, table=np.ascontiguousarray(np.concatenate([centred, weights])))

    def about_zero(self) -> "Moments":
        """Compute the moments about zero, for equations without an intercept."""
        means = np.where(self.scales > 0, self.means, 0.0)
        scales = np.hypot(self.scales, means)
        divisors = np.where(scales > 0, scales, 1.0)
        shares, rest = self.scales / divisors, means / divisors
        products = np.empty_like(self.correlations)
        for g, i in product(range(len(products)), range(0, self.variables, TILE)):
            some = slice(i, i + TILE)
            part = self.correlations[g, some] * shares[g, some, None] * shares[g]
            part += rest[g, some, None] * rest[g] / self.unit
            products[g, some] = np.rint(part) if products.dtype == np.int32 else part
        return replace(self, correlations=products, means=np.zeros_like(means), scales=scales)


def _multiply_in_tiles(columns: NDArray[np.float64], products: NDArray[np.int32]) -> None:
    """Compute the products of all pairs of columns, rounded to units, tile by tile."""
    for i in range(0, len(products), TILE):
        for j in range(i, len(products), TILE):
            tile = np.rint(columns[:, i : i + TILE].T @ columns[:, j : j + TILE] / UNIT)
            products[i : i + TILE, j : j + TILE] = tile
            products[j : j + TILE, i : i + TILE] = tile.T


def _groups(
    counted: ArrayLike | None, n: int, d: int
) -> tuple[list[NDArray[np.float64] | None], NDArray[np.int64]]:
    """Find the distinct columns of row weights, and which of them each variable has."""
    if counted is None:
        return [None], np.zeros(d, np.int64)
    weights = np.asarray(counted, np.float64)
    if weights.shape not in ((n,), (n, d)) or not np.all(np.isfinite(weights)):
        raise DataError(
            f"Row weights must be finite and have shape ({n},) or ({n}, {d}); "
            f"their shape is {weights.shape}."
        )
    if np.any(weights < 0) or np.any(weights.sum(axis=0) <= 0):
        raise DataError("Row weights must be non-negative, with a positive sum for each variable.")
    if weights.ndim == 1:
        return [weights], np.zeros(d, np.int64)
    distinct, group = np.unique(weights, axis=1, return_inverse=True)
    return list(np.ascontiguousarray(distinct.T)), group.ravel().astype(np.int64)


def standardised_table(
    table: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], float, NDArray[np.float64], NDArray[np.float64]]:
    """Standardise columns so that their products are correlations; also return rows, means, scales.

    Rows of weight zero are left out.
    """
    rows = float(len(table) if weights is None else weights.sum())
    if weights is not None:
        table, weights = table[weights > 0], weights[weights > 0]
    means: Any = np.average(table, axis=0, weights=weights)
    with np.errstate(invalid="ignore"):
        standard = table - means
    if weights is not None:
        standard *= np.sqrt(weights)[:, None]
    scales = np.sqrt(np.einsum("ij,ij->j", standard, standard) / rows)
    if not np.all(np.isfinite(scales)):
        raise DataError(
            "The table has missing or infinite values, or values whose squares are infinite: leave "
            "their rows out, or replace them."
        )
    magnitudes = np.maximum(np.max(table, axis=0), -np.min(table, axis=0))
    scales[scales <= ROUNDING * magnitudes] = 0.0
    constant = scales == 0
    standard /= np.where(constant, 1.0, scales)
    standard[:, constant] = 0.0
    standard /= np.sqrt(rows)
    return standard, rows, means, scales


def least_squares(moments: Moments, child: int, parents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Least-squares weights of the parents of a child, in the units of the data."""
    group = moments.group[child]
    correlations, scales = moments.correlations[group], moments.scales[group]
    products, with_child = correlations[np.ix_(parents, parents)], correlations[parents, child]
    weights = np.linalg.lstsq(products * moments.unit, with_child * moments.unit, rcond=1e-10)[0]
    return np.asarray(weights * scales[child] / np.where(scales > 0, scales, 1.0)[parents])
