"""Families and moves of the search by entropy: compiled, and only what a move changes.

A family is a variable with its parents, chosen among its predecessors by Gaussian evidence on the
covariance (grow, then shrink) and scored by the entropy of its residuals.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import compiled
from cosmodag.refine.entropy import GAUSSIAN_ENTROPY, SMALLEST_DEVIATION, entropy_parts

__all__ = ["Families", "Problem", "coefficients", "fit_order", "improve_place"]

_DEPENDENT = 1e-9  # share of a candidate's variance that the chosen ones leave over
_LEAST_GAIN = 1e-7  # of a move, so that rounding does not make it circle


class Problem(NamedTuple):
    """Standardised data and what is known of the graph.

    ``columns`` (d, n); ``rows_of`` (d,) says which of the ``counted`` (m, n) row weights, their
    ``totals`` (m,) and ``covariances`` (m, d, d) belong to a variable's equation.
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
    most_parents: int


class Families(NamedTuple):
    """An order with its families.

    ``parents[v, :parent_counts[v]]``; ``paths[v, :path_counts[v]]`` are the variables that entered
    while v's family grew: a predecessor outside the path can leave without changing the family.
    """

    order: NDArray[np.int64]
    parents: NDArray[np.int64]
    parent_counts: NDArray[np.int64]
    paths: NDArray[np.int64]
    path_counts: NDArray[np.int64]
    scores: NDArray[np.float64]


@compiled
def _candidates(
    problem: Problem, order: NDArray[np.int64], stop: int, child: int, without: int, extra: int
) -> tuple[NDArray[np.int64], int]:
    """Predecessors that may be parents, required ones first, and how many those are."""
    found = np.empty(stop + 1, np.int64)
    count = 0
    for wanted in (True, False):
        for place in range(stop + 1):
            other = order[place] if place < stop else extra
            if other < 0 or other == without or problem.required[other, child] != wanted:
                continue
            if wanted or problem.support[other, child]:
                found[count] = other
                count += 1
        if wanted:
            forced = count
    return found[:count], forced


@compiled
def _grow(
    problem: Problem, child: int, candidates: NDArray[np.int64], forced: int
) -> NDArray[np.int64]:
    """Candidates in the order in which they enter: the largest gain first, while it pays."""
    covariance = problem.covariances[problem.rows_of[child]]
    rows = problem.totals[problem.rows_of[child]]
    count = candidates.size
    most = min(count, max(forced, problem.most_parents))
    with_child, variance, used = np.empty(count), np.empty(count), np.zeros(count, np.bool_)
    factor = np.empty((most, count))
    path = np.empty(most, np.int64)
    for i in range(count):
        with_child[i] = covariance[candidates[i], child]
        variance[i] = covariance[candidates[i], candidates[i]]
    left = covariance[child, child]
    smallest = left * SMALLEST_DEVIATION**2
    for step in range(most):
        best, best_gain = step, -1.0
        if step >= forced:
            for i in range(count):
                own = covariance[candidates[i], candidates[i]]
                if used[i] or variance[i] <= _DEPENDENT * own:
                    continue
                gain = with_child[i] ** 2 / variance[i]
                if gain > best_gain or (gain == best_gain and candidates[i] < candidates[best]):
                    best, best_gain = i, gain
            remains = max(left - best_gain, smallest)
            if best_gain < 0.0 or not 0.5 * rows * np.log(left / remains) > problem.penalty:
                return path[:step]
        path[step] = candidates[best]
        used[best] = True
        factor[step] = 0.0
        own = covariance[candidates[best], candidates[best]]
        if variance[best] <= _DEPENDENT * own:
            continue
        scale = 1.0 / np.sqrt(variance[best])
        share = with_child[best] * scale
        for i in range(count):
            value = covariance[candidates[best], candidates[i]]
            for earlier in range(step):
                value -= factor[earlier, best] * factor[earlier, i]
            value *= scale
            factor[step, i] = value
            with_child[i] -= value * share
            variance[i] -= value * value
        left = max(left - share * share, smallest)
    return path


@compiled
def _sweep(matrix: NDArray[np.float64], pivot: int) -> None:
    """Bring one regressor into a regression, or out of it again (Goodnight 1979)."""
    size = len(matrix)
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


