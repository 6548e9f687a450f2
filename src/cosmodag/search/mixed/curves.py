"""Cross-validated comparison of two graphs, one of lines and one of curves."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.entropy.measure import SMALLEST_DEVIATION
from cosmodag.search.entropy.spacings import log_densities
from cosmodag.search.mixed.multinomial import fit_levels, probabilities
from cosmodag.search.mixed.table import BlockTable

_FOLDS = 5
# The wider equations are preferred if they gain more than this number of standard errors.
_CERTAIN = 2.0
# Smaller gains are rounding errors.
_LEAST_GAIN = 1e-6
_RIDGE = 1e-8
# Columns of fewer distinct values have no density.
_FEWEST_VALUES = 40
# Maximum number of rows to which the equation of a category is fitted.
_MOST_ROWS = 2000

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Folds = NDArray[np.int_]
Widths = NDArray[np.integer]


@dataclass(frozen=True)
class HeldOutGain:
    """Gain of wider equations in held-out log-likelihood per row, and its standard error."""

    gain: float
    error: float

    @classmethod
    def of_rows(cls, gains: Floats) -> "HeldOutGain":
        """Average the gains of all rows."""
        return cls(float(gains.mean()), float(gains.std() / math.sqrt(len(gains))))

    @property
    def is_certain(self) -> bool:
        """Whether the gain is significant."""
        return self.gain > max(_CERTAIN * self.error, _LEAST_GAIN)

    @property
    def reason(self) -> str:
        """The comparison and its result in one sentence."""
        change = "gain" if self.gain >= 0 else "lose"
        kept = "curves" if self.is_certain else "lines"
        return (
            f"On held-out rows curves {change} {abs(self.gain):.3f} ± {self.error:.3f} in "
            f"log-likelihood per row over lines: {kept} were kept."
        )


def curve_gain(
    table: BlockTable, lines: Widths, curves: Widths, random: np.random.Generator
) -> HeldOutGain:
    """Compare two graphs, one of lines and one of curves, by cross-validation.

    The graphs were chosen on all rows; only their equations are fitted without the held-out fold.
    Categories have their multinomial likelihood, fitted to at most 2,000 rows. `lines` and `curves`
    have at [u, v] the number of columns of u in the equation of v; the table must have the columns
    for curves.
    """
    return _gain(_held_out, table, lines, curves, random)


def shape_gain(
    table: BlockTable, lines: Widths, curves: Widths, random: np.random.Generator
) -> HeldOutGain:
    """Compare two graphs as `curve_gain` does, by densities of residuals that may have any shape.

    If noise is skewed, the mean of a cause given its effect is a curve. A Gaussian likelihood would
    then prefer reversed arcs with curves to the true arcs with lines.
    """
    return _gain(_held_out_by_shape, table, lines, curves, random)


def _gain(
    held_out: Callable[[BlockTable, int, Widths, Folds], Floats],
    table: BlockTable,
    lines: Widths,
    curves: Widths,
    random: np.random.Generator,
) -> HeldOutGain:
    n = len(table.X)
    folds, gains = random_folds(n, random), np.zeros(n)
    for v in np.flatnonzero(np.any(lines != curves, axis=0)).tolist():
        gains += held_out(table, v, curves[:, v], folds) - held_out(table, v, lines[:, v], folds)
    return HeldOutGain.of_rows(gains)


def random_folds(rows: int, random: np.random.Generator) -> Folds:
    """Divide rows at random into five parts of nearly equal size."""
    return np.asarray(random.permutation(rows) % _FOLDS)


def _cross_validated(
    folds: Folds, rows: Any, values_of: Callable[[Bools, Bools], Floats]
) -> Floats:
    """One value per row of ``rows``, by an equation fitted to the other folds; 0 in other rows.

    ``values_of(training, held)`` fits the equation to the training rows, and returns the values of
    the held-out rows.
    """
    values, counted = np.zeros(len(folds)), np.zeros(len(folds), bool)
    counted[rows] = True
    for fold in range(_FOLDS):
        held = (folds == fold) & counted
        values[held] = values_of((folds != fold) & counted, held)
    return values


def _held_out(table: BlockTable, v: int, widths: Widths, folds: Folds) -> Floats:
    """Held-out log-likelihood of one variable in each row."""
    likelihood = _category_likelihood if table.embedding.is_levels(v) else _number_likelihood
    values_of = partial(likelihood, table, v, table.design(widths))
    return _cross_validated(folds, table.rows_of(v), values_of)


def _held_out_by_shape(table: BlockTable, v: int, widths: Widths, folds: Folds) -> Floats:
    held_out = held_out_densities if has_density(table, v) else _held_out
    return held_out(table, v, widths, folds)


def has_density(table: BlockTable, v: int) -> bool:
    """Whether a variable is a number with enough distinct values for an estimate of its density."""
    rows = table.X[table.rows_of(v), v]
    return table.embedding.is_number(v) and len(np.unique(rows)) >= _FEWEST_VALUES


def held_out_densities(table: BlockTable, v: int, widths: Widths, folds: Folds) -> Floats:
    """Log-density of the held-out residual of one number in each row, by spacings.

    Rounding errors have the density of the smallest deviation.
    """
    rows, values = table.rows_of(v), np.zeros(len(folds))
    regress = partial(_regress, table, v, table.design(widths))
    residuals = _cross_validated(folds, rows, lambda *some: regress(*some)[0])[rows]
    if len(residuals) and residuals.std() > SMALLEST_DEVIATION:
        values[rows] = log_densities(residuals)
    else:
        values[rows] = -math.log(SMALLEST_DEVIATION)
    return values


def _number_likelihood(
    table: BlockTable, v: int, design: Floats, training: Bools, held: Bools
) -> Floats:
    """Gaussian log-likelihood of a number or count in held-out rows, up to a constant."""
    residuals, variance = _regress(table, v, design, training, held)
    return np.asarray(-0.5 * (np.log(variance) + residuals**2 / variance))


def _regress(
    table: BlockTable, v: int, design: Floats, training: Bools, held: Bools
) -> tuple[Floats, float]:
    """Residuals of held-out rows, and the residual variance of the training rows."""
    y, seen = table.columns[:, table.embedding.starts[v]], design[training]
    products = seen.T @ seen
    ridge = _RIDGE * np.diag(np.maximum(np.diag(products), 1.0))
    weights = np.linalg.solve(products + ridge, seen.T @ y[training])
    variance = max(float(np.mean((y[training] - seen @ weights) ** 2)), 1e-12)
    return np.asarray(y[held] - design[held] @ weights), variance


def _category_likelihood(
    table: BlockTable, v: int, design: Floats, training: Bools, held: Bools
) -> Floats:
    """Multinomial log-likelihood of a category in held-out rows."""
    levels = table.embedding.levels_of(table.X[:, v], v)
    rows = np.flatnonzero(training)
    rows = rows[:: -(-len(rows) // _MOST_ROWS)]
    weights, _ = fit_levels(design[rows], levels[rows], int(table.embedding.widths[v]) + 1)
    shares = probabilities(design[held], weights)
    own = shares[np.arange(len(shares)), levels[held]]
    return np.asarray(np.log(np.maximum(own, 1e-12)))
