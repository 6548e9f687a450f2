"""Orientations as a PyTorch module: priorities determine the direction of every arc.

Schedulers of the temperature are in the manner of ``torch.optim.lr_scheduler``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from cosmodag.errors import DataError
from cosmodag.graph.dags import order_of
from cosmodag.model.orientation import check_positive, log_acyclicity_bound

MODES = ("soft", "hard", "straight-through")
"""Modes of `SmoothOrientation`; see there."""


def smooth_orientation(priorities: Tensor, temperature: Tensor | float, shift: Any) -> Tensor:
    """Smooth orientation matrix S_{t,ε}(p), Definition 1, with its diagonal set to zero.

    S[u, v] = σ((p_v − p_u − ε) / t), as `cosmodag.model.orientation.smooth_orientation`.

    Examples
    --------
    >>> smooth_orientation(torch.tensor([0.0, 1.0]), temperature=1.0, shift=0.4)
    tensor([[0.0000, 0.6457],
            [0.1978, 0.0000]])
    """
    differences = priorities[None, :] - priorities[:, None]
    orientation = torch.sigmoid((differences - shift) / temperature)
    return orientation.masked_fill(_diagonal(priorities), 0.0)


class SmoothOrientation(nn.Module):
    """One learnt priority per variable, and the matrix S that masks arcs by their order.

    The product of any (d, d) matrix of strengths and this module's output is acyclic in the limit
    of a low temperature, for any strengths and priorities (Theorem 1): a model needs no acyclicity
    penalty. Forbidden arcs are zeros of `support`; the diagonal is always zero.

    Parameters
    ----------
    d : int
        Number of variables.
    shift : float
        ε, the amount by which the priority of an effect must exceed that of its cause.
    temperature : float
        Initial t; a `TemperatureScheduler` lowers it.
    support : (d, d) array or tensor, optional
        False, or 0, at arcs that may not exist.
    mode : {"soft", "hard", "straight-through"}
        S itself; or its hard order, 1 where p_v − p_u ≥ ε (Lemma 1), acyclic at every temperature
        but without a gradient; or the values of the second with the gradient of the first.
    device, dtype
        As in every PyTorch module.

    Attributes
    ----------
    priorities : (d,) parameter
        p, initially N(0, ε²/2), for which differences are densest at the threshold ε.
    temperature, shift, support : buffers
        They move with the module and are saved in its ``state_dict``. The temperature is a tensor,
        so changing it does not recompile a model.
    mode : str
        May be changed at any time; it is not part of the ``state_dict``.

    Examples
    --------
    >>> orientation = SmoothOrientation(3, mode="hard")
    >>> with torch.no_grad():
    ...     _ = orientation.priorities.copy_(torch.tensor([2.0, 0.0, 1.0]))
    >>> orientation()
    tensor([[0., 0., 0.],
            [1., 0., 1.],
            [1., 0., 0.]])
    """

    temperature: Tensor
    shift: Tensor
    support: Tensor

    def __init__(
        self,
        d: int,
        *,
        shift: float = 6e-3,
        temperature: float = 0.45,
        support: ArrayLike | Tensor | None = None,
        mode: str = "soft",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_positive("shift", shift)
        check_positive("temperature", temperature)
        self.mode = mode
        self.priorities = nn.Parameter(torch.empty(d, device=device, dtype=dtype))
        like = self.priorities.detach()
        self.register_buffer("shift", like.new_tensor(shift))
        self.register_buffer("temperature", like.new_tensor(temperature))
        self.register_buffer("support", _allowed(support, like))
        self.reset_parameters()

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.priorities)

    @property
    def mode(self) -> str:
        """What `forward` gives."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        check_choice("mode", mode, MODES)
        self._mode = mode

    def reset_parameters(self) -> None:
        """Draw p ~ N(0, ε²/2)."""
        with torch.no_grad():
            self.priorities.normal_().mul_(self.shift / math.sqrt(2))

    def set_temperature(self, temperature: float) -> None:
        """Set the temperature, in place."""
        check_positive("temperature", temperature)
        self.temperature.fill_(temperature)

    def forward(self) -> Tensor:
        """S, transformed according to `mode`; zero outside the support."""
        if self.mode == "hard":
            return self._hard()
        soft = smooth_orientation(self.priorities, self.temperature, self.shift) * self.support
        if self.mode == "soft":
            return soft
        # In this order the value is exactly the hard one: the bracket is exactly zero.
        return self._hard() + (soft - soft.detach())

    def _hard(self) -> Tensor:
        priorities = self.priorities.detach()
        before = priorities[None, :] - priorities[:, None] >= self.shift
        return before.to(self.support.dtype) * self.support

    def order(self) -> NDArray[np.intp]:
        """Causal order, causes first, ties by index.

        Examples
        --------
        >>> orientation = SmoothOrientation(2)
        >>> orientation.load_state_dict({"priorities": torch.tensor([0.5, 0.1])}, strict=False)
        _IncompatibleKeys(missing_keys=['shift', 'temperature', 'support'], unexpected_keys=[])
        >>> orientation.order().tolist()
        [1, 0]
        """
        return order_of(self.priorities.detach().to("cpu", torch.float64).numpy())

    def log_acyclicity_bound(self) -> float:
        """Logarithm of Theorem 2's bound on tr e^S − d at the current temperature, for every p."""
        return log_acyclicity_bound(self.temperature.item(), self.shift.item(), self.d)

    def extra_repr(self) -> str:
        """Return the text that ``print`` shows between the brackets."""
        return (
            f"{self.d}, shift={self.shift.item():g}, temperature={self.temperature.item():g}, "
            f"mode={self.mode!r}"
        )


