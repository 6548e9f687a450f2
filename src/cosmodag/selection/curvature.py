"""Lines, curves that add up, or networks: compared on held-out rows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import clone

from cosmodag.errors import CosmodagWarning
from cosmodag.io.tables.frames import Table
from cosmodag.learners.base import StructureLearner
from cosmodag.warning_filters import ignoring

Floats = NDArray[np.float64]

# Number of random cosine features of the parents that represent curves.
_WAVES = 100
# Penalties on their squared coefficients; the best on held-out rows is used.
_RIDGES = (1.0, 10.0)
# Frequency of the features per standard deviation, and a small penalty that keeps lines regular.
_PACE, _TINY = 1.5, 1e-6
_FOLDS = 5
# Standard errors, and log-likelihood per row and equation, from which curves are preferred.
_CERTAIN, _WORTHWHILE = 2.0, 0.003
# Share of the rows that are held out to compare networks with curves.
_HELD = 0.2


@dataclass(frozen=True)
class _Gain:
    """Held-out log-likelihood per row that one model gains over another, and its standard error."""

    gain: float
    error: float

    def _sentence(self, models: str, measure: str) -> str:
        change = "gain" if self.gain >= 0 else "lose"
        size = f"{abs(self.gain):.3f} ± {self.error:.3f}"
        return f"On held-out rows, {models} {change} {size} in log-likelihood per row {measure}."


@dataclass(frozen=True)
class Curvature(_Gain):
    """Gain of curves over lines.

    Attributes
    ----------
    gain, error
        Held-out Gaussian log-likelihood per row and equation that curves have over lines, and its
        standard error.
    """

    @property
    def is_curved(self) -> bool:
        """Whether the gain is significant and large enough."""
        return self.gain > max(_CERTAIN * self.error, _WORTHWHILE)

    @property
    def explanation(self) -> str:
        """What was compared and found, in one sentence."""
        return self._sentence("curves", "and equation over lines on the same graph")


@dataclass(frozen=True)
class NetworkGain(_Gain):
    """Gain of networks of joint parents over additive curves."""

    @property
    def needs_networks(self) -> bool:
        """Whether the gain is significant."""
        return self.gain > _CERTAIN * self.error

    @property
    def explanation(self) -> str:
        """What was compared and found, in one sentence."""
        return self._sentence("networks of joint parents", "over sums of curves")


def curvature(X: Floats, arcs: NDArray[np.bool_], seed: int = 0) -> Curvature:
    """Compare lines and curves as equations of one graph, by cross-validation.

    Each variable is regressed on its parents, by a line, and by a line and random waves of all
    parents together; what the waves gain on held-out rows is averaged over the variables.

    Parameters
    ----------
    X : (n, d) array
    arcs : (d, d) bool
        A graph that linear learning found; column v has the regressors of v.
    seed : int
        Decides waves and folds.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> noise = random.normal(size=500)
    >>> arc = np.array([[False, True], [False, False]])
    >>> line = curvature(np.column_stack([x, 2 * x + noise]), arc)
    >>> wave = curvature(np.column_stack([x, 3 * np.sin(2 * x) + noise]), arc)
    >>> line.is_curved, wave.is_curved
    (False, True)
    """
    random = np.random.default_rng(seed)
    n = len(X)
    folds = random.permutation(n) % _FOLDS
    gains = np.zeros((len(_RIDGES), n))
    equations = np.flatnonzero(arcs.any(axis=0))
    for v in equations:
        gains += _gains(X[:, v], X[:, np.flatnonzero(arcs[:, v])], folds, random)
    if not len(equations):
        return Curvature(0.0, 0.0)
    best = gains[np.argmax(gains.sum(axis=1))] / len(equations)
    return Curvature(float(best.mean()), float(best.std() / math.sqrt(n)))


def _gains(
    y: Floats, parents: Floats, folds: NDArray[np.int_], random: np.random.Generator
) -> Floats:
    """Held-out log-likelihood of each row by waves, less that by a line, for each penalty."""
    z = (parents - parents.mean(axis=0)) / np.maximum(parents.std(axis=0), 1e-300)
    directions = random.normal(size=(z.shape[1], _WAVES)) / math.sqrt(z.shape[1])
    phases = random.uniform(0, 2 * math.pi, _WAVES)
    waves = math.sqrt(2.0 / _WAVES) * np.cos(_PACE * z @ directions + phases)
    line = np.column_stack([np.ones(len(z)), z])
    # The first penalty excludes curves.
    penalties = [np.inf, *_RIDGES]
    left = np.empty((len(penalties), len(y)))
    for fold in np.unique(folds):
        seen, held = folds != fold, folds == fold
        for place, ridge in enumerate(penalties):
            design = line if place == 0 else np.column_stack([line, waves])
            prices = np.full(design.shape[1], ridge)
            prices[: line.shape[1]] = _TINY
            own = design[seen]
            weights = linalg.solve(own.T @ own + np.diag(prices), own.T @ y[seen], assume_a="pos")
            left[place, held] = y[held] - design[held] @ weights
    variances = np.maximum((left**2).mean(axis=1), 1e-300)[:, None]
    likelihoods = -0.5 * (np.log(variances) + left**2 / variances)
    difference: Floats = likelihoods[1:] - likelihoods[0]
    return difference


def network_gain(
    curves: StructureLearner,
    networks: StructureLearner,
    table: Table,
    targets: NDArray[np.bool_] | None,
    seed: int,
) -> NetworkGain:
    """Fit both learners to four fifths of the rows, and compare them on the others.

    Values that were set, by `targets` (n, d), are left out.
    """
    n = len(table.X)
    held = np.random.default_rng(seed).random(n) < _HELD
    sums = []
    for learner in (curves, networks):
        one: Any = clone(learner)
        seen = None if targets is None else targets[~held]
        with ignoring(CosmodagWarning):
            one.fit(table.of_rows(~held), interventions=seen)
            likelihoods = one.log_likelihoods(table.of_rows(held))
        if targets is not None:
            set_values = targets[held][:, ~one.preparation_.constant]
            likelihoods = np.where(set_values, 0.0, likelihoods)
        sums.append(likelihoods.sum(axis=1))
    gains = sums[1] - sums[0]
    return NetworkGain(float(gains.mean()), float(gains.std() / math.sqrt(max(len(gains), 1))))
