"""Schedules: the settings in force during each round of training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from cosmodag.later import jnp
from cosmodag.model.structure import Settings

__all__ = ["Constant", "CosineAnnealing", "Schedule"]


class Schedule(Protocol):
    """How settings change during training."""

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that it reads."""

    @property
    def sets(self) -> frozenset[str]:
        """Names of the settings that it sets."""

    def __call__(self, round: Any, settings: Settings) -> Settings:
        """Return the settings for a round, numbered from 0."""


@dataclass(frozen=True)
class Constant:
    """Leave the settings as they are."""

    needs: ClassVar[frozenset[str]] = frozenset()
    sets: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, round: Any, settings: Settings) -> Settings:
        """Return the settings for a round."""
        return settings


@dataclass(frozen=True)
class CosineAnnealing:
    """Cosine annealing of the temperature (Section 4.2).

    Before round m of N it is t_end + ½ (t_start − t_end)(1 + cos(π m / N)): t_start in the first
    round, t_end after the last one.

    Examples
    --------
    >>> anneal = CosineAnnealing()
    >>> settings = {"temperature_start": 0.45, "temperature_end": 0.05, "rounds": 100}
    >>> [round(float(anneal(m, settings)["temperature"]), 3) for m in (0, 50, 100)]
    [0.45, 0.25, 0.05]
    """

    needs: ClassVar[frozenset[str]] = frozenset({"temperature_start", "temperature_end", "rounds"})
    sets: ClassVar[frozenset[str]] = frozenset({"temperature"})

    def __call__(self, round: Any, settings: Settings) -> Settings:
        """Return the settings for a round."""
        start, end = settings["temperature_start"], settings["temperature_end"]
        # NumPy for plain numbers, as in histories: compiling would take longer.
        if isinstance(round, np.ndarray):
            wave: Any = 1 + np.cos(math.pi * round / settings["rounds"])
        elif isinstance(round, int | float):
            wave = 1 + math.cos(math.pi * round / settings["rounds"])
        else:
            progress = jnp.asarray(round, jnp.result_type(float)) / settings["rounds"]
            wave = 1 + jnp.cos(math.pi * progress)
        temperature = end + 0.5 * (start - end) * wave
        return {**settings, "temperature": temperature}
