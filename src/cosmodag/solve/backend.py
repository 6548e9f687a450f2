"""Backends: implementations of the training steps, and what each declares that it implements."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosmodag.model.structure import Parameters
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import State

if TYPE_CHECKING:
    from cosmodag.solve.problems import Batch

__all__ = ["FEATURES", "Backend", "Task"]

FEATURES = frozenset({"support", "required", "gaps", "counted", "start"})
"""What a problem may give beside its data."""


class Task(NamedTuple):
    """What a backend is asked whether it implements.

    Attributes
    ----------
    recipe
        What is minimised.
    features
        Which of `FEATURES` the problems give.
    lanes, rows, variables
        Problems at once, and the size of their tables.
    dtype
        Precision of the tables.
    platform
        Kind of device: ``"cpu"``, ``"gpu"`` …
    """

    recipe: Recipe
    features: frozenset[str]
    lanes: int
    rows: int
    variables: int
    dtype: np.dtype[Any]
    platform: str


def _plain_start(batch: "Batch") -> State:
    return batch.start()


def _plain_parameters(batch: "Batch", state: State) -> Parameters:
    return state.parameters


@dataclass(frozen=True)
class Backend:
    """One way to run rounds of training, held to the reference loop by tests.

    Attributes
    ----------
    name
        For people: in messages, saved runs and benchmarks.
    implements
        Whether it does what a task asks for, all of it.
    advance
        (batch, state, first, last) → state after those rounds; the state given is used up.
    working_copies
        Arrays as large as the parameters that it holds for each problem beside the state.
    start
        batch → its initial state.
    parameters
        (batch, state) → the stacked parameters, without anything a backend added.
    missing
        task → why it cannot run here although it implements the task, or None. Such a task goes to
        a slower backend, with a warning.
    devices
        task → over how many devices it spreads a problem.
    """

    name: str
    implements: Callable[[Task], bool]
    advance: Callable[["Batch", State, int, int], State]
    working_copies: int
    start: Callable[["Batch"], State] = _plain_start
    parameters: Callable[["Batch", State], Parameters] = _plain_parameters
    missing: Callable[[Task], str | None] = lambda task: None
    devices: Callable[[Task], int] = lambda task: 1
