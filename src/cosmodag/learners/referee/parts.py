"""The parts that search for graphs, and the densities under which graphs are judged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cosmodag.evidence.design import Entering
from cosmodag.evidence.held_out import Density
from cosmodag.learners.cosmo_mlp import CosmoMLP
from cosmodag.learners.order_search import BlockSearch, OrderSearch
from cosmodag.learners.structure_learner import StructureLearner

LINES, GAUSSIAN, EQUAL, SHAPES = (
    "lines",
    "Gaussian lines",
    "equal-variance lines",
    "non-Gaussian lines",
)
SCORED, CURVES, SCORED_CURVES = "lines on scores", "curves", "curves on scores"
NETWORKS, KINDS, CURVED_KINDS = "networks", "kinds", "kinds with curves"
UNEVEN_LINES, UNEVEN_CURVES = "uneven lines", "uneven curves"


@dataclass(frozen=True)
class Part:
    """A part that searches for a graph: a learner, the columns it sees, and its largest table."""

    make: Callable[..., StructureLearner]
    on_scores: bool = False
    most_variables: int = 50_000
    # A part whose graph this one improves by a climb, and the family under which it climbs.
    base: str = ""
    family: str = ""


def _searching(kind: Any, **fixed: Any) -> Callable[..., StructureLearner]:
    return lambda restarts, **shared: kind(**fixed, **shared, restarts=restarts)


def _networks(restarts: int | str, **shared: Any) -> StructureLearner:
    return CosmoMLP(loss="likelihood", **shared)


# Curves of 100 variables take a minute; networks of 20 take half a minute.
PARTS: dict[str, Part] = {
    LINES: Part(_searching(OrderSearch)),
    GAUSSIAN: Part(_searching(OrderSearch, noise="gaussian")),
    EQUAL: Part(_searching(OrderSearch, noise="equal-variance")),
    SHAPES: Part(_searching(OrderSearch, noise="non-gaussian"), most_variables=300),
    SCORED: Part(_searching(OrderSearch, noise="gaussian"), True, 1_000),
    CURVES: Part(_searching(BlockSearch, curves=True), False, 100),
    SCORED_CURVES: Part(_searching(BlockSearch, curves=True), True, 100),
    UNEVEN_LINES: Part(_searching(OrderSearch), False, 100, GAUSSIAN, "lines, uneven noise"),
    UNEVEN_CURVES: Part(_searching(BlockSearch), False, 100, CURVES, "curves, uneven noise"),
    NETWORKS: Part(_networks, False, 20),
    KINDS: Part(_searching(BlockSearch, curves=False, noise="gaussian")),
    CURVED_KINDS: Part(_searching(BlockSearch, curves=True)),
}
"""Parts by name, in the order in which they are searched."""


@dataclass(frozen=True)
class Family:
    """A family: a density, and the parts that search under it or near it, the own one first."""

    density: Density
    parts: tuple[str, ...]
    most_variables: int = 1_000


_SCORES = Entering(scores=True)
_CURVED, _SCORED_CURVED = Entering(form="curves"), Entering(scores=True, form="curves")

FAMILIES: dict[str, Family] = {
    "lines": Family(Density(Entering()), (LINES, GAUSSIAN)),
    "lines, noise of any shape": Family(Density(Entering(), "any"), (SHAPES, LINES)),
    "lines on normal scores": Family(Density(_SCORES), (SCORED,)),
    "lines, uneven noise": Family(Density(Entering(), "uneven"), (UNEVEN_LINES, GAUSSIAN, LINES)),
    "curves": Family(Density(_CURVED), (CURVES,), 100),
    "curves, noise of any shape": Family(Density(_CURVED, "any"), (CURVES,), 100),
    "curves, uneven noise": Family(Density(_CURVED, "uneven"), (UNEVEN_CURVES, CURVES), 100),
    "curves on normal scores": Family(Density(_SCORED_CURVED), (SCORED_CURVES,), 100),
    "functions of all causes": Family(Density(Entering(form="jointly")), (NETWORKS,), 20),
}
"""Families of numbers, the simplest first."""
