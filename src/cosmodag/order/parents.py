"""Which predecessors of each variable in an order are its parents, and with which weights."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.errors import DataError
from cosmodag.order.kernel.state import HEADER
from cosmodag.order.local import renewed
from cosmodag.order.moments import Moments
from cosmodag.order.problem import Problem, new_state, problem_of
from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.order.scores import default_penalty
from cosmodag.solve.machine.threads import available_threads, mapper

# Fewer variables than this are done before another thread has started.
WORTH_THREADS = 256

Floats = NDArray[np.float64]


def choose_parents(
    moments: Moments,
    order: ArrayLike,
    *,
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> RegressionGraph:
    r"""Choose the parents of each variable among its predecessors, and refit the weights.

    The local score of v with parents P is

    .. math:: -\tfrac{n}{2} \log \mathrm{var}(v \mid P) - c\,|P|,

    with the variance relative to that of v, so that units do not matter. *Grow* adds the
    predecessor that raises it most until none does, at a smaller penalty (`growing_penalty`), so
    that parents which only matter together get in; *shrink* takes away the parent whose loss lowers
    it least while that raises it. All of it is computed from correlations, in O(d k²) per
    variable with k parents; memory is O(d k) per thread.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        The variables, causes first.
    penalty : float, optional
        c, per arc; by default `default_penalty`.
    support : (d, d) array of bool, optional
        Arcs u → v that may exist, at [u, v].
    required : (d, d) array of bool, optional
        Arcs that are always in; they must agree with the order.
    threads : int, optional
        How many to use; by default all cores. The result does not depend on it.

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
    checked = check_order(order, d, required)
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), d)
    problem = problem_of(moments, penalty, support=support, required=required)
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


def scores_on(problem: Problem, order: NDArray[np.int64], first: int, last: int) -> Floats:
    """Local scores of the variables order[first:last], each with the parents chosen for it."""
    found, _, _ = _choose(problem, order, first, last)
    return np.asarray(found[2], np.float64)


def parents_left(problem: Problem, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(d, d): parents that are left on an order where shrinking begins with all predecessors."""
    settings = problem.settings.copy()
    settings[1] = -1.0  # whatever a column gains is enough
    found, tails, _ = _choose(replace(problem, settings=settings), order, 0, len(order))
    arcs = np.zeros((len(order), len(order)), np.bool_)
    arcs[tails, np.repeat(order, found[0].astype(np.int64))] = True
    return arcs


def check_order(
    order: ArrayLike, d: int, *relations: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Refuse what is not an order of d variables, or an order that contradicts a relation."""
    checked = np.array(order, np.int64)
    if checked.shape != (d,) or not np.array_equal(np.sort(checked), np.arange(d)):
        raise DataError(f"An order lists each of 0 … {d - 1} once; this one does not.")
    position = np.argsort(checked)
    for before in (relation for relation in relations if relation is not None):
        tails, heads = np.nonzero(before)
        if np.any(position[tails] >= position[heads]):
            raise DataError("The order is against what is required to come before what.")
    return checked


def with_required(
    before: NDArray[np.bool_] | None, required: NDArray[np.bool_] | None
) -> NDArray[np.bool_] | None:
    """Give what must come before what, required arcs included; transitively closed."""
    if required is None or (before is not None and before[required].all()):
        return before
    return closure(required if before is None else before | required)


def _blocks(d: int, threads: int) -> list[tuple[int, int]]:
    """Parts of the order; many, as later variables have more predecessors."""
    count = 1 if threads == 1 or d < WORTH_THREADS else 8 * threads
    cuts = np.linspace(0, d, min(count, d) + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def _choose(
    problem: Problem, order: NDArray[np.int64], first: int, last: int
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Give counts, residuals and scores of order[first:last], parents and standardised weights."""
    state = new_state(problem, order, width=0)
    state.counters[6:8] = first, last
    state = renewed(state)
    records = state.shared[1, order[first:last]]
    counts = state.notes[records + 1].astype(np.int64)
    scores = state.reals[records]
    begins = records + HEADER - (np.cumsum(counts) - counts)
    places = np.repeat(begins, counts) + np.arange(counts.sum())
    found = np.stack([counts, state.reals[records + 1], scores])
    return found, state.notes[places].astype(np.int64), state.reals[places]
