"""A PyTorch module for orientations, in which priorities determine the direction of every arc.

Schedulers of its temperature have the interface of ``torch.optim.lr_scheduler``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from cosmodag.errors import DataError
from cosmodag.graph.dags import order_of
from cosmodag.model.orientation import check_positive, log_acyclicity_bound

MODES = ("soft", "hard", "straight-through")
"""Modes of `SmoothOrientation`, which describes them."""


def smooth_orientation(priorities: Tensor, temperature: Tensor | float, shift: Any) -> Tensor:
    """Compute the smooth orientation matrix S_{t,ε}(p), Definition 1, with a diagonal of zeros.

    S[u, v] = σ((p_v − p_u − ε) / t), as `cosmodag.model.orientation.smooth_orientation`.
    Priorities of shape (…, d) give matrices of shape (…, d, d).

    Examples
    --------
    >>> smooth_orientation(torch.tensor([0.0, 1.0]), temperature=1.0, shift=0.4)
    tensor([[0.0000, 0.6457],
            [0.1978, 0.0000]])
    """
    differences = priorities[..., None, :] - priorities[..., :, None]
    orientation = torch.sigmoid((differences - shift) / temperature)
    return orientation.masked_fill(_diagonal(priorities), 0.0)


class SmoothOrientation(nn.Module):
    """Learnable priorities of variables, and the matrix S by which they orient arcs.

    The elementwise product of any (d, d) matrix of strengths and the output of this module is
    acyclic in the limit of a low temperature, whatever the priorities (Theorem 1), so that a model
    needs no acyclicity penalty. Forbidden arcs are zeros of `support`; the diagonal is always zero.

    It can be called without arguments, which returns S, and is also a parametrisation of the weight
    of a ``torch.nn.Linear(d, d)`` (the third example).

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
        What the module returns. *Soft*: S itself. *Hard*: 1 where p_v − p_u ≥ ε (Lemma 1), which is
        acyclic at every temperature but has no gradient. *Straight-through*: the values of the
        hard mode with the gradient of the soft one.
    device, dtype
        As in every PyTorch module.

    Attributes
    ----------
    priorities : (d,) parameter
        p, initially N(0, ε²/2): of all variances, ε²/2 gives differences the highest density at ε.
    temperature, shift, support : buffers
        They move with the module and are saved in its ``state_dict``. The temperature is a tensor,
        so changing it does not recompile a model. Without a given support, `support` is None and
        takes no memory.
    mode : str
        Can be changed at any time; it is not part of the ``state_dict``.

    Examples
    --------
    >>> orientation = SmoothOrientation(3, mode="hard")
    >>> with torch.no_grad():
    ...     _ = orientation.priorities.copy_(torch.tensor([2.0, 0.0, 1.0]))
    >>> orientation()
    tensor([[0., 0., 0.],
            [1., 0., 1.],
            [1., 0., 0.]])
    >>> orientation(torch.full((3, 3), 7.0))  # of a Linear: [v, u] is the weight of u → v
    tensor([[0., 7., 7.],
            [0., 0., 0.],
            [0., 7., 0.]])
    >>> linear = nn.Linear(3, 3, bias=False)
    >>> linear = torch.nn.utils.parametrize.register_parametrization(linear, "weight", orientation)
    >>> linear(torch.eye(3))[2, 1].item()  # 2 comes after 1, so 1 does not depend on it
    0.0
    """

    temperature: Tensor
    shift: Tensor
    support: Tensor | None

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
        # Kept outside the buffers, which have no values on the meta device.
        self._initial = (shift, temperature, support)
        self.register_buffer("shift", like.new_empty(()))
        self.register_buffer("temperature", like.new_empty(()))
        self.register_buffer("support", None if support is None else _allowed(support, like))
        self.register_load_state_dict_pre_hook(_take_support)  # type: ignore[no-untyped-call]
        self.reset_parameters()

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.priorities)

    @property
    def mode(self) -> str:
        """What `forward` returns: one of `MODES`."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        check_choice("mode", mode, MODES)
        self._mode = mode

    def reset_parameters(self) -> None:
        """Draw p ~ N(0, ε²/2), and set the buffers to their initial values.

        So modules made on the meta device and moved by ``to_empty`` are initialised, too.
        """
        shift, temperature, support = self._initial
        with torch.no_grad():
            self.shift.fill_(shift)
            self.temperature.fill_(temperature)
            self.priorities.normal_().mul_(self.shift / math.sqrt(2))
            if self.support is not None and support is not None:
                self.support.copy_(_allowed(support, self.priorities))

    def set_temperature(self, temperature: float) -> None:
        """Set the temperature in place."""
        check_positive("temperature", temperature)
        self.temperature.fill_(temperature)

    def forward(self, weight: Tensor | None = None) -> Tensor:
        """Compute S according to `mode`, zero outside the support.

        With the `weight` of a ``torch.nn.Linear``, whose entry [v, u] is the arc u → v, compute its
        elementwise product with the transpose of S.
        """
        orientation = self._orientation()
        if weight is None:
            return orientation
        if weight.shape != orientation.shape:
            raise DataError(
                f"The weight must be a matrix of shape {tuple(orientation.shape)}, as of "
                f"torch.nn.Linear({self.d}, {self.d}), but its shape is {tuple(weight.shape)}."
            )
        return weight * orientation.T

    def _orientation(self) -> Tensor:
        if self.mode == "hard":
            return self._hard()
        soft = self._supported(smooth_orientation(self.priorities, self.temperature, self.shift))
        if self.mode == "soft":
            return soft
        # The difference is exactly zero, so that the value is exactly the hard one.
        return self._hard() + (soft - soft.detach())

    def _hard(self) -> Tensor:
        priorities = self.priorities.detach()
        before = priorities[None, :] - priorities[:, None] >= self.shift
        return self._supported(before.to(priorities.dtype))

    def _supported(self, orientation: Tensor) -> Tensor:
        return orientation if self.support is None else orientation * self.support

    def order(self) -> NDArray[np.intp]:
        """Return the causal order of the variables, causes first, ties by index.

        Examples
        --------
        >>> orientation = SmoothOrientation(2)
        >>> orientation.load_state_dict({"priorities": torch.tensor([0.5, 0.1])}, strict=False)
        _IncompatibleKeys(missing_keys=['shift', 'temperature'], unexpected_keys=[])
        >>> orientation.order().tolist()
        [1, 0]
        """
        return order_of(self.priorities.detach().to("cpu", torch.float64).numpy())

    def log_acyclicity_bound(self) -> float:
        """Compute the log of Theorem 2's bound on tr e^S − d at this temperature, for every p."""
        return log_acyclicity_bound(self.temperature.item(), self.shift.item(), self.d)

    def extra_repr(self) -> str:
        """Return the settings that ``print`` shows."""
        return (
            f"{self.d}, shift={self.shift.item():g}, temperature={self.temperature.item():g}, "
            f"mode={self.mode!r}"
        )


