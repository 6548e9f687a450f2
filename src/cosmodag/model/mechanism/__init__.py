"""Mechanisms: how each variable is predicted from the others, given oriented weights."""

from cosmodag.model.mechanism.base import Linear, Mechanism
from cosmodag.model.mechanism.fitted import FittedMechanism
from cosmodag.model.mechanism.masked import MaskedMLP
from cosmodag.model.mechanism.mixed import MixedMLP
from cosmodag.model.mechanism.mlp import MLP

__all__ = ["MLP", "FittedMechanism", "Linear", "MaskedMLP", "Mechanism", "MixedMLP"]