@compiled
def _regression(
    covariance: NDArray[np.float64], child: int, parents: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Swept covariance of parents and child (last), and which parents could enter."""
    count = parents.size
    matrix = np.empty((count + 1, count + 1))
    entered = np.zeros(count, np.bool_)
    for i in range(count + 1):
        u = parents[i] if i < count else child
        for j in range(count + 1):
            matrix[i, j] = covariance[u, parents[j] if j < count else child]
    for i in range(count):
        if matrix[i, i] > _DEPENDENT * covariance[parents[i], parents[i]]:
            _sweep(matrix, i)
            entered[i] = True
    return matrix, entered


@compiled
def coefficients(
    problem: Problem, child: int, parents: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Least squares of the child on its parents; 0 for a parent the others determine."""
    matrix, entered = _regression(problem.covariances[problem.rows_of[child]], child, parents)
    return np.where(entered, matrix[:-1, -1], 0.0)


@compiled
def _shrink(
    problem: Problem, child: int, path: NDArray[np.int64], forced: int
) -> NDArray[np.int64]:
    """The path without the members that stopped paying once later ones had entered."""
    rows = problem.totals[problem.rows_of[child]]
    covariance = problem.covariances[problem.rows_of[child]]
    matrix, kept = _regression(covariance, child, path)
    smallest = covariance[child, child] * SMALLEST_DEVIATION**2
    while True:
        worst, least_loss = -1, np.inf
        for i in range(forced, path.size):
            if kept[i]:
                loss = matrix[i, -1] ** 2 / matrix[i, i]
                if loss < least_loss:
                    worst, least_loss = i, loss
        left = max(matrix[-1, -1], smallest)
        if worst < 0 or 0.5 * rows * np.log((left + least_loss) / left) > problem.penalty:
            break
        _sweep(matrix, worst)
        kept[worst] = False
    kept[:forced] = True
    return path[kept]


@compiled
def _score(problem: Problem, child: int, parents: NDArray[np.int64]) -> float:
    """−n H(residual of the child given its parents) − c |parents|."""
    group = problem.rows_of[child]
    if not problem.covariances[group, child, child] > 0.0:
        return -problem.penalty * parents.size
    weights = coefficients(problem, child, parents)
    residuals = problem.columns[child].copy()
    for i in range(parents.size):
        for row in range(residuals.size):
            residuals[row] -= weights[i] * problem.columns[parents[i], row]
    deviation, negentropy = entropy_parts(residuals, problem.counted[group])
    if deviation < SMALLEST_DEVIATION:
        deviation, negentropy = SMALLEST_DEVIATION, 0.0
    entropy = np.log(deviation) + GAUSSIAN_ENTROPY - negentropy
    return -problem.totals[group] * entropy - problem.penalty * parents.size


@compiled
def _family(
    problem: Problem,
    families: Families,
    child: int,
    candidates: NDArray[np.int64],
    forced: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Path, parents and score of a child; the known score where the parents are the known ones."""
    path = _grow(problem, child, candidates, forced)
    parents = _shrink(problem, child, path, forced)
    known = families.parents[child, : families.parent_counts[child]]
    if known.size == parents.size and np.all(known == parents):
        return path, parents, families.scores[child]
    return path, parents, _score(problem, child, parents)


@compiled
def _store(problem: Problem, families: Families, place: int) -> None:
    """Choose and keep the family of the variable at one place of the order."""
    child = families.order[place]
    candidates, forced = _candidates(problem, families.order, place, child, -1, -1)
    path, parents, score = _family(problem, families, child, candidates, forced)
    families.paths[child, : path.size] = path
    families.path_counts[child] = path.size
    families.parents[child, : parents.size] = parents
    families.parent_counts[child] = parents.size
    families.scores[child] = score


@compiled
def fit_order(problem: Problem, families: Families) -> None:
    """Choose all families of the order anew."""
    for place in range(families.order.size):
        families.parent_counts[families.order[place]] = -1
        _store(problem, families, place)


@compiled
def _would_enter(
    problem: Problem, child: int, path: NDArray[np.int64], newcomer: int
) -> bool:
    """Whether a new predecessor changes the path: compared with the path's members only."""
    if not problem.support[newcomer, child]:
        return False
    forced = 0
    for member in path:
        forced += problem.required[member, child]
    candidates = np.append(path, newcomer)
    return bool(np.any(_grow(problem, child, candidates, forced) == newcomer))


@compiled
def _best_place(
    problem: Problem, families: Families, start: int, end: int
) -> tuple[int, float]:
    """The best place on the way from start to end (left or right), and its gain in score."""
    order, moved = families.order, families.order[start]
    step = 1 if end > start else -1
    path = families.paths[moved, : families.path_counts[moved]]
    own, passed = families.scores[moved], 0.0
    best, best_gain = start, _LEAST_GAIN
    for place in range(start + step, end + step, step):
        other = order[place]
        other_path = families.paths[other, : families.path_counts[other]]
        if step < 0:
            if problem.before[other, moved]:
                break
            if _would_enter(problem, other, other_path, moved):
                candidates, forced = _candidates(problem, order, place, other, -1, moved)
                score = _family(problem, families, other, candidates, forced)[2]
                passed += score - families.scores[other]
            changed = bool(np.any(path == other))
        else:
            if problem.before[moved, other]:
                break
            if np.any(other_path == moved):
                candidates, forced = _candidates(problem, order, place, other, moved, -1)
                score = _family(problem, families, other, candidates, forced)[2]
                passed += score - families.scores[other]
            changed = _would_enter(problem, moved, path, other)
        if changed:
            stop = place if step < 0 else place + 1
            candidates, forced = _candidates(problem, order, stop, moved, moved, -1)
            path, _, own = _family(problem, families, moved, candidates, forced)
        gain = passed + own - families.scores[moved]
        if gain > best_gain:
            best, best_gain = place, gain
    return best, best_gain


@compiled
def improve_place(problem: Problem, families: Families, variable: int, reach: int) -> bool:
    """Move one variable to its best place within reach; say whether it moved."""
    order = families.order
    start = int(np.flatnonzero(order == variable)[0])
    left, left_gain = _best_place(problem, families, start, max(0, start - reach))
    right, right_gain = _best_place(problem, families, start, min(order.size - 1, start + reach))
    target = left if left_gain >= right_gain else right
    if target == start:
        return False
    step = 1 if target > start else -1
    for place in range(start, target, step):
        order[place] = order[place + step]
    order[target] = variable
    for place in range(min(start, target), max(start, target) + 1):
        _store(problem, families, place)
    return True
