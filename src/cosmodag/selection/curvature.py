"""Comparison of lines, additive curves and networks on held-out rows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import clone

from cosmodag.errors import CosmodagWarning
from cosmodag.fit.dag.known import Known
from cosmodag.fit.missing import Completed
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.runtime.warning_filters import ignoring

Floats = NDArray[np.float64]

# Number of random cosine features of the parents that represent curves.
_WAVES = 100
# Penalties on the squared coefficients of waves; the best on held-out rows is used.
_RIDGES = (1.0, 10.0)
# Root mean square of the length of the frequency vectors, for standardised parents.
_FREQUENCY = 1.5
# Penalty on the squared coefficients of lines, against singular matrices.
_TINY = 1e-6
_FOLDS = 5
# Curves are preferred if they gain more than this number of standard errors, and more than this
# log-likelihood per row and equation.
_CERTAIN, _WORTHWHILE = 2.0, 0.003
# Fraction of the rows that is held out to compare networks with curves.
_HELD = 0.2


@dataclass(frozen=True)
class _Gain:
    """Gain in held-out log-likelihood per row of one model over another, and its standard error."""

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
        Gain in held-out Gaussian log-likelihood, per row and equation, and its standard error; both
        are zero if the graph has no arcs.
    """

    @property
    def is_curved(self) -> bool:
        """Whether the gain is significant and large enough."""
        return self.gain > max(_CERTAIN * self.error, _WORTHWHILE)

    @property
    def explanation(self) -> str:
        """The comparison and its result, in one sentence."""
        if not self.error:
            return "The linear graph has no arcs, so curves were not compared with lines."
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
        """The comparison and its result, in one sentence."""
        return self._sentence("networks of joint parents", "over sums of curves")


def curvature(X: Floats, arcs: NDArray[np.bool_], seed: int = 0) -> Curvature:
    """Compare lines and curves as equations of one graph, by cross-validation.

    Each variable is regressed on its parents, by a line, and by a line plus random waves of all
    parents together. The gain of the waves on held-out rows is averaged over the variables.

    Parameters
    ----------
    X : (n, d) array
    arcs : (d, d) bool
        A graph found by a linear learner; column v has the regressors of v.
    seed : int
        Seed of waves and folds.

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
    """(penalties, n): gain of waves over a line in the held-out log-likelihood of each row."""
    z = (parents - parents.mean(axis=0)) / np.maximum(parents.std(axis=0), 1e-300)
    directions = random.normal(size=(z.shape[1], _WAVES)) / math.sqrt(z.shape[1])
    phases = random.uniform(0, 2 * math.pi, _WAVES)
    waves = math.sqrt(2.0 / _WAVES) * np.cos(_FREQUENCY * z @ directions + phases)
    line = np.column_stack([np.ones(len(z)), z])
    # The first penalty excludes waves.
    penalties = [np.inf, *_RIDGES]
    residuals = np.empty((len(penalties), len(y)))
    for fold in np.unique(folds):
        seen, held = folds != fold, folds == fold
        for place, ridge in enumerate(penalties):
            design = line if place == 0 else np.column_stack([line, waves])
            prices = np.full(design.shape[1], ridge)
            prices[: line.shape[1]] = _TINY
            own = design[seen]
            weights = linalg.solve(own.T @ own + np.diag(prices), own.T @ y[seen], assume_a="pos")
            residuals[place, held] = y[held] - design[held] @ weights
    variances = np.maximum((residuals**2).mean(axis=1), 1e-300)[:, None]
    likelihoods = -0.5 * (np.log(variances) + residuals**2 / variances)
    gains: Floats = likelihoods[1:] - likelihoods[0]
    return gains


def network_gain(
    curves: StructureLearner, networks: StructureLearner, whole: Completed, seed: int
) -> NetworkGain:
    """Fit curves and networks to four fifths of the rows, and compare them on the others.

    Values that were set or imputed are left out.
    """
    is_held = np.random.default_rng(seed).random(len(whole.table.X)) < _HELD
    held = whole.of_rows(is_held)
    counted = Known(targets=held.targets, absent=held.absent).counted
    sums = []
    for learner in (curves, networks):
        one: Any = clone(learner)
        with ignoring(CosmodagWarning):
            one.fit(whole.of_rows(~is_held))
            likelihoods = one.log_likelihoods(held.table)
        if counted is not None:
            likelihoods = likelihoods * counted[:, ~one.preparation_.constant]
        sums.append(likelihoods.sum(axis=1))
    gains = sums[1] - sums[0]
    return NetworkGain(float(gains.mean()), float(gains.std() / math.sqrt(max(len(gains), 1))))
