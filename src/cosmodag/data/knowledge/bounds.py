"""Background knowledge as arrays that constrain solvers and searches, and contradictions in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import KnowledgeError

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Allowed arcs, required arcs, and a partial order of the variables.

    Attributes
    ----------
    support : (d, d) bool
        Arcs u → v that may exist, at [u, v]; none of them contradicts `before`.
    required : (d, d) bool
        Arcs that must exist; all of them are in the support.
    before : (d, d) bool
        Whether u precedes v in every causal order; transitively closed and acyclic.
    gaps : (d, d) float32 or None
        Length of the longest chain that puts v after u, −∞ if there is none; None if `before` is
        empty.
    """

    support: Mask
    required: Mask
    before: Mask
    gaps: NDArray[np.float32] | None

    @classmethod
    def of(cls, support: Mask, required: Mask, before: Mask) -> "Bounds":
        """Close a partial order transitively, and remove arcs against it from the support."""
        closed = closure(before | required)
        may = support & ~closed.T & ~np.eye(len(support), dtype=bool)
        gaps = longest_chains(closed) if closed.any() else None
        return cls(may, required, closed, gaps)

    @property
    def is_whole_graph(self) -> bool:
        """Whether every arc is required or excluded, so that nothing is left to learn."""
        return bool(self.required.any()) and np.array_equal(self.required, self.support)

    def directs(self, tails: NDArray[Any], heads: NDArray[Any]) -> Mask:
        """Mark the arcs whose direction is known: required ones, or ones with excluded reverse."""
        directed: Mask = self.required[tails, heads] | ~self.support[heads, tails]
        return directed

    def without_causes(self, variables: Mask, names: Sequence[Any]) -> "Bounds":
        """Return the same bounds without arcs into some variables."""
        causes, effects = np.nonzero(self.required & variables)
        if len(causes):
            cause, effect = names[causes[0]], names[effects[0]]
            raise KnowledgeError(
                f"The arc {cause} → {effect} is required, but {effect} was set in every row with a "
                "value, so the weight of the arc cannot be learnt: do not require it."
            )
        return Bounds(self.support & ~variables, self.required, self.before, self.gaps)

    @property
    def beyond_support(self) -> Mask | None:
        """`before` if paths in the support could violate it, otherwise None.

        A search that only has to respect the support has more orders to choose from.
        """
        reachable = closure(self.support)
        return self.before if np.any(reachable.T & self.before) else None

    @classmethod
    def none(cls, d: int) -> "Bounds":
        """Return the bounds that allow every graph."""
        nothing = np.zeros((d, d), bool)
        return cls(~np.eye(d, dtype=bool), nothing, nothing, None)


