"""Schedulers of the temperature, in the manner of ``torch.optim.lr_scheduler``."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from torch import nn

from cosmodag.errors import DataError
from cosmodag.model.orientation import check_positive
from cosmodag.torch.orientation import SmoothOrientation


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
        self._put_in_force()

    @abstractmethod
    def temperature_at(self, progress: float) -> float:
        """Temperature after a share of the rounds, from 0 to 1."""

    def step(self) -> None:
        """Advance by one round."""
        self.last_epoch += 1
        self._put_in_force()

    def get_last_temperature(self) -> float:
        """Return the current temperature."""
        return self._last_temperature

    def state_dict(self) -> dict[str, Any]:
        """Return the state without the module, as plain numbers."""
        return {name: value for name, value in vars(self).items() if name != "_orientations"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state, including its temperature."""
        vars(self).update(state_dict)
        self._put_in_force()

    def _put_in_force(self) -> None:
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
