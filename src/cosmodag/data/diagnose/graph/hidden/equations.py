"""Linear equations of a graph with hidden variables, and their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Equations", "Floats", "Model", "Parents", "regressions"]

Floats = NDArray[np.float64]
Parents = Sequence[Sequence[int]]

_LEAST_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class Equations:
    """Linear equations of a graph, fitted to correlations, with a score for each.

    Attributes
    ----------
    correlations
        (d, d) correlations of observed variables; those with hidden variables are expected values.
    parents
        Parents of each variable.
    rows, penalty
        Number of rows, and penalty per arc in units of log-likelihood; only scores need them.
    """

    correlations: Floats
    parents: Parents
    rows: float = 0.0
    penalty: float = 0.0

    @cached_property
    def padded(self) -> NDArray[np.intp]:
        """(d, k): parents of each variable, filled up with −1."""
        width = max([1, *(len(causes) for causes in self.parents)])
        table = np.full((len(self.parents), width), -1, np.intp)
        for child, causes in enumerate(self.parents):
            table[child, : len(causes)] = causes
        return table

    @cached_property
    def fitted(self) -> tuple[Floats, Floats]:
        """(d, d) weights, W[u, v] for u → v, and (d,) variances of the noise, by least squares."""
        C, table = self.correlations, self.padded
        d = len(table)
        slopes, targets = regressions(C, table, table >= 0, np.arange(d))
        weights = np.zeros((d, d))
        np.add.at(weights, (table, np.arange(d)[:, None]), slopes)
        noise = np.diagonal(C) - (slopes * targets).sum(axis=1)
        return weights, np.maximum(noise, _LEAST_NOISE)

    @cached_property
    def scores(self) -> Floats:
        """(d,): log-likelihood of each equation, up to a constant, minus its arcs' penalty."""
        counts = np.array([len(causes) for causes in self.parents])
        scores: Floats = -self.rows / 2 * np.log(self.fitted[1]) - self.penalty * counts
        return scores


def regressions(
    C: Floats,
    regressors: NDArray[np.intp],
    used: NDArray[np.bool_],
    responses: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Regress m variables on up to k others each, by least squares; unused regressors have slope 0.

    Returns slopes and covariances with the responses, (m, k) each. Regressors that determine each
    other have the smallest slopes.
    """
    products = C[regressors[:, :, None], regressors[:, None, :]]
    # Unused regressors have a unit row in the products and a zero target.
    products = products * (used[:, :, None] & used[:, None, :])
    products += np.eye(regressors.shape[1]) * ~used[:, :, None]
    targets = C[regressors, responses[:, None]] * used
    try:
        slopes = np.linalg.solve(products, targets[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        slopes = np.einsum("dij,dj->di", np.linalg.pinv(products, hermitian=True), targets)
    return np.asarray(slopes * used, np.float64), targets


@dataclass(frozen=True, eq=False)
class Model:
    """Equations of d observed and then h hidden variables.

    Attributes
    ----------
    weights
        (d + h, d + h): W[u, v] for u → v.
    noise
        (d + h,): variances.
    observed
        Number d of observed variables.
    """

    weights: Floats
    noise: Floats
    observed: int

    @cached_property
    def precision(self) -> Floats:
        """(d + h, d + h): inverse covariance, (I − W) diag(noise)⁻¹ (I − W)ᵀ."""
        differences = np.eye(len(self.noise)) - self.weights
        precision: Floats = (differences / self.noise) @ differences.T
        return precision

    def expected(self, correlations: Floats) -> Floats:
        """Moments of all variables; those of hidden ones are expectations given the observed ones.

        Hidden variables are scaled to expected variance one.
        """
        d, precision = self.observed, self.precision
        unknown = np.linalg.inv(precision[d:, d:])
        slopes = -unknown @ precision[d:, :d]
        moments = np.empty(precision.shape)
        moments[:d, :d] = correlations
        moments[d:, :d] = slopes @ correlations
        moments[:d, d:] = moments[d:, :d].T
        moments[d:, d:] = moments[d:, :d] @ slopes.T + unknown
        scales = np.ones(len(moments))
        scales[d:] = np.sqrt(np.diagonal(moments)[d:])
        return moments / np.outer(scales, scales)

    def log_likelihood(self, correlations: Floats, rows: float) -> float:
        """Log-likelihood of the observed variables, zero for independent standard ones."""
        d, precision = self.observed, self.precision
        hidden = precision[d:, d:]
        slopes = np.linalg.solve(hidden, precision[d:, :d])
        marginal = precision[:d, :d] - precision[:d, d:] @ slopes
        log_determinant = -np.log(self.noise).sum() - np.linalg.slogdet(hidden)[1]
        return float(rows / 2 * (log_determinant - (marginal * correlations).sum() + d))
