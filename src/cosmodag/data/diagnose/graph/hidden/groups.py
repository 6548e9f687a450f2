"""Groups of four columns that one hidden cause explains as well as the arcs among them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.graph.hidden.equations import Equations, Floats, Parents, regressions

__all__ = ["MOST_GROUPS", "Groups", "dense_groups", "extended", "gains_of"]

# Upper limit on groups to examine: a denser graph says little about hidden causes.
MOST_GROUPS = 3_000
_ITERATIONS = 25
_LARGEST = 12
_LEAST_NOISE = 1e-3


class Groups(NamedTuple):
    """Groups of k columns with the gain of one hidden cause for each; or one such group.

    Attributes
    ----------
    members
        (m, k) int.
    gains
        (m,): penalised log-likelihood with a common cause minus that with the arcs among them.
    loadings, noise
        (m, k): effect of the hidden cause on each member, and the residual variance.
    """

    members: NDArray[np.intp]
    gains: Floats
    loadings: Floats
    noise: Floats


def dense_groups(parents: Parents) -> NDArray[np.intp]:
    """List the groups of four columns with at least five of their six pairs joined by an arc.

    Two triangles that share an edge form such a group. A hidden cause of four or more columns
    produces them, because each of its effects is informative about the others.

    Examples
    --------
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

    Candidates are columns that an arc joins with two members or more. The groups have the same
    size; those that still grow are compared in one call.
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
    """(m, k + 1): the k members, each time with another column."""
    is_candidate = joined[members].sum(axis=0) > 1
    is_candidate[members] = False
    more = np.flatnonzero(is_candidate)
    return np.column_stack([np.tile(members, (len(more), 1)), more])


def _joined(parents: Parents) -> NDArray[np.bool_]:
    """(d, d): which pairs an arc joins."""
    joined = np.zeros((len(parents), len(parents)), np.bool_)
    for child, causes in enumerate(parents):
        joined[causes, child] = joined[child, causes] = True
    return joined


def gains_of(members: NDArray[np.intp], equations: Equations) -> Groups:
    """Compare the arcs within each group with one hidden cause; parents outside it are kept.

    Each member is regressed on its parents outside the group; a one-factor model is fitted to the
    covariance of the residuals, by EM for all groups at once.
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
    """(m, k, k) covariance given parents outside the group, and the number of those parents."""
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
    # The column of largest correlations gives the signs; EM finds the sizes.
    strongest = np.abs(correlations).sum(axis=2).argmax(axis=1)
    loadings = 0.9 * correlations[np.arange(len(correlations)), strongest]
    noise = np.maximum(1 - loadings**2, 0.1)
    for _ in range(_ITERATIONS):
        weights = loadings / noise
        weights /= 1 + (loadings * weights).sum(axis=1, keepdims=True)
        cross = np.einsum("mij,mj->mi", correlations, weights)
        # Second moment of the hidden cause: variance of its expectation plus conditional variance.
        unknown = 1 - (weights * loadings).sum(axis=1)
        moment = (cross * weights).sum(axis=1) + unknown
        loadings = cross / np.sqrt(moment)[:, None]
        noise = np.maximum(1 - loadings**2, _LEAST_NOISE)
    return loadings * deviations, noise * variances
