"""Search for a better order of networks than the learnt one, from several starts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from cosmodag.search.blocks import BlockProblem, search_blocks
from cosmodag.search.moments import Moments
from cosmodag.search.networks.families import Families, Family, SearchEffort, input_arcs
from cosmodag.search.networks.network_problem import Arcs, NetworkProblem
from cosmodag.search.networks.network_pruning import PrunedNetworks
from cosmodag.search.networks.order_moves import FoundOrder, search_by_evidence
from cosmodag.search.networks.workers import Workers
from cosmodag.search.search_run import Run

# A number becomes three columns: itself, and its Legendre polynomials of degree 2 and 3.
_DEGREE = 3
# Values beyond these quantiles are clipped before polynomials are computed, to limit outliers.
_INNER = (0.005, 0.995)
_ADDITIVE_RESTARTS = 3

STAGES = (SearchEffort(rows=500), SearchEffort(rows=1000, steps=5))
"""Rows of each stage, and steps of the fit of a kernel. Families chosen on 300 rows lack many weak
arcs: on standardised networks of 30 units (d = 20, scale-free) 26 of 70 true arcs were missing, 10
after the stage of 500 rows and 7 after that of 1,000, which takes six times as long."""


def search_networks(
    problem: NetworkProblem,
    learnt: PrunedNetworks,
    orders: Mapping[str, NDArray[np.intp]],
    run: Run,
) -> tuple[FoundOrder, list[dict[str, Any]]]:
    """Search for an order of networks with more evidence than the learnt one.

    Starts are the learnt and pruned graph, the other `orders`, and the best order for sums of
    curves. From the start with most evidence, single variables are moved while the evidence rises;
    arcs are then chosen again on more rows.

    The report has one entry per start: ``start``, its name; ``before``, the log evidence of its
    graph on the rows of the search, less 3 nats per arc; and ``chosen``. The entry of the chosen
    start also has ``after``, the same at the end, and the numbers of ``moves`` and ``trials``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 0] = np.tanh(2 * x[:, 2]) + 0.2 * x[:, 0]
    >>> from cosmodag.search.networks.network_pruning import prune
    >>> problem = NetworkProblem(x, order=[0, 1, 2])
    >>> found, _ = search_networks(problem, prune(problem, Run()), {}, Run.seeded(0))
    >>> bool(found.adjacency[2, 0]), int(found.adjacency.sum())
    (True, 1)
    """
    nothing = np.zeros_like(learnt.adjacency)
    starts = {"learnt": (learnt.order, learnt.adjacency)}
    respected = problem.constraints.respected
    starts |= {name: (respected(order), nothing) for name, order in orders.items()}
    starts["sums of curves"] = additive_start(problem, learnt.order, run)
    found = search_by_evidence(problem, list(starts.values()), run)
    if found.finished:
        arcs, finished = regrow(problem, found.order, found.adjacency, run)
        found = replace(found, adjacency=arcs, finished=finished)
    costs = np.array(found.start_costs)
    best = None if np.isnan(costs).all() else int(np.nanargmin(costs))
    report: list[dict[str, Any]] = [
        {"start": name, "before": -cost, "chosen": place == best}
        for place, (name, cost) in enumerate(zip(starts, costs.tolist(), strict=True))
    ]
    if best is not None:
        report[best] |= {"after": -found.cost, "moves": found.moves, "trials": found.trials}
    return found, report


def additive_start(
    problem: NetworkProblem, order: NDArray[np.intp], run: Run
) -> tuple[NDArray[np.intp], Arcs]:
    """Search, near a given order, for the best graph in which variables are sums of curves.

    Rows in which a variable was set count like all others, since the result is only a start for
    further searches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 0] += x[:, 2] ** 2
    >>> first = np.array([0, 1, 2])
    >>> order, adjacency = additive_start(NetworkProblem(x, first), first, Run.seeded(0))
    >>> bool(adjacency[2, 0]), int(adjacency.sum())
    (True, 1)
    """
    targets = [one.astype(np.float64) for one in problem.columns.targets]
    parts = [_curve(one) if one.ndim == 1 else one for one in targets]
    # A category that does not vary has no columns, but a block must have one.
    parts = [part if part.shape[1] else np.zeros((len(part), 1)) for part in parts]
    table = np.hstack(parts)
    blocks = BlockProblem(
        Moments.of(table),
        np.array([part.shape[1] for part in parts]),
        penalty=0.5 * math.log(len(table)),
        targets=np.array([1 if one.ndim == 1 else max(1, one.shape[1]) for one in targets]),
        constraints=problem.constraints,
    )
    found = search_blocks(blocks, order, replace(run, restarts=_ADDITIVE_RESTARTS))
    return found.order.astype(np.intp), found.adjacency


def _curve(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns that represent a number; the first is the number itself."""
    low, high = np.quantile(column, _INNER)
    if high <= low:
        low, high = column.min(), column.max() + 1e-9
    inner = np.clip(2 * (column - low) / (high - low) - 1, -1, 1)
    return np.column_stack([column, legendre.legvander(inner, _DEGREE)[:, 2:]])


def regrow(
    problem: NetworkProblem,
    order: NDArray[np.intp],
    adjacency: Arcs,
    run: Run,
    stages: Sequence[SearchEffort] = STAGES,
) -> tuple[Arcs, bool]:
    """Choose the inputs of every variable among its predecessors, on more and more rows.

    The first stage starts from the arcs of `adjacency`. A stage with more rows than the table has
    is the last, and uses all rows. Returns the arcs, and whether no family is still that of fewer
    rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 2] += 2 * np.tanh(x[:, 0] - x[:, 1])
    >>> problem = NetworkProblem(x, order=[1, 0, 2])
    >>> arcs, _ = regrow(problem, np.array([1, 0, 2]), np.zeros((3, 3), bool), Run())
    >>> arcs.astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    """
    places, rows = np.argsort(order), len(problem.columns.inputs)
    used = [stage for k, stage in enumerate(stages) if k == 0 or stages[k - 1].rows < rows]
    families: list[Family] = []
    with Workers(run) as pool:
        for stage in used:
            on_rows = Families(problem, stage)
            before = families or on_rows.of(adjacency)
            tasks = [
                partial(on_rows.carried_over, v, before[v], places < places[v])
                for v in range(problem.d)
            ]
            families = [one or old for one, old in zip(pool.run(tasks), before, strict=True)]
        return input_arcs(families), not pool.was_stopped
