"""Contradictions in background knowledge, each refused with a sentence that names the arcs."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from cosmodag.data.knowledge.bounds import cycle_in
from cosmodag.errors import KnowledgeError

__all__ = ["refuse_contradictions"]


def refuse_contradictions(known: Any, names: Sequence[Any]) -> None:
    """Refuse `Knowledge` that no graph can satisfy; it names columns by their numbers."""
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
    for cause, effect in required:
        if cause in tier_of and effect in tier_of and tier_of[cause] > tier_of[effect]:
            raise KnowledgeError(
                f"The arc {names[cause]} → {names[effect]} is required, but {names[cause]} is in "
                f"tier {tier_of[cause] + 1} and {names[effect]} before it, in tier "
                f"{tier_of[effect] + 1}: change the tiers, or do not require it."
            )
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
    """Refuse required chains from a later tier to an earlier one through variables without tier."""
    # An auxiliary vertex before each tier, reached from all earlier tiers, replaces all pairs.
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
        f"The required arcs {listed} lead from a later tier to an earlier one: change the tiers, "
        "or do not require them."
    )
