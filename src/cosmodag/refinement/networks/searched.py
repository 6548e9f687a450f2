"""Networks whose order is searched: several starts, the best by evidence, and a search near it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.refinement.networks.additive import additive_start
from cosmodag.refinement.networks.families import SearchEffort
from cosmodag.refinement.networks.problem import Arcs, NetworkProblem, closest_order
from cosmodag.refinement.networks.pruning import PrunedNetworks
from cosmodag.refinement.networks.regrown import Regrown, regrow
from cosmodag.refinement.networks.search import FoundOrder, search_by_evidence

__all__ = ["SearchedNetworks", "search_networks"]


@dataclass(frozen=True)
class SearchedNetworks:
    """A graph chosen by evidence, and where it came from.

    Attributes
    ----------
    pruned : PrunedNetworks
        The graph.
    report : list of dict
        One record for each start: ``start``, its name; ``before``, the log evidence of its graph
        less 3 nats for each arc, on the rows of the search; and for the best of them ``after``, the
        same at the end, ``moves`` and ``trials``.
    """

    pruned: PrunedNetworks
    report: list[dict[str, Any]]


def search_networks(
    X: ArrayLike,
    learnt: PrunedNetworks,
    orders: Mapping[str, NDArray[np.intp]],
    *,
    support: ArrayLike | None = None,
    required: ArrayLike | None = None,
    before: ArrayLike | None = None,
    counted: ArrayLike | None = None,
    random: Any = None,
    should_stop: Callable[[], bool] | None = None,
    effort: SearchEffort | None = None,
    workers: int | None = None,
    embedding: Embedding | None = None,
) -> SearchedNetworks:
    """Search for an order of networks with more evidence than the one that was learnt.

    Starts are the graph that was learnt and pruned, other orders, and the best order under which
    variables are sums of curves. The one with the best total evidence is kept, single variables are
    moved within it while the evidence rises, and arcs are then chosen on all rows.

    Parameters
    ----------
    X : (n, d) array
    learnt : PrunedNetworks
        The graph that was learnt, pruned.
    orders : mapping of names to orders
        Other orders to start from.
    support, required, before, counted, random, should_stop, workers, embedding
        As for :func:`prune_networks`.
    effort : SearchEffort, optional

    Returns
    -------
    SearchedNetworks

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 0] = np.tanh(2 * x[:, 2]) + 0.2 * x[:, 0]
    >>> from cosmodag.refinement.networks.pruning import prune_networks
    >>> learnt = prune_networks(x, np.ones((3, 3)), order=[0, 1, 2])
    >>> found = search_networks(x, learnt, {}).pruned
    >>> bool(found.adjacency[2, 0]), int(found.adjacency.sum())
    (True, 1)
    """
    known: dict[str, Any] = {
        "support": support,
        "required": required,
        "before": before,
        "counted": counted,
        "random": random,
        "embedding": embedding,
    }
    problem = NetworkProblem.of(X, learnt.order, **known)
    starts = {"learnt": (learnt.order, learnt.adjacency), **_others(problem, orders)}
    starts["sums of curves"] = additive_start(problem, random=random)
    found = search_by_evidence(
        problem, list(starts.values()), effort=effort, should_stop=should_stop, workers=workers
    )
    report = _report(list(starts), found)
    if not found.finished:
        unjudged = np.where(found.adjacency, np.nan, 0.0)
        partial = Regrown(found.adjacency, unjudged, finished=False)
        return SearchedNetworks(_as_pruned(found.order, partial, learnt), report)
    whole = regrow(problem, found.order, found.adjacency, should_stop=should_stop, workers=workers)
    return SearchedNetworks(_as_pruned(found.order, whole, learnt), report)


def _others(
    problem: NetworkProblem, orders: Mapping[str, NDArray[np.intp]]
) -> dict[str, tuple[NDArray[np.intp], Arcs]]:
    """Orders as starts without arcs, brought in line with what is known."""
    nothing = np.zeros((problem.d, problem.d), dtype=bool)
    return {name: (closest_order(problem.before, order), nothing) for name, order in orders.items()}


def _as_pruned(order: NDArray[np.intp], whole: Regrown, learnt: PrunedNetworks) -> PrunedNetworks:
    """Compare a graph with the one that was learnt."""
    places = np.argsort(learnt.order)
    return PrunedNetworks(
        adjacency=whole.adjacency,
        gains=whole.gains,
        order=order,
        added=whole.adjacency & ~learnt.adjacency,
        changed=int((whole.adjacency & (places[:, None] > places)).sum()),
        finished=whole.finished,
    )


def _report(names: list[str], found: FoundOrder) -> list[dict[str, Any]]:
    costs = np.array(found.start_costs)
    best = None if np.isnan(costs).all() else int(np.nanargmin(costs))
    records: list[dict[str, Any]] = []
    for place, (name, cost) in enumerate(zip(names, costs.tolist(), strict=True)):
        records.append({"start": name, "before": -cost, "chosen": place == best})
        if place == best:
            records[-1] |= {"after": -found.cost, "moves": found.moves, "trials": found.trials}
    return records
