"""How the columns of a table enter an equation: designs of training and held-out rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from cosmodag.evidence.marginal import Marginal, has_density

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Columns of a parent whose effect may be a curve: Legendre polynomials of degree 1 to 6, constant
# beyond these quantiles of the training rows. Unlike lines they cannot explode in held-out rows.
_DEGREE, _ENDS = 6, (0.005, 0.995)
# Random features of all parents jointly, for each of these length scales (in deviations).
_FEATURES, _LENGTHS = 60, (1.0, 2.0, 4.0)
# Ridge, per unit of a column of variance one; polynomials of higher degree are shrunk more.
_RIDGE, _ROUGH, _JOINT = 1e-6, 0.1, 1.5


@dataclass(frozen=True)
class Entering:
    """How columns enter: as they are or by normal scores; as lines, as curves, or jointly."""

    scores: bool = False
    form: str = "lines"  # "lines", "curves" or "jointly"


class FoldDesign:
    """The columns of one fold: training and held-out rows, entering in one way.

    Everything is estimated from the training rows: normal scores, ends of curves, deviations.
    """

    def __init__(self, X: Floats, train: Rows, held: Rows, entering: Entering) -> None:
        self.train, self.held, self.entering = train, held, entering
        seen, new = X[train], X[held]
        self.log_slopes = np.zeros_like(new)  # of the normal scores: log dz / dx
        self.scored = np.zeros(X.shape[1], np.bool_)
        if entering.scores:
            seen, new = seen.copy(), new.copy()
            for v in range(X.shape[1]):
                if has_density(X[:, v]):
                    self._score(seen, new, v)
        self.centres = seen.mean(axis=0)
        deviations = seen.std(axis=0)
        self.scales = np.where(deviations > 0, deviations, 1.0)
        self.seen = (seen - self.centres) / self.scales
        self.new = (new - self.centres) / self.scales

    def _score(self, seen: Floats, new: Floats, v: int) -> None:
        marginal = Marginal.of(seen[:, v])
        z = marginal.scored(new[:, v])
        self.log_slopes[:, v] = marginal.log_density(new[:, v])
        self.log_slopes[:, v] += 0.5 * z**2 + 0.5 * np.log(2 * np.pi)
        seen[:, v], new[:, v] = marginal.scored(seen[:, v]), z
        self.scored[v] = True

    @cached_property
    def blocks(self) -> tuple[Floats, Floats]:
        """Columns of all variables as parents, side by side after a constant: training, held."""
        if self.entering.form == "curves":
            ends = np.quantile(self.seen, _ENDS, axis=0)
            return _curved(self.seen, ends), _curved(self.new, ends)
        return _with_constant(self.seen), _with_constant(self.new)

    @cached_property
    def products(self) -> tuple[Floats, Floats]:
        """Products of the training columns with one another, with a ridge, and with targets."""
        columns = self.blocks[0]
        gram = columns.T @ columns
        gram[np.diag_indices_from(gram)] += self.ridge(columns.shape[1])
        return gram, columns.T @ self.seen

    def ridge(self, columns: int) -> Floats:
        """Ridge of each column of the design."""
        if self.entering.form != "curves":
            return np.full(columns, _RIDGE * len(self.seen))
        rough = np.tile(_ROUGH * np.arange(_DEGREE) ** 2, (columns - 1) // _DEGREE)
        return np.append(0.0, rough) + _RIDGE * len(self.seen)

    def places(self, parents: Rows) -> Rows:
        """Places of a constant and of the columns of some parents in `blocks`."""
        width = _DEGREE if self.entering.form == "curves" else 1
        own = 1 + parents[:, None] * width + np.arange(width)
        return np.append(0, own.ravel())

    def columns_of(self, parents: Rows) -> tuple[Floats, Floats, Floats]:
        """Columns of some parents, training and held, and their ridge."""
        if self.entering.form == "jointly" and len(parents):
            return self._joint(parents)
        places = self.places(parents)
        seen, new = self.blocks
        return seen[:, places], new[:, places], self.ridge(seen.shape[1])[places]

    def _joint(self, parents: Rows) -> tuple[Floats, Floats, Floats]:
        """Random Fourier features of all parents jointly, beside their lines."""
        random = np.random.default_rng(len(parents))
        size = (len(parents), _FEATURES)
        waves = np.hstack([random.normal(size=size) / length for length in _LENGTHS])
        phases = random.uniform(0, 2 * np.pi, waves.shape[1])

        def features(rows: Floats) -> Floats:
            return np.column_stack([np.ones(len(rows)), rows, np.cos(rows @ waves + phases)])

        seen, new = features(self.seen[:, parents]), features(self.new[:, parents])
        ridge = np.full(seen.shape[1], _RIDGE * len(seen))
        ridge[1 + len(parents) :] = _JOINT
        return seen, new, ridge


def _with_constant(rows: Floats) -> Floats:
    return np.column_stack([np.ones(len(rows)), rows])


def _curved(rows: Floats, ends: Floats) -> Floats:
    """(n, 1 + 6 d): a constant, then six polynomials of each column."""
    span = np.maximum(ends[1] - ends[0], 1e-12)
    inner = np.clip(2 * (rows - ends[0]) / span - 1, -1.0, 1.0)
    powers = legendre.legvander(inner, _DEGREE)[:, :, 1:]
    return np.column_stack([np.ones(len(rows)), powers.reshape(len(rows), -1)])
