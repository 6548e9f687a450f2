"""Refine the orders found by a learner: prune them, or search near them, and choose the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError, DataWarning
from cosmodag.graph.dags import respecting
from cosmodag.runtime.devices import Host
from cosmodag.runtime.later import jax
from cosmodag.search.best import best_of_starts, distinct
from cosmodag.search.gaussian_scores import SCORES, default_penalty
from cosmodag.search.jobs import Decided, Job
from cosmodag.search.moments import Moments
from cosmodag.search.starts.orders import EQUAL_VARIANCE, VARIANCE, closed_order, further_starts
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.tiles.tile_pruning import tiles_are_better
from cosmodag.search.variance_choice import gaussian_best, refine_by_best_score

_SCORES = tuple(score.name for score in SCORES.values() if not score.needs_table)


def refine_linear(
    data: ArrayLike | Moments,
    starts: Mapping[str, ArrayLike],
    *,
    method: str = "order",
    score: str = "auto",
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    before: NDArray[np.bool_] | None = None,
    random: np.random.Generator | None = None,
    further: bool = True,
    restarts: int | None = None,
    scale_free: bool = False,
    by_units: Collection[str] = (),
    not_equal: str | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[int, float], None] | None = None,
    threads: int | None = None,
    device: Host | jax.Device | None = None,
) -> Decided:
    """Find the DAG with the best score on given orders, or on orders near them.

    Parameters
    ----------
    data : (n, d) array or Moments
    starts : mapping of names to orders
        The orders of a learner; may be empty if ``further`` adds some.
    method : {"prune", "order"}
        Keep the orders and choose parents, or search for better orders near them.
    score : {"auto", "gaussian", "equal-variance"}
        Gaussian likelihood with a noise variance for each variable, which does not depend on units,
        or with a common noise variance. ``"auto"`` uses the latter if its best graph scores higher
        by a margin than the best graph with a variance for each variable.
    penalty : float, optional
        Per arc; by default `default_penalty`.
    support, required, before : (d, d) arrays of bool, optional
        Allowed arcs, arcs that are always included, and whether u must come before v, at [u, v]
        (transitively closed). Starts that contradict these are changed to agree.
    random : Generator, optional
        Draws random starts and the order of trials.
    further : bool
        Whether a search also starts from `further_starts`.
    restarts : int, optional
        Maximum number of restarts from perturbed copies of the best order; by default
        `default_restarts` of the score, and 0 for more than 1,000 variables unless there are far
        fewer rows. They end early after several restarts in a row without improvement.
    scale_free : bool
        Whether the score with a variance for each variable may start only from orders that do not
        depend on units. Then the result does not depend on units either, even if several graphs
        have the same score.
    by_units : collection of str
        Names of starts that depend on units, in addition to the orders by variances. With
        ``scale_free``, a result from these starts is used only if its score is clearly higher.
    not_equal : str, optional
        Reason, in one sentence, why ``score="auto"`` must not assume equal variances.
    should_stop : function, optional
        Called about every second; when it returns True, the best result so far is returned.
    on_progress : function, optional
        Called after each restart with the number of restarts and the best score.
    threads : int, optional
    device : jax.Device, optional
        Device on which graphs too large for a matrix of correlations are pruned; by default JAX's
        first device.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> found = refine_linear(data.X, {}, random=np.random.default_rng(0))
    >>> bool(np.all((found.weights.toarray() != 0) == data.graph)), found.noise
    (True, 'equal-variance')
    """
    if method not in ("prune", "order"):
        raise DataError(f"method is {method!r}: it must be 'prune' or 'order'.")
    if score not in ("auto", *_SCORES):
        raise DataError(f"score is {score!r}: it must be one of 'auto', {_SCORES}.")
    is_ruled = support is not None or required is not None
    moments = _moments(data, in_tiles=method == "prune" and not is_ruled, device=device)
    random = random or np.random.default_rng()
    bound = [np.asarray(part, np.bool_) for part in (before, required) if part is not None]
    closed = closed_order(*bound) if bound else None
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), moments.variables)
    job = Job(
        moments,
        float(penalty),
        support,
        required,
        before=closed,
        random=random,
        should_stop=should_stop or (lambda: False),
        on_progress=on_progress,
        threads=threads,
        restarts=restarts,
        device=device,
    )
    orders = {name: respecting(order, closed) for name, order in starts.items()}
    if further and method == "order":
        orders |= further_starts(moments, random, closed, job.penalty)
    if not orders:
        raise DataError("There is no order to start from: give at least one in `starts`.")
    follow_units = {VARIANCE, EQUAL_VARIANCE, *by_units}
    orders = distinct(orders, follow_units if scale_free else ())
    follow_units &= orders.keys()
    can_bar = scale_free and len(orders) > len(follow_units)
    barred = [name for name in orders if name in follow_units] if can_bar else []
    rivals = {name: orders[name] for name in barred if name in by_units}
    if score == "auto":
        return refine_by_best_score(job, method, orders, barred, rivals, not_equal)
    if SCORES[score].has_common_variance:
        best, report = best_of_starts(job, method, score, orders)
    else:
        orders = {name: order for name, order in orders.items() if name not in barred}
        best, report = gaussian_best(job, method, orders, rivals)
    return Decided.of(best, score, f"The score {score!r} was requested.", report)


def _moments(
    data: ArrayLike | Moments, in_tiles: bool, device: Host | jax.Device | None
) -> Moments:
    """Compute the moments of a table; without correlations if it is pruned in tiles."""
    if isinstance(data, Moments):
        return data
    table = np.asarray(data)
    if in_tiles and table.ndim == 2 and tiles_are_better(table.shape[1], device):
        return Columns.of(table)
    moments = Moments.of(table)
    if moments.unit != 1:
        warnings.warn(
            f"The correlations of {moments.variables:,} variables are kept with nine digits to "
            "save memory: variables that others explain to 99.99999 % may have wrong parents.",
            DataWarning,
            stacklevel=2,
        )
    return moments
