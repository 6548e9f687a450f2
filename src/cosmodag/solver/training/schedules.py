"""Schedules: the settings in force during each epoch."""

import math
from typing import Any

import jax.numpy as jnp

from cosmodag.structure import Settings

__all__ = ["anneal_temperature", "constant"]


def constant(epoch: Any, settings: Settings) -> Settings:
    """Leave the settings as they are."""
    return settings


def anneal_temperature(epoch: Any, settings: Settings) -> Settings:
    """Cosine annealing of the temperature (Section 4.2).

    Before epoch m of N it is t_end + ½ (t_start − t_end)(1 + cos(π m / N)): t_start in the first
    epoch, t_end once the last one is over.

    Examples
    --------
    >>> settings = {"temperature_start": 0.45, "temperature_end": 0.05, "epochs": 100}
    >>> [round(float(anneal_temperature(m, settings)["temperature"]), 3) for m in (0, 50, 100)]
    [0.45, 0.25, 0.05]
    """
    start, end = settings["temperature_start"], settings["temperature_end"]
    progress = jnp.asarray(epoch, jnp.result_type(float)) / settings["epochs"]
    temperature = end + 0.5 * (start - end) * (1 + jnp.cos(math.pi * progress))
    return {**settings, "temperature": temperature}
