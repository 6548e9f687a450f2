"""Backends: implementations of the training steps, each with a declaration of its scope."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosmodag.model.structure import Parameters
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState

if TYPE_CHECKING:
    from cosmodag.solve.problems import Batch

__all__ = ["FEATURES", "Backend", "Task"]

FEATURES = frozenset({"support", "required", "gaps", "counted", "start"})
"""Optional inputs of a problem beside its data."""


class Task(NamedTuple):
    """The work for which a backend is chosen."""

    recipe: Recipe
    features: frozenset[str]  # which of `FEATURES` the problems have
    lanes: int  # problems solved at once
    rows: int
    variables: int
    dtype: np.dtype[Any]  # of the tables
    platform: str  # kind of device: "cpu", "gpu" …


@dataclass(frozen=True)
class Backend:
    """One implementation of the training rounds; tests compare it with the reference loop."""

    name: str
    # Whether it supports all of a task.
    implements: Callable[[Task], bool]
    # (batch, state, first, last) → state after those rounds; the given state is consumed.
    advance: Callable[["Batch", AdamState, int, int], AdamState]
    # Parameter-sized arrays per problem beside the state.
    working_copies: int
    # Initial state of a batch.
    start: Callable[["Batch"], AdamState] = lambda batch: batch.start()
    # The stacked parameters, without padding.
    parameters: Callable[["Batch", AdamState], Parameters] = lambda batch, state: state.parameters
    # Why it cannot run on this machine although it implements the task, or None. Such a task goes
    # to a slower backend, with a warning.
    missing: Callable[[Task], str | None] = lambda task: None
    # Number of devices over which it spreads a problem.
    devices: Callable[[Task], int] = lambda task: 1
    # Number of parameters of one problem, or None to let JAX count them.
    entries: Callable[[Task], int | None] = lambda task: None
    # Context for any number of calls of `advance`: limits on threads.
    limited: Callable[["Batch", AdamState], AbstractContextManager[None]] = lambda batch, state: (
        nullcontext()
    )
