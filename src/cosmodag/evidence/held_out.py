"""Log density of held-out rows under a graph and a conditional density, in units of the table."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.evidence.design import Entering, FoldDesign
from cosmodag.evidence.marginal import Marginal, has_density
from cosmodag.evidence.row_folds import FOLDS, row_folds

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# One cell in a hundred may be anything, so that no cell decides: otherwise "curves lose 2e10 per
# row" on tables with far cells.
_ANYTHING = 0.01
# Rows beyond this number change no decision between families, and are left out evenly.
_MOST_ROWS = 4000


@dataclass(frozen=True)
class Density:
    """A conditional density: how columns enter, and the distribution of the noise.

    The noise is ``"gaussian"``, of ``"any"`` shape, or ``"uneven"``: Gaussian with a scale that
    depends on the parents.
    """

    entering: Entering
    noise: str = "gaussian"


class HeldOut:
    """Held-out log densities of one table; those of each variable and its parents are kept.

    `counted` (n, d) is zero where an entry was set or imputed: it is not used for the equation of
    its variable. Variables of `without` (d,) have no equation.
    """

    def __init__(
        self, X: Floats, counted: Floats | None = None, without: Bools | None = None
    ) -> None:
        step = -(-len(X) // _MOST_ROWS)
        self.X = np.ascontiguousarray(X[::step], np.float64)
        self.counted = None if counted is None else counted[::step] > 0
        no_equation = np.ptp(self.X, axis=0) == 0
        no_equation = no_equation if without is None else no_equation | without
        self.equations = np.flatnonzero(~no_equation)
        self.has_density = np.array([has_density(x) for x in self.X.T], np.bool_)
        self._folds, self._floor = row_folds(self.X), _floor(self.X)
        self._designs: dict[Entering, list[FoldDesign]] = {}
        # Log densities, and standardised noise, by density, variable and parents.
        self._known: dict[tuple[Density, int, bytes], tuple[Floats, Floats]] = {}

    def rows(self, arcs: Bools, density: Density) -> Floats:
        """(n,): log density of each row, summed over the variables with an equation."""
        total = np.zeros(len(self.X))
        for v in self.equations.tolist():
            total += self.of_variable(v, np.flatnonzero(arcs[:, v]), density)
        return total

    def of_variable(self, v: int, parents: NDArray[np.intp], density: Density) -> Floats:
        """(n,): log density of a variable given its parents, zero where it does not count."""
        return self._both(v, parents, density)[0]

    def noise(self, arcs: Bools, density: Density) -> Floats:
        """(n, d): noise of held-out rows in its own standard deviations; zero where none counts."""
        found = np.zeros(self.X.shape)
        for v in self.equations.tolist():
            found[:, v] = self._both(v, np.flatnonzero(arcs[:, v]), density)[1]
        return found

    def columns(self, entering: Entering) -> Floats:
        """(n, d): the columns as they enter: as they are, or held-out normal scores."""
        found = np.empty(self.X.shape)
        for design in self._designs_of(entering):
            found[design.held] = design.new * design.scales + design.centres
        return found

    def _both(self, v: int, parents: NDArray[np.intp], density: Density) -> tuple[Floats, Floats]:
        key = (density, v, parents.tobytes())
        if key not in self._known:
            self._known[key] = self._computed(v, parents, density)
        return self._known[key]

    def _computed(
        self, v: int, parents: NDArray[np.intp], density: Density
    ) -> tuple[Floats, Floats]:
        logs, noise = np.zeros(len(self.X)), np.zeros(len(self.X))
        for design in self._designs_of(density.entering):
            logs[design.held], noise[design.held] = self._of_fold(design, v, parents, density.noise)
        logs = np.logaddexp(math.log(1 - _ANYTHING) + logs, self._floor[:, v])
        if self.counted is None:
            return logs, noise
        counts = self.counted[:, v]
        return np.where(counts, logs, 0.0), np.where(counts, noise, 0.0)

    def _designs_of(self, entering: Entering) -> list[FoldDesign]:
        if entering not in self._designs:
            masks = (self._folds == fold for fold in range(FOLDS))
            self._designs[entering] = [
                FoldDesign(self.X, np.flatnonzero(~mask), np.flatnonzero(mask), entering)
                for mask in masks
            ]
        return self._designs[entering]

    def _of_fold(
        self, design: FoldDesign, v: int, parents: NDArray[np.intp], noise: str
    ) -> tuple[Floats, Floats]:
        """Log densities and standardised noise of the held-out rows of one fold."""
        used = slice(None) if self.counted is None else self.counted[design.train, v]
        seen, new, ridge = design.columns_of(parents)
        y = design.seen[:, v]
        if self.counted is None and design.entering.form != "jointly":
            places = design.places(parents)
            gram, cross = design.products
            weights = np.linalg.solve(gram[np.ix_(places, places)], cross[places, v])
        else:
            weights = _ridge_weights(seen[used], y[used], ridge)
        residuals, held = (y - seen @ weights)[used], design.new[:, v] - new @ weights
        logs = design.log_slopes[:, v] - math.log(design.scales[v])
        if not self.has_density[v]:
            noise = "gaussian"
        if noise == "any":
            least = 1e-9 * (1.0 + residuals.std())
            spread = residuals if np.ptp(residuals) > least else residuals + least * y[used]
            found = logs + Marginal.of(spread).log_density(held)
            return np.asarray(found), held / max(float(spread.std()), 1e-12)
        if noise == "uneven" and len(parents):
            scale = NoiseScale.of(design.seen[used][:, parents], residuals)
            own, other = scale.at(design.seen[used][:, parents]), scale.at(design.new[:, parents])
            weights = _ridge_weights(seen[used] / own[:, None], y[used] / own, ridge)
            residuals = (y - seen @ weights)[used] / own
            held = (design.new[:, v] - new @ weights) / other
            logs = logs - np.log(other)
        deviation = _deviation(residuals)
        scaled = held / deviation
        found = logs - 0.5 * scaled**2 - math.log(deviation) - 0.5 * math.log(2 * math.pi)
        return np.asarray(found), scaled


def _ridge_weights(columns: Floats, y: Floats, ridge: Floats) -> Floats:
    return np.asarray(np.linalg.solve(columns.T @ columns + np.diag(ridge), columns.T @ y))


def _deviation(residuals: Floats) -> float:
    """Return the standard deviation, at most 1.5 times that of the inner half."""
    inner = 1.5 * 1.4826 * float(np.median(np.abs(residuals - np.median(residuals))))
    deviation = float(residuals.std())
    return max(min(deviation, inner) if inner > 0 else deviation, 1e-9)


@dataclass(frozen=True, eq=False)
class NoiseScale:
    """Scale of the noise as a function of the parents: log |residual| by lines and edges."""

    weights: Floats

    @classmethod
    def of(cls, parents: Floats, residuals: Floats) -> "NoiseScale":
        """Regress the logarithms of absolute residuals on the parents and their sizes."""
        columns = cls._columns(parents)
        logs = np.log(np.abs(residuals) + 1e-3 * residuals.std() + 1e-12)
        return cls(_ridge_weights(columns, logs, np.full(columns.shape[1], 5.0)))

    def at(self, parents: Floats) -> Floats:
        """Scale for rows of the parents, up to a common factor."""
        return np.exp(self._columns(parents) @ self.weights)

    @staticmethod
    def _columns(parents: Floats) -> Floats:
        kept = np.clip(parents, -2.5, 2.5)
        return np.column_stack([np.ones(len(kept)), kept, np.abs(kept)])


def _floor(X: Floats) -> Floats:
    """(n, d): log of the density that one cell in a hundred has, a Cauchy of each column."""
    middle = np.median(X, axis=0)
    low, high = np.quantile(X, [0.25, 0.75], axis=0)
    half = np.maximum(0.5 * (high - low), 1e-9 + 1e-6 * np.ptp(X, axis=0))
    return math.log(_ANYTHING / math.pi) - np.log(half) - np.log1p(((X - middle) / half) ** 2)
