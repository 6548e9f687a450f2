"""Mechanisms: how each variable is predicted from the others, given oriented weights."""

from cosmodag.mechanism.base import Mechanism
from cosmodag.mechanism.linear import Linear

__all__ = ["Linear", "Mechanism"]
