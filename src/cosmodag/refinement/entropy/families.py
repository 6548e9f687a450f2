"""Families scored by entropy: a variable, its parents and the residuals they leave.

Parents are chosen among the predecessors by Gaussian evidence on the covariance (grow, then
shrink); the score is the entropy of the residuals. Loops are explicit, because each NumPy function
used here would add up to a second of compile time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing, inlined, part
from cosmodag.refinement.entropy.measure import GAUSSIAN_ENTROPY, SMALLEST_DEVIATION, entropy_parts

__all__ = ["EntropyProblem", "Families", "fit_order", "grow", "refit", "total_score"]

_DEPENDENT = (
    1e-9  # smallest share of a candidate's variance that the chosen parents leave unexplained
)


class EntropyProblem(NamedTuple):
    """Standardised data and what is known of the graph.

    ``columns`` (d, n); ``rows_of`` (d,) says which of the ``counted`` (m, n) row weights, their
    ``totals`` (m,) and ``covariances`` (m, d, d) belong to a variable's equation. An arc enters a
    family for a gain of ``entry`` and stays for one of ``penalty``.
    """

    columns: NDArray[np.float64]
    rows_of: NDArray[np.int64]
    counted: NDArray[np.float64]
    totals: NDArray[np.float64]
    covariances: NDArray[np.float64]
    support: NDArray[np.bool_]
    required: NDArray[np.bool_]
    before: NDArray[np.bool_]
    penalty: float
    entry: float
    most_parents: int


class Families(NamedTuple):
    """An order with its families.

    Row v of ``parents`` and ``weights`` holds the ``parent_counts[v]`` parents of v and their
    coefficients. Row v of ``paths`` holds the variables added while the family grew: removing a
    predecessor outside the path does not change the family. Two more rows are for trials. The last
    four arrays are space that compiled functions overwrite: those that allocate take longer to
    compile.
    """

    order: NDArray[np.int64]
    parents: NDArray[np.int64]
    weights: NDArray[np.float64]
    parent_counts: NDArray[np.int64]
    paths: NDArray[np.int64]
    path_counts: NDArray[np.int64]
    scores: NDArray[np.float64]
    residuals: NDArray[np.float64]  # (n,)
    numbers: NDArray[np.float64]  # (3, d + 1): covariances with a child, variances, least variances
    square: NDArray[np.float64]  # (d + 1, d + 1): a factor, or a regression
    lists: NDArray[np.int64]  # (4, d + 1): candidates; those of a trial and its path; what entered


@inlined
def _forced(problem: EntropyProblem, child: int, candidates: NDArray[np.int64], count: int) -> int:
    """Count the required candidates, which come first."""
    forced = 0
    while forced < count and problem.required[candidates[forced], child]:
        forced += 1
    return forced


@part
def grow(
    problem: EntropyProblem,
    families: Families,
    child: int,
    candidates: NDArray[np.int64],
    count: int,
    path: NDArray[np.int64],
) -> int:
    """Add candidates: the required ones, which come first, then the best while it gains enough."""
    forced = _forced(problem, child, candidates, count)
    covariance = problem.covariances[problem.rows_of[child]]
    rows = problem.totals[problem.rows_of[child]]
    most = min(count, max(forced, problem.most_parents))
    with_child, variance, open_to = families.numbers[0], families.numbers[1], families.numbers[2]
    factor = families.square
    for i in range(count):
        with_child[i] = covariance[candidates[i], child]
        variance[i] = covariance[candidates[i], candidates[i]]
        open_to[i] = _DEPENDENT * variance[i]
    left = covariance[child, child]
    smallest = left * SMALLEST_DEVIATION**2
    for step in range(most):
        best, best_gain = step, -1.0
        if step >= forced:
            for i in range(count):
                if variance[i] > open_to[i]:
                    gain = with_child[i] ** 2 / variance[i]
                    if gain > best_gain or (gain == best_gain and candidates[i] < candidates[best]):
                        best, best_gain = i, gain
            remains = max(left - best_gain, smallest)
            if best_gain < 0.0 or not 0.5 * rows * np.log(left / remains) > problem.entry:
                return step
        path[step] = candidates[best]
        row = factor[step]
        enters = variance[best] > open_to[best]
        scale = 1.0 / np.sqrt(variance[best]) if enters else 0.0
        share = with_child[best] * scale
        for i in range(count):
            row[i] = covariance[candidates[best], candidates[i]]
        for earlier in range(step):
            weight = factor[earlier, best]
            for i in range(count):
                row[i] -= weight * factor[earlier, i]
        for i in range(count):
            row[i] *= scale
            with_child[i] -= row[i] * share
            variance[i] -= row[i] * row[i]
        open_to[best] = np.inf
        left = max(left - share * share, smallest)
    return most


@part
def _sweep(matrix: NDArray[np.float64], size: int, pivot: int) -> None:
    """Add a regressor to a regression, or remove it (sweep operator, Goodnight 1979)."""
    scale = 1.0 / matrix[pivot, pivot]
    for j in range(size):
        matrix[pivot, j] *= scale
    for i in range(size):
        if i != pivot:
            factor = matrix[i, pivot]
            for j in range(size):
                matrix[i, j] -= factor * matrix[pivot, j]
            matrix[i, pivot] = -factor * scale
    matrix[pivot, pivot] = scale


@part
def _shrink(
    problem: EntropyProblem,
    families: Families,
    child: int,
    path: NDArray[np.int64],
    count: int,
    parents: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> int:
    """Keep the members of a path whose gain exceeds the penalty; fit least squares."""
    forced = _forced(problem, child, path, count)
    covariance = problem.covariances[problem.rows_of[child]]
    rows = problem.totals[problem.rows_of[child]]
    smallest = covariance[child, child] * SMALLEST_DEVIATION**2
    matrix, entered = families.square, families.lists[3]
    for i in range(count + 1):
        one = path[i] if i < count else child
        for j in range(count + 1):
            matrix[i, j] = covariance[one, path[j] if j < count else child]
    for i in range(count):
        entered[i] = matrix[i, i] > _DEPENDENT * covariance[path[i], path[i]]
        if entered[i]:
            _sweep(matrix, count + 1, i)
    while True:
        worst, least_loss = count, np.inf
        for i in range(forced, count):
            if entered[i] and matrix[i, count] ** 2 / matrix[i, i] < least_loss:
                worst, least_loss = i, matrix[i, count] ** 2 / matrix[i, i]
        left = max(matrix[count, count], smallest)
        if worst == count or 0.5 * rows * np.log((left + least_loss) / left) > problem.penalty:
            break
        _sweep(matrix, count + 1, worst)
        entered[worst] = 0
    kept = 0
    for i in range(count):
        if i < forced or entered[i]:
            parents[kept] = path[i]
            weights[kept] = matrix[i, count] if entered[i] else 0.0
            kept += 1
    return kept


@part
def _score(
    problem: EntropyProblem,
    families: Families,
    child: int,
    parents: NDArray[np.int64],
    weights: NDArray[np.float64],
    count: int,
) -> float:
    """−n H(residual of the child given its parents) − c |parents|; a constant has no entropy."""
    group = problem.rows_of[child]
    if not problem.covariances[group, child, child] > 0.0:
        return -problem.penalty * count
    residuals = families.residuals
    for row in range(residuals.size):
        residuals[row] = problem.columns[child, row]
    for i in range(count):
        for row in range(residuals.size):
            residuals[row] -= weights[i] * problem.columns[parents[i], row]
    deviation, negentropy = entropy_parts(residuals, problem.counted[group])
    if deviation < SMALLEST_DEVIATION:
        deviation, negentropy = SMALLEST_DEVIATION, 0.0
    entropy = np.log(deviation) + GAUSSIAN_ENTROPY - negentropy
    return float(-problem.totals[group] * entropy - problem.penalty * count)


@part
def _candidates(
    support: NDArray[np.bool_],
    required: NDArray[np.bool_],
    order: NDArray[np.int64],
    child: int,
    stop: int,
    without: int,
    extra: int,
    candidates: NDArray[np.int64],
) -> int:
    """List the possible parents, required ones first; `extra` is none if it is the child."""
    count = 0
    for wanted in (True, False):
        for place in range(stop + 1):
            other = order[place] if place < stop else extra
            if other == child or (other == without and place < stop):
                continue
            if required[other, child] == wanted and support[other, child]:
                candidates[count] = other
                count += 1
    return count


@borrowing
def refit(
    problem: EntropyProblem,
    families: Families,
    child: int,
    stop: int,
    without: int,
    extra: int,
    row: int,
) -> float:
    """Choose the family of a child again, write it to one row, and return its score.

    Candidates are the first ``stop`` variables of the order without one, and an extra one. A
    trial that ends in the stored family has its score.
    """
    candidates = families.lists[0]
    count = _candidates(
        problem.support,
        problem.required,
        families.order,
        child,
        stop,
        without,
        extra,
        candidates,
    )
    path, parents, weights = families.paths[row], families.parents[row], families.weights[row]
    grown = grow(problem, families, child, candidates, count, path)
    kept = _shrink(problem, families, child, path, grown, parents, weights)
    families.path_counts[row] = grown
    families.parent_counts[row] = kept
    same = row != child and families.parent_counts[child] == kept
    for i in range(kept):
        same = same and families.parents[child, i] == parents[i]
    score = families.scores[child]
    if not same:
        score = _score(problem, families, child, parents, weights, kept)
    families.scores[row] = score
    return float(score)


def fit_order(problem: EntropyProblem, order: NDArray[np.int64]) -> Families:
    """Choose all families of an order."""
    d = order.size
    families = Families(
        order=order.copy(),
        parents=np.zeros((d + 2, d), np.int64),
        weights=np.zeros((d + 2, d)),
        parent_counts=np.zeros(d + 2, np.int64),
        paths=np.zeros((d + 2, d), np.int64),
        path_counts=np.zeros(d + 2, np.int64),
        scores=np.zeros(d + 2),
        residuals=np.zeros(problem.columns.shape[1]),
        numbers=np.zeros((3, d + 1)),
        square=np.zeros((d + 1, d + 1)),
        lists=np.zeros((4, d + 1), np.int64),
    )
    for place, child in enumerate(families.order):
        refit(problem, families, child, place, child, child, child)
    return families


def total_score(families: Families) -> float:
    """Add the scores of the variables."""
    return float(families.scores[: families.order.size].sum())