def _diagonal(priorities: Tensor) -> Tensor:
    return torch.eye(priorities.shape[-1], dtype=torch.bool, device=priorities.device)


def _take_support(
    orientation: SmoothOrientation, state: Mapping[str, Tensor], prefix: str, *_: Any
) -> None:
    """Before a state is loaded, make room for its support if the orientation has none."""
    saved = state.get(f"{prefix}support")
    if saved is not None and orientation.support is None:
        orientation.support = torch.ones_like(saved).to(orientation.priorities.detach())


def _allowed(support: ArrayLike | Tensor, like: Tensor) -> Tensor:
    """Return the support as zeros and ones of the type of `like`, with a diagonal of zeros."""
    d = len(like)
    allowed = torch.as_tensor(support)
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

    Create the scheduler before training: it sets the temperature to `start`. Call ``step()`` after
    every epoch (or after every batch, if `rounds` counts batches). After `rounds` steps the
    temperature stays at `end`.

    Parameters
    ----------
    module : nn.Module
        An orientation, a layer or a whole model.
    rounds : int
        Number of steps from `start` to `end`.
    start, end : float
        The temperatures. `cosmodag.model.orientation.temperature_for` computes `end` from a
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
        """Compute the temperature at a fraction of the rounds, from 0 to 1."""

    def step(self) -> None:
        """Advance by one step."""
        self.last_epoch += 1
        self._set_temperature()

    def get_last_temperature(self) -> float:
        """Return the current temperature."""
        return self._last_temperature

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers; the module is not included."""
        return {name: value for name, value in vars(self).items() if name != "_orientations"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state, and set its temperature."""
        vars(self).update(state_dict)
        self._set_temperature()

    def _set_temperature(self) -> None:
        self._last_temperature = self.temperature_at(min(self.last_epoch / self.rounds, 1.0))
        for orientation in self._orientations:
            orientation.set_temperature(self._last_temperature)


class CosineTemperature(TemperatureScheduler):
    """Cosine annealing, as in the paper: t_end + ½ (t_start − t_end)(1 + cos(π m / N)).

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
        """Follow half a cosine wave from `start` to `end`."""
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
        """Interpolate geometrically from `start` to `end`."""
        return float(self.start * (self.end / self.start) ** progress)