def closure(relation: Mask) -> Mask:
    """Compute the transitive closure.

    >>> closure(np.eye(3, k=1, dtype=bool)).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    between = np.flatnonzero(relation.any(axis=0) & relation.any(axis=1))
    closed = relation
    while True:
        # Products count paths, in a type with fast products; only zero or non-zero matters.
        into, out = closed[:, between].astype(np.float32), closed[between].astype(np.float32)
        longer = closed | (into @ out > 0)
        if np.array_equal(longer, closed):
            return longer
        closed = longer


def longest_chains(before: Mask) -> NDArray[np.float32]:
    """Compute the longest chain from each u to each v in a transitively closed order; −∞ if none.

    >>> longest_chains(closure(np.eye(3, k=1, dtype=bool))).tolist()
    [[-inf, 1.0, 2.0], [-inf, -inf, 1.0], [-inf, -inf, -inf]]
    """
    # Row v lists the predecessors of v, so that chains are read from contiguous memory.
    after = np.ascontiguousarray(before.T)
    gaps = np.full(before.shape, -np.inf, np.float32)
    order = np.argsort(after.sum(axis=1), kind="stable")
    # Variables with the same predecessors, such as those of one tier, have the same chains.
    known: dict[bytes, NDArray[np.float32]] = {}
    for v in order:
        key = after[v].tobytes()
        if key not in known:
            last = _maximal_elements(order[after[v][order]], after)
            chains = gaps[last] + 1
            chains[np.arange(len(last)), last] = 1
            known[key] = chains.max(axis=0, initial=-np.inf)
        gaps[v] = known[key]
    return np.ascontiguousarray(gaps.T)


def _maximal_elements(earlier: NDArray[np.intp], after: Mask) -> list[int]:
    """List the given variables that precede no other of them; a longest chain ends with one."""
    precedes = np.zeros(len(after), np.bool_)
    last = []
    for u in earlier[::-1].tolist():
        if not precedes[u]:
            last.append(u)
            precedes |= after[u]
    return last


def cycle_in(edges: Sequence[tuple[int, int]]) -> list[int]:
    """List the vertices of a cycle, with the first repeated at the end; empty without a cycle.

    >>> cycle_in([(0, 1), (1, 2), (2, 1)])
    [1, 2, 1]
    """
    if not edges:
        return []
    import networkx as nx

    graph = nx.DiGraph(edges)
    if nx.is_directed_acyclic_graph(graph):  # in linear time, unlike a search for a cycle
        return []
    found = nx.find_cycle(graph)
    return [*(tail for tail, _ in found), found[0][0]]


def refuse_contradictions(known: Any, names: Sequence[Any]) -> None:
    """Refuse `Knowledge`, stated by column numbers, that no graph can satisfy."""
    required = known.required_edges
    tier_of: dict[int, int] = {}
    for number, tier in enumerate(known.tiers):
        for place in tier:
            if tier_of.setdefault(place, number) != number:
                raise KnowledgeError(
                    f"{names[place]} is in tier {tier_of[place] + 1} and in tier {number + 1}: "
                    "put it in one tier only."
                )
    _refuse_excluded(known, names)
    cycle = cycle_in(required)
    if cycle:
        chain = " → ".join(str(names[place]) for place in cycle)
        raise KnowledgeError(f"The required arcs {chain} form a cycle: remove one of them.")
    if required:
        _refuse_chains(required, tier_of, names)


def _refuse_excluded(known: Any, names: Sequence[Any]) -> None:
    """Refuse required arcs that another statement excludes."""
    forbidden = set(known.forbidden_edges)
    space = None if known.search_space is None else set(known.search_space)
    for cause, effect in known.required_edges:
        edge, tail, head = (cause, effect), names[cause], names[effect]
        arc = f"The arc {tail} → {head} is required"
        if edge in forbidden:
            raise KnowledgeError(f"{arc} and forbidden: remove one of the two statements.")
        if effect in known.exogenous:
            raise KnowledgeError(f"{arc}, but {head} is exogenous and has no causes.")
        if cause in known.sinks:
            raise KnowledgeError(f"{arc}, but {tail} is a sink and has no effects.")
        if space is not None and edge not in space and not {cause, effect} <= space:
            raise KnowledgeError(f"{arc}, but it is not in the search space: add it there.")


def _refuse_chains(
    required: Sequence[tuple[int, int]], tier_of: Mapping[int, int], names: Sequence[Any]
) -> None:
    """Refuse required arcs from a later tier to an earlier one, also through further variables."""
    # An auxiliary vertex before each tier, reached from all earlier tiers, stands for the arcs
    # between all pairs of variables in different tiers.
    gate = len(names)
    edges = list(required)
    for place, tier in tier_of.items():
        edges += [(place, gate + tier), (gate + tier - 1, place)] if tier else [(place, gate)]
    edges += [(gate + tier - 1, gate + tier) for tier in range(1, max(tier_of.values(), default=0))]
    cycle = cycle_in(edges)
    if not cycle:
        return
    arcs = [pair for pair in pairwise(cycle) if max(pair) < gate]
    listed = ", ".join(f"{names[cause]} → {names[effect]}" for cause, effect in arcs)
    raise KnowledgeError(
        f"Required arcs lead from a later tier to an earlier one ({listed}): change the tiers, or "
        "do not require these arcs."
    )