def _diagonal(priorities: Tensor) -> Tensor:
    return torch.eye(len(priorities), dtype=torch.bool, device=priorities.device)


def _allowed(support: ArrayLike | Tensor | None, like: Tensor) -> Tensor:
    """Support as a matrix of zeros and ones without a diagonal, of the type of `like`."""
    d = len(like)
    allowed = like.new_ones(d, d) if support is None else torch.as_tensor(support)
    if allowed.shape != (d, d):
        raise DataError(
            f"support must be a matrix of shape ({d}, {d}), but its shape is "
            f"{tuple(allowed.shape)}."
        )
    return (allowed != 0).to(like).masked_fill(_diagonal(like), 0.0)


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise DataError(f"{name} must be one of {', '.join(choices)}, but it is {value!r}.")


class TemperatureScheduler(ABC):
    """Lower the temperature of every `SmoothOrientation` in a module, step by step.

    Create it before training: it sets the temperature to `start`. Call ``step()`` after every epoch
    (or after every batch, if `rounds` counts batches). After `rounds` steps the temperature is
    `end` and stays there.

    Parameters
    ----------
    module : nn.Module
        An orientation, a layer or a whole model.
    rounds : int
        Steps until the end.
    start, end : float
        The temperatures. `cosmodag.model.orientation.temperature_for` computes an end from a
        tolerance on the acyclicity of S.
    """

    def __init__(
        self, module: nn.Module, rounds: int, *, start: float = 0.45, end: float = 8.5e-4
    ) -> None:
        if rounds < 1:
            raise DataError(f"rounds must be at least 1, but it is {rounds!r}.")
        check_positive("start", start)
        check_positive("end", end)
        self._orientations = [m for m in module.modules() if isinstance(m, SmoothOrientation)]
        if not self._orientations:
            raise DataError("The module has no SmoothOrientation to schedule.")
        self.rounds, self.start, self.end = rounds, start, end
        self.last_epoch = 0
        self._set_temperature()

    @abstractmethod
    def temperature_at(self, progress: float) -> float:
        """Temperature after a share of the rounds, from 0 to 1."""

    def step(self) -> None:
        """Advance by one round."""
        self.last_epoch += 1
        self._set_temperature()

    def get_last_temperature(self) -> float:
        """Return the current temperature."""
        return self._last_temperature

    def state_dict(self) -> dict[str, Any]:
        """Return the state without the module, as plain numbers."""
        return {name: value for name, value in vars(self).items() if name != "_orientations"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state, including its temperature."""
        vars(self).update(state_dict)
        self._set_temperature()

    def _set_temperature(self) -> None:
        self._last_temperature = self.temperature_at(min(self.last_epoch / self.rounds, 1.0))
        for orientation in self._orientations:
            orientation.set_temperature(self._last_temperature)


class CosineTemperature(TemperatureScheduler):
    """Cosine annealing, as the paper's: t_end + ½ (t_start − t_end)(1 + cos(π m / N)).

    Examples
    --------
    >>> orientation = SmoothOrientation(3)
    >>> scheduler = CosineTemperature(orientation, rounds=2, start=0.45, end=0.05)
    >>> for epoch in range(3):
    ...     print(round(scheduler.get_last_temperature(), 3))
    ...     scheduler.step()
    0.45
    0.25
    0.05
    """

    def temperature_at(self, progress: float) -> float:
        """Half a cosine wave from `start` to `end`."""
        return self.end + 0.5 * (self.start - self.end) * (1 + math.cos(math.pi * progress))


class ExponentialTemperature(TemperatureScheduler):
    """Geometric annealing: every step multiplies the temperature by (t_end / t_start)^(1/N).

    Examples
    --------
    >>> scheduler = ExponentialTemperature(SmoothOrientation(3), rounds=2, start=0.4, end=0.004)
    >>> scheduler.step()
    >>> round(scheduler.get_last_temperature(), 6)
    0.04
    """

    def temperature_at(self, progress: float) -> float:
        """Equal ratios from `start` to `end`."""
        return float(self.start * (self.end / self.start) ** progress)
