"""Linear equations with hidden variables, and groups of columns that one hidden cause explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Parents = Sequence[Sequence[int]]

_LEAST_NOISE = 1e-6

# Largest number of groups that are examined: a denser graph says little about hidden causes.
MOST_GROUPS = 3_000
# Largest number of members of a group.
_LARGEST = 12

# Iterations of EM, and smallest noise variance, of a one-factor model.
_ITERATIONS = 25
_LEAST_UNIQUE = 1e-3
# Number of equations that are fitted in one call.
_TOGETHER = 64


@dataclass(frozen=True, eq=False)
class Equations:
    """Linear equations of a graph, fitted to correlations, with a score for each equation."""

    correlations: Floats  # (d, d); expected values where a variable is hidden
    parents: Parents  # parents of each variable
    # Number of rows, and penalty per arc in units of log-likelihood; needed for scores only
    rows: float = 0.0
    penalty: float = 0.0

    @cached_property
    def padded(self) -> NDArray[np.intp]:
        """(d, k): parents of each variable, padded with −1."""
        width = max([1, *(len(causes) for causes in self.parents)])
        table = np.full((len(self.parents), width), -1, np.intp)
        for child, causes in enumerate(self.parents):
            table[child, : len(causes)] = causes
        return table

    @cached_property
    def fitted(self) -> tuple[Floats, Floats]:
        """Weights (d, d), W[u, v] for u → v, and noise variances (d,), by least squares."""
        C, padded = self.correlations, self.padded
        counts = (padded >= 0).sum(axis=1)
        weights = np.zeros((len(padded), len(padded)))
        noise = np.diagonal(C).copy()
        # Blocks of children with similar numbers of parents need little padding.
        by_count = np.argsort(counts, kind="stable")
        for children in np.split(by_count, range(_TOGETHER, len(counts), _TOGETHER)):
            causes = padded[children, : counts[children].max(initial=1)]
            slopes, targets = regressions(C, causes, causes >= 0, children)
            np.add.at(weights, (causes, children[:, None]), slopes)
            noise[children] -= (slopes * targets).sum(axis=1)
        return weights, np.maximum(noise, _LEAST_NOISE)

    @cached_property
    def scores(self) -> Floats:
        """(d,): log-likelihood of each equation up to a constant, minus the penalty of its arcs."""
        counts = np.array([len(causes) for causes in self.parents])
        scores: Floats = -self.rows / 2 * np.log(self.fitted[1]) - self.penalty * counts
        return scores


def regressions(
    C: Floats, regressors: NDArray[np.intp], used: NDArray[np.bool_], responses: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Regress m variables on up to k others each, by least squares; unused regressors have slope 0.

    Returns the slopes, and the covariances of the regressors with the responses, (m, k) each. If
    regressors determine one another, the slopes are those of minimum norm.
    """
    products = C[regressors[:, :, None], regressors[:, None, :]]
    # Unused regressors have a unit row in `products` and a zero target.
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
    """Linear equations of d observed variables, followed by h hidden ones."""

    weights: Floats  # (d + h, d + h): W[u, v] for u → v
    noise: Floats  # (d + h,): variances
    observed: int  # number d of observed variables

    @cached_property
    def precision(self) -> Floats:
        """(d + h, d + h): inverse covariance, (I − W) diag(noise)⁻¹ (I − W)ᵀ."""
        differences = np.eye(len(self.noise)) - self.weights
        precision: Floats = (differences / self.noise) @ differences.T
        return precision

    def expected(self, correlations: Floats) -> Floats:
        """Compute second moments of all variables, given the correlations of the observed ones.

        Those of hidden variables are expectations given the observed ones. Hidden variables are
        scaled to an expected variance of one.
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
        """Compute the log-likelihood of the observed variables; 0 for independent standard ones."""
        d, precision = self.observed, self.precision
        hidden = precision[d:, d:]
        slopes = np.linalg.solve(hidden, precision[d:, :d])
        marginal = precision[:d, :d] - precision[:d, d:] @ slopes
        log_determinant = -np.log(self.noise).sum() - np.linalg.slogdet(hidden)[1]
        return float(rows / 2 * (log_determinant - (marginal * correlations).sum() + d))


class Groups(NamedTuple):
    """Groups of k columns, with a hidden common cause for each; or one group, without axis m."""

    members: NDArray[np.intp]  # (m, k)
    # (m,): penalised log-likelihood with the common cause minus that with the arcs among members
    gains: Floats
    loadings: Floats  # (m, k): effect of the hidden cause on each member
    noise: Floats  # (m, k): noise variance of each member


def dense_groups(parents: Parents) -> NDArray[np.intp]:
    """List the groups of four columns with at least five of their six pairs joined by an arc.

    Two triangles that share an edge form such a group. A hidden cause of four or more columns
    produces such groups, because each of its effects is informative about the others.

    >>> dense_groups([[], [0], [0, 1], [0, 1], [3]]).tolist()
    [[0, 1, 2, 3]]
    """
    joined = _joined(parents)
    found: set[tuple[int, ...]] = set()
    for a, b in np.argwhere(np.triu(joined)).tolist():
        common = np.flatnonzero(joined[a] & joined[b]).tolist()
        for place, c in enumerate(common):
            found.update(tuple(sorted((a, b, c, e))) for e in common[place + 1 :])
        if len(found) > MOST_GROUPS:
            break
    return np.array(sorted(found)[:MOST_GROUPS], np.intp).reshape(-1, 4)


def extended(groups: Sequence[Groups], equations: Equations) -> list[Groups]:
    """Add columns to each group one by one while this raises the gain of its common cause.

    Candidates are columns with arcs to or from at least two members. All groups have the same size
    at first; the candidates of all groups that still grow are compared in one call.
    """
    joined = _joined(equations.parents)
    result = list(groups)
    growing = list(range(len(result)))
    while growing and len(result[growing[0]].members) < _LARGEST:
        candidates = {place: _candidates(result[place].members, joined) for place in growing}
        if not any(map(len, candidates.values())):
            break
        tried = gains_of(np.concatenate(list(candidates.values())), equations)
        end, growing = 0, []
        for place, rows in candidates.items():
            start, end = end, end + len(rows)
            if len(rows) and tried.gains[start:end].max() > result[place].gains:
                best = start + int(np.argmax(tried.gains[start:end]))
                result[place] = Groups(*(part[best] for part in tried))
                growing.append(place)
    return result


def _candidates(members: NDArray[np.intp], joined: NDArray[np.bool_]) -> NDArray[np.intp]:
    """List the extensions of a group of k members by one column: (m, k + 1)."""
    is_candidate = joined[members].sum(axis=0) > 1
    is_candidate[members] = False
    more = np.flatnonzero(is_candidate)
    return np.column_stack([np.tile(members, (len(more), 1)), more])


def _joined(parents: Parents) -> NDArray[np.bool_]:
    """Mark the pairs of columns that an arc joins, in either direction: (d, d)."""
    joined = np.zeros((len(parents), len(parents)), np.bool_)
    for child, causes in enumerate(parents):
        joined[causes, child] = joined[child, causes] = True
    return joined


def gains_of(members: NDArray[np.intp], equations: Equations) -> Groups:
    """Compute the gain of replacing the arcs within each group by one hidden cause.

    Each member is regressed on its parents outside the group, and a one-factor model is fitted to
    the covariance of the residuals, by EM for all groups at once.
    """
    residual, outside = _outside(members, equations)
    loadings, noise = _one_factor(residual)
    information = 1 + (loadings**2 / noise).sum(axis=1)
    weights = loadings / noise
    explained = np.einsum("mi,mij,mj->m", weights, residual, weights) / information
    left = np.diagonal(residual, axis1=1, axis2=2) / noise
    deviance = np.log(noise).sum(axis=1) + np.log(information) + left.sum(axis=1) - explained
    deviance -= members.shape[1]
    fit = -equations.rows / 2 * deviance - equations.penalty * (outside + members.shape[1])
    return Groups(members, fit - equations.scores[members].sum(axis=1), loadings, noise)


def _outside(members: NDArray[np.intp], equations: Equations) -> tuple[Floats, NDArray[np.intp]]:
    """Return residual covariances given the parents outside, (m, k, k), and their number, (m,)."""
    C, table = equations.correlations, equations.padded
    m, size = members.shape
    causes = table[members].reshape(m * size, -1)
    groups = np.repeat(members, size, axis=0)
    kept = (causes >= 0) & ~(causes[:, :, None] == groups[:, None, :]).any(axis=2)
    children = members.ravel()
    slopes, _ = regressions(C, causes, kept, children)
    combination = np.zeros((m * size, len(C)))
    rows = np.arange(m * size)
    np.add.at(combination, (rows[:, None], causes), -slopes)
    combination[rows, children] += 1
    combination = combination.reshape(m, size, -1)
    residual = combination @ C @ combination.transpose(0, 2, 1)
    return residual, kept.sum(axis=1).reshape(m, size).sum(axis=1)


def _one_factor(covariances: Floats) -> tuple[Floats, Floats]:
    """Fit one factor to each covariance by EM; return loadings and noise variances, (m, k) each."""
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    deviations = np.sqrt(variances)
    correlations = covariances / (deviations[:, :, None] * deviations[:, None, :])
    # The column with the largest correlations gives the signs; EM finds the sizes.
    strongest = np.abs(correlations).sum(axis=2).argmax(axis=1)
    loadings = 0.9 * correlations[np.arange(len(correlations)), strongest]
    noise = np.maximum(1 - loadings**2, 0.1)
    for _ in range(_ITERATIONS):
        weights = loadings / noise
        weights /= 1 + (loadings * weights).sum(axis=1, keepdims=True)
        cross = np.einsum("mij,mj->mi", correlations, weights)
        # The second moment of the cause: variance of its expectation plus conditional variance.
        unknown = 1 - (weights * loadings).sum(axis=1)
        moment = (cross * weights).sum(axis=1) + unknown
        loadings = cross / np.sqrt(moment)[:, None]
        noise = np.maximum(1 - loadings**2, _LEAST_UNIQUE)
    return loadings * deviations, noise * variances
