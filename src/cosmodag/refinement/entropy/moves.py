"""Moves of the entropy search: one variable to its best place, refitting changed families."""

from cosmodag.compiled import borrowing, inlined, part
from cosmodag.refinement.entropy.families import EntropyProblem, Families, grow, refit

__all__ = ["improve_place"]

_LEAST_GAIN = 1e-7  # smallest gain of a move, so that rounding cannot cause endless cycles


@inlined
def _holds(families: Families, row: int, variable: int) -> bool:
    """Whether a variable is on the path in one row."""
    found = False
    for i in range(families.path_counts[row]):
        found = found or families.paths[row, i] == variable
    return found


@part
def _would_enter(
    problem: EntropyProblem, families: Families, child: int, row: int, newcomer: int
) -> bool:
    """Whether a new predecessor changes the path in a row: compared with its members only."""
    if not problem.support[newcomer, child]:
        return False
    known = families.path_counts[row]
    candidates, path = families.lists[1], families.lists[2]
    for i in range(known):
        candidates[i] = families.paths[row, i]
    candidates[known] = newcomer
    for i in range(grow(problem, families, child, candidates, known + 1, path)):
        if path[i] == newcomer:
            return True
    return False


@part
def _best_place(
    problem: EntropyProblem, families: Families, start: int, end: int
) -> tuple[int, float]:
    """Find the best place on the way from start to end (left or right), and its gain in score.

    When the moved variable passes another one to the left, it loses that predecessor and the other
    one gains it; to the right it is the reverse.
    """
    order, moved = families.order, families.order[start]
    trial, own = order.size, order.size + 1
    for i in range(families.path_counts[moved]):
        families.paths[own, i] = families.paths[moved, i]
    families.path_counts[own] = families.path_counts[moved]
    score, passed = families.scores[moved], 0.0
    best, best_gain = start, _LEAST_GAIN
    leftwards = end < start
    step = -1 if leftwards else 1
    for place in range(start + step, end + step, step):
        other = order[place]
        if problem.before[other, moved] if leftwards else problem.before[moved, other]:
            break
        gaining, losing, row = (other, own, other) if leftwards else (moved, other, own)
        enters = _would_enter(problem, families, gaining, row, moved if leftwards else other)
        leaves = _holds(families, losing, other if leftwards else moved)
        if enters if leftwards else leaves:
            extra = moved if leftwards else other
            passed -= families.scores[other]
            passed += refit(problem, families, other, place, moved, extra, trial)
        if leaves if leftwards else enters:
            stop = place if leftwards else place + 1
            score = refit(problem, families, moved, stop, moved, moved, own)
        gain = passed + score - families.scores[moved]
        if gain > best_gain:
            best, best_gain = place, gain
    return best, best_gain


@borrowing
def improve_place(problem: EntropyProblem, families: Families, variable: int, reach: int) -> bool:
    """Move one variable to its best place within reach; return whether it moved."""
    order = families.order
    start = 0
    while order[start] != variable:
        start += 1
    target, most = start, 0.0
    for end in (max(0, start - reach), min(order.size - 1, start + reach)):
        place, gain = _best_place(problem, families, start, end)
        if place != start and gain > most:
            target, most = place, gain
    if target == start:
        return False
    step = 1 if target > start else -1
    for place in range(start, target, step):
        order[place] = order[place + step]
    order[target] = variable
    for place in range(min(start, target), max(start, target) + 1):
        other = order[place]
        changed = other == variable
        if not changed:
            changed = (
                _holds(families, other, variable)
                if step > 0
                else _would_enter(problem, families, other, other, variable)
            )
        if changed:
            refit(problem, families, other, place, other, other, other)
    return True
