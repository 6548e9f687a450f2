"""Layers with COSMO's orientation of arcs, the penalties on them, and their read-out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from cosmodag.errors import DataError
from cosmodag.graph.dags import above, agreeing, order_of
from cosmodag.torch.priority_modules import SmoothOrientation, check_choice

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
}
"""Activation functions by name."""

ARC_STRENGTHS: dict[str, Callable[[Tensor], Tensor]] = {
    "norm": lambda weights: torch.linalg.vector_norm(weights, dim=-1),
    "sum": lambda weights: weights.sum(dim=-1),
}
"""Functions that compute the strength of an arc from its first-layer weights, by name."""


class PriorityLayer(nn.Module):
    """Base class of layers with strengths H, an orientation S, and weights W = H ∘ S.

    Attributes
    ----------
    orientation : SmoothOrientation
        Layers that share an orientation have the same order.
    strengths : (d, d) or (d, d, h) parameter
        H; ``strengths[u, v]`` is the strength of u → v, or its weights to h hidden units.
    """

    strengths: Tensor

    def __init__(self, orientation: SmoothOrientation) -> None:
        super().__init__()
        self.orientation = orientation

    def _parameter(self, *shape: int) -> nn.Parameter:
        """Create a parameter on the device and in the precision of the priorities."""
        return nn.Parameter(self.orientation.priorities.new_empty(shape))

    def weights(self) -> Tensor:
        """Compute W = H ∘ S."""
        orientation: Tensor = self.orientation()
        units = (1,) * (self.strengths.ndim - 2)
        return self.strengths * orientation.reshape(orientation.shape + units)

    def strength(self) -> Tensor:
        """Compute the strength of every arc, (d, d)."""
        return self.weights()


class PriorityLinear(PriorityLayer):
    """Each variable is a weighted sum of its predecessors: x̂ = x W + b, W = H ∘ S_{t,ε}(p).

    Parameters
    ----------
    orientation : SmoothOrientation
        The orientation of arcs.
    bias : bool
        Whether to include a bias b, initially zero; centred data need none.

    Examples
    --------
    >>> layer = PriorityLinear(SmoothOrientation(4))
    >>> layer(torch.zeros(8, 4)).shape
    torch.Size([8, 4])
    """

    def __init__(self, orientation: SmoothOrientation, *, bias: bool = False) -> None:
        super().__init__(orientation)
        d = orientation.d
        self.strengths = self._parameter(d, d)
        self.bias = self._parameter(d) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw H ~ U(−√(3/d), √(3/d)): entries of variance 1/d."""
        limit = math.sqrt(3 / self.orientation.d)
        nn.init.uniform_(self.strengths, -limit, limit)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Predict every variable from (…, d) rows."""
        predicted = x @ self.weights()
        return predicted if self.bias is None else predicted + self.bias


class PriorityMLP(PriorityLayer):
    """One perceptron per variable, whose first layer is masked by the orientation.

    With one hidden layer, x̂_v = Σ_i w_vi σ(Σ_u x_u H_uvi S_uv + b_vi) + c_v: the non-linear
    extension in the paper's appendix, parametrised as `cosmodag.model.mechanism.MLP`. If W_uv· = 0,
    f_v does not depend on x_u.

    Parameters
    ----------
    orientation : SmoothOrientation
        The orientation of arcs.
    hidden : sequence of int
        Number of units in each hidden layer of each network.
    activation : {"sigmoid", "tanh", "relu"}
        Activation of the hidden units.
    arc_strength : {"norm", "sum"}
        How the strength of an arc is computed from its h weights: their norm, or their signed sum.

    Examples
    --------
    >>> layer = PriorityMLP(SmoothOrientation(4), hidden=(10, 5))
    >>> layer(torch.zeros(8, 4)).shape, layer.strength().shape
    (torch.Size([8, 4]), torch.Size([4, 4]))
    """

    def __init__(
        self,
        orientation: SmoothOrientation,
        *,
        hidden: Sequence[int] = (10,),
        activation: str = "sigmoid",
        arc_strength: str = "norm",
    ) -> None:
        super().__init__(orientation)
        if not len(hidden) or min(hidden) < 1:
            raise DataError(f"hidden must be one or more numbers of units, but it is {hidden!r}.")
        check_choice("activation", activation, ACTIVATIONS)
        check_choice("arc_strength", arc_strength, ARC_STRENGTHS)
        self.activation, self.arc_strength = activation, arc_strength
        d, (first, *_) = orientation.d, hidden
        self.strengths = self._parameter(d, d, first)
        self.first_biases = self._parameter(d, first)
        self.hidden_weights = nn.ParameterList(self._parameter(d, *s) for s in pairwise(hidden))
        self.hidden_biases = nn.ParameterList(self._parameter(d, s) for s in hidden[1:])
        self.output_weights = self._parameter(d, hidden[-1])
        self.output_biases = self._parameter(d)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every layer from U(±1/√fan-in); the fan-in of the first is d·h, as in the paper."""
        first = self.strengths.shape[1] * self.strengths.shape[2]
        self._draw(first, self.strengths, self.first_biases)
        for weights, biases in zip(self.hidden_weights, self.hidden_biases, strict=True):
            self._draw(weights.shape[1], weights, biases)
        self._draw(self.output_weights.shape[1], self.output_weights, self.output_biases)

    @staticmethod
    def _draw(fan_in: int, *parameters: Tensor) -> None:
        limit = 1 / math.sqrt(fan_in)
        for parameter in parameters:
            nn.init.uniform_(parameter, -limit, limit)

    def strength(self) -> Tensor:
        """Compute the strength of every arc, (d, d), from its weights to all hidden units."""
        return ARC_STRENGTHS[self.arc_strength](self.weights())

    def forward(self, x: Tensor) -> Tensor:
        """Predict every variable from (…, d) rows."""
        activation, weights = ACTIVATIONS[self.activation], self.weights()
        d, k, h = weights.shape
        # All first layers are one product, since d small products would be dominated by overhead.
        units = (x.reshape(-1, d) @ weights.reshape(d, k * h)).reshape(-1, k, h) + self.first_biases
        for later, biases in zip(self.hidden_weights, self.hidden_biases, strict=True):
            crossed = activation(units).transpose(0, 1) @ later
            units = crossed.transpose(0, 1) + biases
        predicted = (activation(units) * self.output_weights).sum(dim=-1) + self.output_biases
        return predicted.reshape(*x.shape[:-1], k)


