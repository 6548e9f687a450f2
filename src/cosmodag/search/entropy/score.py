"""Compiled score of chosen parents by the entropy of the residuals, for noise of any shape.

The Gaussian score cannot distinguish graphs of one equivalence class; this score can. Parents are
still chosen by Gaussian evidence (`cosmodag.search.kernel.grow_and_shrink`); only the score of the
chosen parents differs.
"""

from typing import Any

import numpy as np

from cosmodag.runtime.compiled import part
from cosmodag.search.entropy.measure import GAUSSIAN_ENTROPY, SMALLEST_DEVIATION, entropy_parts
from cosmodag.search.kernel.climb_state import (
    GROUP,
    HALF_ROWS,
    HEADER,
    MOST_COMPARED,
    NEWEST,
    PARENTS,
    PENALTY,
)


@part
def entropy_score(state: Any, v: int, record: int) -> float:
    """Compute −n H(residual of v) − c |parents|, with the entropy H of `entropy.measure`.

    The record is new, with parents and weights already written; if a recent record has the same
    parents, its score is returned. The residual is that of v divided by its standard deviation in
    the rows of its equation. The entropy of a constant counts as 0.
    """
    notes, reals, table, noise = state.notes, state.reals, state.table, state.noise
    group, cost, n = int(state.settings[GROUP, v]), state.settings[PENALTY, v], len(state.noise)
    count, first, scales = notes[record + PARENTS], record + HEADER, state.scales[group]
    other = state.own[NEWEST, v]
    for _ in range(MOST_COMPARED):
        if other < 0:
            break
        is_same = notes[other + PARENTS] == count
        for i in range(count if is_same else 0):
            is_same &= notes[first + i] == notes[other + HEADER + i]
        if is_same:
            return float(reals[other])
        other = notes[other]
    if not scales[v] > 0.0:
        return float(-cost * count)
    for row in range(n):
        noise[row] = table[v, row]
    for i in range(count):
        parent, weight = notes[first + i], reals[first + i]
        if weight != 0.0:
            weight *= scales[v] / scales[parent]
            for row in range(n):
                noise[row] -= weight * table[parent, row]
    deviation, negentropy = entropy_parts(noise, table[len(scales) + group])
    deviation /= scales[v]
    if deviation < SMALLEST_DEVIATION:
        deviation, negentropy = SMALLEST_DEVIATION, 0.0
    entropy = np.log(deviation) + GAUSSIAN_ENTROPY - negentropy
    return float(-2.0 * state.settings[HALF_ROWS, v] * entropy - cost * count)
