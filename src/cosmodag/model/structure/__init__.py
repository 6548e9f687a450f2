"""Structures: how parameters become oriented weights.

A structure turns the strengths of all arcs, H, and parameters of their order into the oriented
weights W that a mechanism uses. It is written for one problem; `cosmodag.solve.many` adds the
batch.
"""

from cosmodag.model.structure.base import Parameters, Settings, Structure
from cosmodag.model.structure.free import Free
from cosmodag.model.structure.potential import Potential
from cosmodag.model.structure.priority import Priority

__all__ = ["Free", "Parameters", "Potential", "Priority", "Settings", "Structure"]
