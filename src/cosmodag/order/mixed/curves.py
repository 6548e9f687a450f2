"""Two graphs with their equations, compared on held-out rows: lines or curves, added or joint."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.order import FoundBlocks
from cosmodag.order.entropy.measure import entropy
from cosmodag.order.mixed.joint import shares_of, states_of
from cosmodag.order.mixed.multinomial import fit_levels, probabilities
from cosmodag.order.mixed.table import BlockTable

_FOLDS = 5
# Standard errors from which curves are preferred.
_CERTAIN = 2.0
_RIDGE = 1e-8
_MOST_ROWS = 2000

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Folds = NDArray[np.int_]
Widths = NDArray[np.integer]


@dataclass(frozen=True)
class HeldOutGain:
    """Held-out log-likelihood per row that wider equations gain, and its standard error.

    ``wider`` and ``plain`` name the two kinds of equations.
    """

    gain: float
    error: float
    wider: str = "curves"
    plain: str = "lines"

    @classmethod
    def of_rows(cls, gains: Floats, *names: str) -> "HeldOutGain":
        """Take the mean of the gains of all rows."""
        return cls(float(gains.mean()), float(gains.std() / math.sqrt(len(gains))), *names)

    @property
    def is_certain(self) -> bool:
        """Whether the gain is significant."""
        return self.gain > _CERTAIN * self.error and self.gain > 0

    @property
    def reason(self) -> str:
        """Say in one sentence what was compared and found."""
        change = "gain" if self.gain >= 0 else "lose"
        kept = self.wider if self.is_certain else self.plain
        return (
            f"On held-out rows {self.wider} {change} {abs(self.gain):.3f} ± {self.error:.3f} in "
            f"log-likelihood per row over {self.plain}: {kept} were kept."
        )


def curve_gain(
    table: BlockTable, lines: Widths, curves: Widths, random: np.random.Generator
) -> HeldOutGain:
    """Compare two graphs, one of lines and one of curves, by cross-validation.

    The graphs were chosen on all rows; the equations of each fold are fitted to the others.
    Categories have their multinomial likelihood, fitted to 2,000 rows at most. `lines` and `curves`
    have at [u, v] the number of columns of u that the equation of v uses; the table has the columns
    of curves.
    """
    n = len(table.X)
    folds, gains = random.permutation(n) % _FOLDS, np.zeros(n)
    for v in _changed(lines, curves):
        gains += _held_out(table, v, curves[:, v], folds) - _held_out(table, v, lines[:, v], folds)
    return HeldOutGain.of_rows(gains)


def joint_gain(
    table: BlockTable, added: FoundBlocks, joint: FoundBlocks, random: np.random.Generator
) -> HeldOutGain:
    """Compare two graphs of categories as `curve_gain` does: effects added up, and joint ones."""
    n, is_joint = len(table.X), joint.joint
    assert is_joint is not None
    folds, gains = random.permutation(n) % _FOLDS, np.zeros(n)
    changed = np.any(added.widths != joint.widths, axis=0) | is_joint
    for v in np.flatnonzero(changed).tolist():
        held_out = _held_out_jointly if is_joint[v] else _held_out
        gains += held_out(table, v, joint.widths[:, v], folds)
        gains -= _held_out(table, v, added.widths[:, v], folds)
    return HeldOutGain.of_rows(gains, "joint effects of levels", "effects that add up")


def entropy_gain(
    table: BlockTable, lines: Widths, curves: Widths, random: np.random.Generator
) -> HeldOutGain:
    """Compare two graphs of numbers as `curve_gain` does, by the entropies of their residuals.

    Where noise is skewed, the mean of a cause given its effect is a curve: by a Gaussian
    likelihood, curves against the arrows would gain over the lines that made the table. Entropies
    account for the shape of the noise, and prevent that. The error is that of the mean over folds.
    """
    folds = random.permutation(len(table.X)) % _FOLDS
    changed = _changed(lines, curves)
    if not changed:
        return HeldOutGain(0.0, 0.0)
    straight, bent = (
        np.column_stack([_left_over(table, v, widths[:, v], folds) for v in changed])
        for widths in (lines, curves)
    )
    gains = [
        float(np.sum(entropy(straight[folds == fold]) - entropy(bent[folds == fold])))
        for fold in range(_FOLDS)
    ]
    return HeldOutGain(float(np.mean(gains)), float(np.std(gains, ddof=1) / math.sqrt(_FOLDS)))


def _changed(plain: Widths, wider: Widths) -> list[int]:
    """Variables whose equations differ."""
    return np.flatnonzero(np.any(plain != wider, axis=0)).tolist()


def _by_folds(folds: Folds, rows: Any, of_rows: Callable[[Bools, Bools], Floats]) -> Floats:
    """Values of each of some rows by the equation of the other folds; 0 in the others.

    ``of_rows`` fits the equation to the rows that it is given first.
    """
    values, counted = np.zeros(len(folds)), np.zeros(len(folds), bool)
    counted[rows] = True
    for fold in range(_FOLDS):
        held = (folds == fold) & counted
        values[held] = of_rows((folds != fold) & counted, held)
    return values


def _held_out(table: BlockTable, v: int, widths: Widths, folds: Folds) -> Floats:
    """Log-likelihood of one variable in each row."""
    of_rows = _of_levels if table.embedding.is_levels(v) else _of_number
    return _by_folds(folds, table.rows_of(v), partial(of_rows, table, v, table.design(widths)))


def _held_out_jointly(table: BlockTable, v: int, widths: Widths, folds: Folds) -> Floats:
    """Log-likelihood of a category in each row, by counts of combinations of levels."""
    embedding, parents = table.embedding, np.flatnonzero(widths)
    columns = [embedding.levels_of(table.X[:, u], int(u)) for u in parents]
    counts = embedding.widths[parents] + 1
    states = states_of(np.column_stack(columns), counts)
    levels = embedding.levels_of(table.X[:, v], v)
    shape = (math.prod(counts.tolist()), int(embedding.widths[v]) + 1)

    def of_rows(seen: Bools, held: Bools) -> Floats:
        shares = shares_of(states[seen], levels[seen], shape)
        return np.asarray(np.log(shares[states[held], levels[held]]))

    return _by_folds(folds, table.rows_of(v), of_rows)


def _left_over(table: BlockTable, v: int, widths: Widths, folds: Folds) -> Floats:
    """Residuals of one number in each row."""
    of_rows = partial(_unexplained, table, v, table.design(widths))
    return _by_folds(folds, slice(None), lambda *rows: of_rows(*rows)[0])


def _of_number(table: BlockTable, v: int, design: Floats, seen: Bools, held: Bools) -> Floats:
    """Gaussian log-likelihood of held rows of a number or count."""
    left, variance = _unexplained(table, v, design, seen, held)
    return np.asarray(-0.5 * (np.log(variance) + left**2 / variance))


def _unexplained(
    table: BlockTable, v: int, design: Floats, seen: Bools, held: Bools
) -> tuple[Floats, float]:
    """Residuals of held rows, and the variance of those of the others."""
    y, one = table.columns[:, table.embedding.starts[v]], design[seen]
    products = one.T @ one
    ridge = _RIDGE * np.diag(np.maximum(np.diag(products), 1.0))
    weights = np.linalg.solve(products + ridge, one.T @ y[seen])
    variance = max(float(np.mean((y[seen] - one @ weights) ** 2)), 1e-12)
    return np.asarray(y[held] - design[held] @ weights), variance


def _of_levels(table: BlockTable, v: int, design: Floats, seen: Bools, held: Bools) -> Floats:
    """Multinomial log-likelihood of held rows of a category."""
    levels = table.embedding.levels_of(table.X[:, v], v)
    rows = np.flatnonzero(seen)
    rows = rows[:: -(-len(rows) // _MOST_ROWS)]
    weights, _ = fit_levels(design[rows], levels[rows], int(table.embedding.widths[v]) + 1)
    shares = probabilities(design[held], weights)
    own = shares[np.arange(len(shares)), levels[held]]
    return np.asarray(np.log(np.maximum(own, 1e-12)))
