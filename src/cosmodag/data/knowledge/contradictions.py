"""Contradictions in background knowledge, each refused with a sentence that names the arcs."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cosmodag.data.knowledge.bounds import cycle_in
from cosmodag.errors import KnowledgeError

if TYPE_CHECKING:
    from cosmodag.data.knowledge.statement import Knowledge

__all__ = ["refuse_contradictions"]


def refuse_contradictions(
    knowledge: "Knowledge", places: Mapping[Any, int], names: Sequence[Any]
) -> None:
    """Refuse knowledge that no graph can satisfy; `places` are the columns of the names in it."""
    required = [(places[cause], places[effect]) for cause, effect in knowledge.required_edges]
    tier_of = _tiers(knowledge, places, names)
    _refuse_excluded(knowledge, required, places, names)
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


def _tiers(
    knowledge: "Knowledge", places: Mapping[Any, int], names: Sequence[Any]
) -> dict[int, int]:
    """Tier of each variable that is in one."""
    tier_of: dict[int, int] = {}
    for number, tier in enumerate(knowledge.tiers):
        for name in tier:
            place = places[name]
            if tier_of.setdefault(place, number) != number:
                raise KnowledgeError(
                    f"{names[place]} is in tier {tier_of[place] + 1} and in tier {number + 1}: "
                    "put it in one tier only."
                )
    return tier_of


def _refuse_excluded(
    knowledge: "Knowledge",
    required: Sequence[tuple[int, int]],
    places: Mapping[Any, int],
    names: Sequence[Any],
) -> None:
    """Refuse required arcs that another statement excludes."""
    forbidden = {(places[cause], places[effect]) for cause, effect in knowledge.forbidden_edges}
    exogenous = {places[name] for name in knowledge.exogenous}
    sinks = {places[name] for name in knowledge.sinks}
    space = knowledge.search_space
    among = {places[entry] for entry in space or () if not isinstance(entry, tuple)}
    listed = {
        (places[entry[0]], places[entry[1]]) for entry in space or () if isinstance(entry, tuple)
    }
    for edge in required:
        cause, effect = edge
        arc = f"The arc {names[cause]} → {names[effect]} is required"
        if edge in forbidden:
            raise KnowledgeError(f"{arc} and forbidden: remove one of the two statements.")
        if effect in exogenous:
            raise KnowledgeError(f"{arc}, but {names[effect]} is exogenous and has no causes.")
        if cause in sinks:
            raise KnowledgeError(f"{arc}, but {names[cause]} is a sink and has no effects.")
        if space is not None and edge not in listed and not {cause, effect} <= among:
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
