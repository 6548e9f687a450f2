"""Choice of parents on a given order: which predecessors of each variable, with which weights."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.runtime.threads import available_threads, mapper
from cosmodag.search.column_problem import OrderProblem, new_state, problem_of
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import default_penalty
from cosmodag.search.kernel.climb_state import (
    FROM,
    HEADER,
    LEAST_GAIN,
    PARENTS,
    RECORD,
    RESIDUAL,
    TO,
)
from cosmodag.search.local import renew_records
from cosmodag.search.moments import Moments
from cosmodag.search.regression_graph import RegressionGraph

# Fewer variables than this are processed before a second thread has started.
WORTH_THREADS = 256

Floats = NDArray[np.float64]
Choose = Callable[[NDArray[np.int64]], RegressionGraph]


def choose_parents(
    moments: Moments,
    order: ArrayLike,
    *,
    penalty: float | None = None,
    constraints: Constraints = NO_CONSTRAINTS,
    threads: int | None = None,
) -> RegressionGraph:
    r"""Choose the parents of each variable among its predecessors, and refit the weights.

    The local score of v with parents P is

    .. math:: -\tfrac{n}{2} \log \mathrm{var}(v \mid P) - c\,|P|,

    with the variance as a share of that of v, so that units do not matter. *Grow* adds the
    predecessor that raises the score most until none does, with a smaller penalty
    (`growing_penalty`), so that parents which only matter together are added; *shrink* drops the
    worst parent while that raises the score. Everything is computed from correlations, in O(d k²)
    for a variable with k parents; memory is O(d k) per thread.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        The variables, causes first.
    penalty : float, optional
        c, per arc; by default `default_penalty`.
    constraints : Constraints
        The order must agree with them.
    threads : int, optional
        Number of threads, by default one per core; it does not affect the result.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> y = 2 * x + random.normal(size=500)
    >>> z = random.normal(size=500) - y
    >>> moments = Moments.of(np.column_stack([z, y, x]))
    >>> choose_parents(moments, [2, 1, 0]).matrix().toarray().round(1)
    array([[ 0.,  0.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  2.,  0.]])
    """
    d = moments.variables
    checked = constraints.checked(order, d)
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), d)
    problem = problem_of(moments, penalty, constraints)
    count = available_threads(threads)
    blocks = _blocks(d, count)
    with mapper(count if len(blocks) > 1 else 1) as run:
        parts = run(lambda block: _choose(problem, checked, *block), blocks)
    found = np.empty((3, d))
    found[:, checked] = np.concatenate([part[0] for part in parts], axis=1)
    counts = found[0].astype(np.int64)
    heads = np.repeat(checked, counts[checked])
    tails = np.concatenate([part[1] for part in parts])
    weights = np.concatenate([part[2] for part in parts])
    return RegressionGraph.of(moments, tails, heads, weights, found[1], found[2])


def scores_on(problem: OrderProblem, order: NDArray[np.int64], first: int, last: int) -> Floats:
    """Compute the local scores of the variables order[first:last] with the parents chosen."""
    found, _, _ = _choose(problem, order, first, last)
    return np.asarray(found[2], np.float64)


def shrunk_parents(problem: OrderProblem, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Choose parents by shrinking alone, from all predecessors on an order: (d, d) adjacency."""
    # Any gain suffices: growing adds all predecessors, up to the maximum number of parents.
    greedy = problem.with_setting(LEAST_GAIN, -1.0)
    found, tails, _ = _choose(greedy, order, 0, len(order))
    arcs = np.zeros((len(order), len(order)), np.bool_)
    arcs[tails, np.repeat(order, found[0].astype(np.int64))] = True
    return arcs


def _blocks(d: int, threads: int) -> list[tuple[int, int]]:
    """Split the order into parts, many for each thread: later variables have more predecessors."""
    count = 1 if threads == 1 or d < WORTH_THREADS else 8 * threads
    cuts = np.linspace(0, d, min(count, d) + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def _choose(
    problem: OrderProblem, order: NDArray[np.int64], first: int, last: int
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Choose the parents of the variables order[first:last].

    Returns an array with the numbers of parents, residual variances and local scores of these
    variables; then the parents of all of them, one variable after the other; then the standardised
    weights of the parents.
    """
    state = new_state(problem, order, width=0)
    state.counters[FROM], state.counters[TO] = first, last
    state = renew_records(state)
    records = state.shared[RECORD, order[first:last]]
    counts = state.notes[records + PARENTS].astype(np.int64)
    scores = state.reals[records]
    begins = records + HEADER - (np.cumsum(counts) - counts)
    places = np.repeat(begins, counts) + np.arange(counts.sum())
    found = np.stack([counts, state.reals[records + RESIDUAL], scores])
    return found, state.notes[places].astype(np.int64), state.reals[places]
