"""COSMO as PyTorch modules, for acyclic structures inside other models.

PyTorch is installed by ``pip install 'cosmodag[torch]'``. The formulas are those of
`cosmodag.model.orientation` and `cosmodag.model.mechanism`; tests compare values and gradients.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "cosmodag.torch needs PyTorch: install it with pip install 'cosmodag[torch]'."
    ) from error

from cosmodag.torch.layers import PriorityLayer, PriorityLinear, PriorityMLP, read_out, regulariser
from cosmodag.torch.priority_modules import (
    MODES,
    CosineTemperature,
    ExponentialTemperature,
    SmoothOrientation,
    TemperatureScheduler,
    smooth_orientation,
)

__all__ = [
    "MODES",
    "CosineTemperature",
    "ExponentialTemperature",
    "PriorityLayer",
    "PriorityLinear",
    "PriorityMLP",
    "SmoothOrientation",
    "TemperatureScheduler",
    "read_out",
    "regulariser",
    "smooth_orientation",
]
