"""COSMO's penalties, to be added to a model's loss."""

from __future__ import annotations

import torch
from torch import Tensor

from cosmodag.torch.layers import PriorityLayer

__all__ = ["regulariser"]


def regulariser(
    layer: PriorityLayer, *, lambda1: float = 0.0, lambda2: float = 0.0, lambda_p: float = 0.0
) -> Tensor:
    """λ₁‖H‖₁ + λ₂‖H‖_F + λ_p‖p‖₂ (Section 4.2), the penalties of `AnnealedObjective`.

    They apply to H, not to W = H ∘ S, so an arc that the order suppresses has the same penalty; no
    norm is squared, and the gradient at zero is zero.

    Parameters
    ----------
    layer : PriorityLinear or PriorityMLP
        The layer with H and p.
    lambda1, lambda2, lambda_p : float
        λ₁, λ₂ and λ_p. The paper's are for a loss that is a mean over rows *and* variables.

    Returns
    -------
    scalar tensor

    Examples
    --------
    >>> from cosmodag.torch import PriorityLinear, SmoothOrientation
    >>> layer = PriorityLinear(SmoothOrientation(2))
    >>> _ = torch.nn.init.constant_(layer.strengths, 0.5)
    >>> regulariser(layer, lambda1=1.0, lambda2=10.0).item()
    12.0
    """
    strengths, priorities = layer.strengths, layer.orientation.priorities
    penalty: Tensor = (
        lambda1 * strengths.abs().sum()
        + lambda2 * torch.linalg.vector_norm(strengths)
        + lambda_p * torch.linalg.vector_norm(priorities)
    )
    return penalty
