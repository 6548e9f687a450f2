"""Mechanisms: how each variable is predicted from the others, given oriented weights."""

from cosmodag.mechanism.base import Mechanism
from cosmodag.mechanism.linear import Linear
from cosmodag.mechanism.masked import MaskedMLP
from cosmodag.mechanism.mlp import MLP

__all__ = ["MLP", "Linear", "MaskedMLP", "Mechanism"]