def regulariser(
    module: nn.Module, *, lambda1: float = 0.0, lambda2: float = 0.0, lambda_p: float = 0.0
) -> Tensor:
    """Compute λ₁‖H‖₁ + λ₂‖H‖_F + λ_p‖p‖₂ (Section 4.2), the penalties of `AnnealedObjective`.

    They apply to H, not to W = H ∘ S, so that an arc has the same penalty if the order suppresses
    it. No norm is squared, and the gradient at zero is zero.

    Parameters
    ----------
    module : nn.Module
        A layer, or any module that contains layers, such as a whole model or one wrapped for
        several processes: the sum over the H of all `PriorityLayer` and the p of all
        `SmoothOrientation` in it. Shared orientations count once.
    lambda1, lambda2, lambda_p : float
        λ₁, λ₂ and λ_p. The paper's values are for a loss averaged over rows *and* variables.

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
    inside = list(module.modules())
    strengths = [m.strengths for m in inside if isinstance(m, PriorityLayer)]
    priorities = [m.priorities for m in inside if isinstance(m, SmoothOrientation)]
    if not priorities:
        raise DataError("The module has no SmoothOrientation, so that nothing is penalised.")
    penalty: Tensor = lambda_p * sum(torch.linalg.vector_norm(p) for p in priorities)
    for weights in strengths:
        penalty = penalty + lambda1 * weights.abs().sum()
        penalty = penalty + lambda2 * torch.linalg.vector_norm(weights)
    return penalty


def read_out(
    weights: PriorityLayer | ArrayLike | Tensor,
    priorities: ArrayLike | Tensor | None = None,
    *,
    threshold: float = 0.3,
) -> NDArray[Any]:
    """Return the weights of a DAG: arcs above a threshold that agree with the order of priorities.

    The result is a DAG at any threshold and temperature, in every mode of the orientation.

    Parameters
    ----------
    weights : PriorityLinear, PriorityMLP, or (d, d) matrix
        A layer, whose strengths at the current temperature are used; or strengths of arcs, such as
        H ∘ S or H itself, together with `priorities`.
    priorities : (d,) array or tensor, optional
        p, if the first argument is a matrix.
    threshold : float
        Only arcs whose weight exceeds this in magnitude are kept.

    Returns
    -------
    (d, d) array
        ``[u, v]`` is the weight of the arc u → v, 0 if there is no arc.

    Examples
    --------
    >>> read_out(torch.tensor([[9.0, 0.5], [0.9, 9.0]]), torch.tensor([0.0, 1.0])).tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    if isinstance(weights, PriorityLayer):
        order = weights.orientation.order()
        strengths = _array(weights.strength())
    elif priorities is None:
        raise DataError("read_out of a matrix also needs the priorities: read_out(W, p).")
    else:
        order, strengths = order_of(_array(priorities)), _array(weights)
    kept: NDArray[Any] = above(agreeing(strengths, order), threshold)
    return kept


def _array(values: ArrayLike | Tensor) -> NDArray[Any]:
    if isinstance(values, Tensor):
        return values.numpy(force=True)
    return np.asarray(values)
