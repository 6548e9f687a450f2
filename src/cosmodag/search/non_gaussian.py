"""Search for the order and graph of a linear model with non-Gaussian noise.

The search maximises Σ_v −n H(residual of v given its parents) − c |arcs| (`search.entropy.score`)
with the order search that all scores use, from given starts and from `exogenous_first_order`.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError
from cosmodag.search.best_graph import distinct
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints, checked_order
from cosmodag.search.entropy.exogenous_first import exogenous_first_order
from cosmodag.search.entropy.weak_parents import with_weak_parents
from cosmodag.search.graph_search import Decided, GraphSearch
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run

EXOGENOUS_FIRST = "exogenous-first"
# Standard deviation, relative to the largest value, below which a column counts as constant.
_CONSTANT = 1e-12


def entropy_penalty(rows: float, variables: int) -> float:
    """Compute the penalty per arc: the extended BIC ½ log n + log d, at least log n."""
    return max(float(np.log(rows)), 0.5 * float(np.log(rows)) + float(np.log(variables)))


def search_non_gaussian(
    X: ArrayLike,
    starts: Mapping[str, ArrayLike],
    run: Run,
    *,
    penalty: float | None = None,
    constraints: Constraints = NO_CONSTRAINTS,
    counted: ArrayLike | None = None,
    weak_parents: bool = False,
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
    run : Run
        There are by default ``default_restarts(d, "non-gaussian")`` restarts.
    penalty : float, optional
        c, the gain required of an arc; by default the extended BIC ½ log n + log d, at least log n.
    constraints : Constraints
    counted : array (n, d), optional
        Weight of each row in the equation of each variable; 0 if the variable was set.
    weak_parents : bool
        Whether to add parents at the end that only the shape of the noise reveals
        (`cosmodag.search.entropy.weak_parents`).

    Examples
    --------
    >>> noise = np.random.default_rng(0).exponential(size=(500, 3))
    >>> noise[:, 1] += noise[:, 2]
    >>> noise[:, 0] += noise[:, 1]
    >>> found = search_non_gaussian(noise, {}, Run.seeded(0))
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
    constraints = constraints.of_size(d)
    moments = Moments.of(table, counted).with_rows(table, counted)
    penalty = entropy_penalty(n, d) if penalty is None else penalty
    score = ColumnScore.of(moments, "non-gaussian", penalty=penalty, constraints=constraints)
    # The result does not depend on the number of threads. Each additional thread creates its own
    # records, and restarts take .03 s of the .1 s of a search (100 variables, 300 rows).
    run = replace(run, threads=1)
    orders = {
        name: constraints.respected(checked_order(order, d)) for name, order in starts.items()
    }
    assert moments.table is not None
    everywhere = np.all(moments.table[d:] > 0, axis=0)
    columns = _standardised(table[everywhere] if everywhere.sum() > 1 else table)
    orders[EXOGENOUS_FIRST] = exogenous_first_order(columns, constraints, run.should_stop)
    best, report = GraphSearch(score, run).best(distinct(orders))
    found = best.decided("non-gaussian", "Non-Gaussian noise was requested.", report)
    if not weak_parents:
        return found
    weights = with_weak_parents(score, best.order, best.graph, run.should_stop)
    return replace(found, weights=weights, ended_early=found.ended_early or run.should_stop())


def _standardised(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Transpose and standardise a table: (d, n), mean 0 and variance 1, or 0 if constant."""
    columns = table.T
    centred = columns - columns.mean(axis=1, keepdims=True)
    deviations = np.sqrt(np.mean(centred**2, axis=1))
    constant = deviations <= _CONSTANT * np.abs(columns).max(axis=1)
    centred[constant] = 0.0
    return np.ascontiguousarray(centred / np.where(constant, 1.0, deviations)[:, None])
