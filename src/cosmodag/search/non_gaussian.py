"""Search for the order and graph of a linear model with non-Gaussian noise.

The search maximises Σ_v −n H(residual of v given its parents) − c |arcs| (`order.entropy.score`)
with the order search that all scores use, from given starts and from `exogenous_first_order`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError
from cosmodag.graph.dags import respecting
from cosmodag.search.best import best_of_starts, distinct
from cosmodag.search.entropy.exogenous_first import exogenous_first_order
from cosmodag.search.entropy.weak_parents import with_weak_parents
from cosmodag.search.jobs import Decided, Job
from cosmodag.search.moments import Moments
from cosmodag.search.parents import check_order
from cosmodag.search.starts.orders import closed_order

EXOGENOUS_FIRST = "exogenous-first"
# Standard deviation, relative to the largest value, below which a column counts as constant.
_CONSTANT = 1e-12


def entropy_penalty(rows: float, variables: int) -> float:
    """Compute the penalty per arc: the extended BIC ½ log n + log d, at least log n."""
    return max(float(np.log(rows)), 0.5 * float(np.log(rows)) + float(np.log(variables)))


def search_non_gaussian(
    X: ArrayLike,
    starts: Mapping[str, ArrayLike],
    *,
    random: np.random.Generator,
    penalty: float | None = None,
    support: ArrayLike | None = None,
    required: ArrayLike | None = None,
    before: ArrayLike | None = None,
    counted: ArrayLike | None = None,
    weak_parents: bool = False,
    restarts: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[int, float], None] | None = None,
) -> Decided:
    """Find the order and graph with the best non-Gaussian score.

    The search from the given starts and the exogenous-first order, which is always added, is that
    of `refine_linear`; restarts begin from the best result. The total is never below that of a
    start.

    Parameters
    ----------
    X : array (n, d)
        The data, in any units: scaling a column changes its weights only.
    starts : mapping of str to array (d,)
        Orders to start from, causes first; may be empty.
    random : numpy.random.Generator
        Draws the order in which variables are tried, and the perturbations.
    penalty : float, optional
        c, the gain required of an arc; by default the extended BIC ½ log n + log d, at least log n.
    support, required : array of bool (d, d), optional
        Allowed arcs u → v, at [u, v], and arcs that are always included.
    before : array of bool (d, d), optional
        Whether u must come before v, at [u, v]; transitively closed.
    counted : array (n, d), optional
        Weight of each row in the equation of each variable; 0 if the variable was set.
    weak_parents : bool
        Whether to add parents at the end that only the shape of the noise reveals
        (`cosmodag.search.entropy.weak_parents`).
    restarts : int, optional
        Maximum number of restarts from perturbed copies of the best order; by default
        ``default_restarts(d, "non-gaussian")``.
    should_stop : callable, optional
        Called often; when it returns True, the best result so far is returned.
    on_progress : callable, optional
        Called after each restart with the number of restarts and the best score.

    Examples
    --------
    >>> noise = np.random.default_rng(0).exponential(size=(500, 3))
    >>> noise[:, 1] += noise[:, 2]
    >>> noise[:, 0] += noise[:, 1]
    >>> found = search_non_gaussian(noise, {}, random=np.random.default_rng(0))
    >>> found.order.tolist()
    [2, 1, 0]
    >>> (found.weights.toarray() != 0).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [0, 1, 0]])
    """
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) == 0 or not np.isfinite(table).all():
        raise DataError(f"The data must be a finite table (n, d); its shape is {table.shape}.")
    n, d = table.shape
    if EXOGENOUS_FIRST in starts:
        raise DataError(
            f"The name {EXOGENOUS_FIRST!r} is reserved for a start of the search itself: rename "
            "the one in `starts`."
        )
    allowed, needed = _mask(support, "support", d), _mask(required, "required", d)
    bound = [part for part in (_mask(before, "before", d), needed) if part is not None]
    closed = closed_order(*bound) if bound else None
    stop = should_stop or (lambda: False)
    moments = Moments.of(table, counted).with_rows(table, counted)
    job = Job(
        moments,
        entropy_penalty(n, d) if penalty is None else float(penalty),
        allowed,
        needed,
        before=closed,
        random=random,
        should_stop=stop,
        on_progress=on_progress,
        # The result does not depend on the number of threads. Each additional thread creates its
        # own records, and restarts take .03 s of the .1 s of a search (100 variables, 300 rows).
        threads=1,
        restarts=restarts,
    )
    orders = {name: respecting(check_order(order, d), closed) for name, order in starts.items()}
    assert moments.table is not None
    everywhere = np.all(moments.table[d:] > 0, axis=0)
    columns = _standardised(table[everywhere] if everywhere.sum() > 1 else table)
    free = np.zeros((d, d), np.bool_) if closed is None else closed
    orders[EXOGENOUS_FIRST] = exogenous_first_order(columns, free, stop)
    best, report = best_of_starts(job, "order", "non-gaussian", distinct(orders))
    found = Decided.of(best, "non-gaussian", "Non-Gaussian noise was requested.", report)
    if not weak_parents:
        return found
    weights = with_weak_parents(moments, best.order, best.graph, job.penalty, allowed, stop)
    return replace(found, weights=weights, ended_early=found.ended_early or stop())


def _mask(mask: ArrayLike | None, name: str, size: int) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    array = np.asarray(mask, dtype=bool)
    if array.shape != (size, size):
        raise DataError(f"`{name}` must have shape ({size}, {size}); its shape is {array.shape}.")
    return array


def _standardised(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Transpose and standardise a table: (d, n), mean 0 and variance 1, or 0 if constant."""
    columns = table.T
    centred = columns - columns.mean(axis=1, keepdims=True)
    deviations = np.sqrt(np.mean(centred**2, axis=1))
    constant = deviations <= _CONSTANT * np.abs(columns).max(axis=1)
    centred[constant] = 0.0
    return np.ascontiguousarray(centred / np.where(constant, 1.0, deviations)[:, None])
