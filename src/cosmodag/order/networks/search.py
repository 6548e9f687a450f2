"""Search for a better order of networks than the learnt one, from several starts."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.order.networks.additive import additive_start
from cosmodag.order.networks.order_moves import search_by_evidence
from cosmodag.order.networks.problem import NetworkProblem
from cosmodag.order.networks.pruning import PrunedNetworks
from cosmodag.order.networks.regrown import RegrownGraph, regrow


def search_networks(
    problem: NetworkProblem,
    learnt: PrunedNetworks,
    orders: Mapping[str, NDArray[np.intp]],
    *,
    random: Any = None,
    should_stop: Callable[[], bool] | None = None,
    workers: int | None = None,
) -> tuple[PrunedNetworks, list[dict[str, Any]]]:
    """Search for an order of networks with more evidence than the learnt one.

    Starts are the learnt and pruned graph, the other `orders`, and the best order for sums of
    curves. From the start with most evidence, single variables are moved while the evidence rises;
    arcs are then chosen again on more rows.

    Returns
    -------
    PrunedNetworks
        The graph; `added` and `changed` compare it with the learnt one.
    list of dict
        One entry per start: ``start``, its name; ``before``, the log evidence of its graph on the
        rows of the search, less 3 nats per arc; and ``chosen``. The entry of the chosen start also
        has ``after``, the same at the end, and the numbers of ``moves`` and ``trials``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 0] = np.tanh(2 * x[:, 2]) + 0.2 * x[:, 0]
    >>> from cosmodag.order.networks.pruning import prune
    >>> problem = NetworkProblem(x, order=[0, 1, 2])
    >>> found, _ = search_networks(problem, prune(problem), {})
    >>> bool(found.adjacency[2, 0]), int(found.adjacency.sum())
    (True, 1)
    """
    nothing = np.zeros_like(learnt.adjacency)
    starts = {"learnt": (learnt.order, learnt.adjacency)}
    starts |= {name: (respecting(order, problem.before), nothing) for name, order in orders.items()}
    starts["sums of curves"] = additive_start(problem, learnt.order, random=random)
    found = search_by_evidence(
        problem, list(starts.values()), should_stop=should_stop, workers=workers
    )
    whole = RegrownGraph(found.adjacency, np.where(found.adjacency, np.nan, 0.0), finished=False)
    if found.finished:
        whole = regrow(
            problem, found.order, found.adjacency, should_stop=should_stop, workers=workers
        )
    places = np.argsort(learnt.order)
    pruned = PrunedNetworks(
        adjacency=whole.adjacency,
        gains=whole.gains,
        order=found.order,
        added=whole.adjacency & ~learnt.adjacency,
        changed=int((whole.adjacency & (places[:, None] > places)).sum()),
        finished=whole.finished,
    )
    costs = np.array(found.start_costs)
    best = None if np.isnan(costs).all() else int(np.nanargmin(costs))
    report: list[dict[str, Any]] = [
        {"start": name, "before": -cost, "chosen": place == best}
        for place, (name, cost) in enumerate(zip(starts, costs.tolist(), strict=True))
    ]
    if best is not None:
        report[best] |= {"after": -found.cost, "moves": found.moves, "trials": found.trials}
    return pruned, report
