"""Structures: how parameters become oriented weights.

A structure turns the strengths of all arcs, H, and whatever it knows of their order into the
oriented weights W that a mechanism uses. It is written for one problem; `cosmodag.solver.many`
adds the batch.
"""

from cosmodag.structure.base import Parameters, Settings, Structure, names_of
from cosmodag.structure.free import Free
from cosmodag.structure.potential import Potential
from cosmodag.structure.priority import Priority

__all__ = [
    "Free",
    "Parameters",
    "Potential",
    "Priority",
    "Settings",
    "Structure",
    "names_of",
]
