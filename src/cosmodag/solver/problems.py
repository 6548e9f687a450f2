"""Problems: (data, hyper-parameters, seed), one or a batch of them of one shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.adam import State, fresh_state
from cosmodag.structure import Parameters

__all__ = ["Batch", "Problem", "Solution", "start_many"]


@dataclass(frozen=True, eq=False)
class Problem:
    """One thing to solve.

    Attributes
    ----------
    data
        (n, d) array, centred. Problems that share the *same array object* share its memory.
    settings
        Hyper-parameters by name.
    seed
        Decides the initial parameters and the order of rows, in [0, 2³²).
    """

    data: NDArray[Any]
    settings: Mapping[str, float]
    seed: int

    @property
    def shape(self) -> tuple[Any, ...]:
        """What two problems must share to be solved by one program."""
        epochs = self.settings["epochs"]
        return (*self.data.shape, self.data.dtype.str, epochs, tuple(sorted(self.settings)))


@dataclass(frozen=True)
class Solution:
    """What came of one problem.

    Attributes
    ----------
    parameters
        As they were after the last epoch that was run.
    epochs
        Epochs run.
    stopped
        Why fewer were run than asked for (``"time"``, ``"interrupt"``), or None.
    diverged_at
        First epoch in which the objective was not finite, or None.
    history
        One record for each chunk of epochs: ``epoch`` and ``loss``.
    """

    parameters: Parameters
    epochs: int
    stopped: str | None
    diverged_at: int | None
    history: list[dict[str, float]]


@dataclass(frozen=True, eq=False)
class Batch:
    """Problems of one shape, stacked: lane i of every array is problem i's.

    Attributes
    ----------
    recipe
        What all of them minimise.
    tables, table
        The distinct data sets (m, n, d), and which of them each lane uses.
    seeds
        (k,) uint32.
    settings
        Each hyper-parameter as a (k,) array.
    device
        Where the batch is solved.
    """

    recipe: Recipe
    tables: Any
    table: NDArray[np.int32]
    seeds: NDArray[np.uint32]
    settings: dict[str, NDArray[Any]]
    device: jax.Device

    @classmethod
    def of(cls, recipe: Recipe, problems: Sequence[Problem], device: jax.Device) -> "Batch":
        """Stack problems of one shape."""
        distinct = {id(problem.data): problem.data for problem in problems}
        tables: Any = np.stack(list(distinct.values()))
        if device.platform != "cpu":
            tables = jax.device_put(tables, device)  # once, not at every chunk of epochs
        places = {key: place for place, key in enumerate(distinct)}
        dtype = problems[0].data.dtype
        return cls(
            recipe=recipe,
            tables=tables,
            table=np.array([places[id(problem.data)] for problem in problems], np.int32),
            seeds=np.array([problem.seed for problem in problems], np.uint32),
            settings={
                name: np.array([problem.settings[name] for problem in problems], dtype)
                for name in problems[0].settings
            },
            device=device,
        )

    @property
    def size(self) -> int:
        """Number of problems."""
        return len(self.seeds)

    @property
    def variables(self) -> int:
        """Number of variables, d."""
        return int(self.tables.shape[2])

    def start(self) -> State:
        """Draw the initial states of all problems."""
        with jax.default_device(self.device):
            drawn = _start(self.recipe, self.seeds, self.variables, self.settings)
        # Tied to the device as every later state is: another kind of state is another program.
        state: State = jax.device_put(drawn, self.device)
        return state


def start_many(recipe: Recipe, seeds: Any, d: int, settings: Any) -> State:
    """Draw the initial states of problems of d variables, stacked."""

    def one(seed: Any, settings: Any) -> State:
        return fresh_state(recipe.start(seed, d, settings), recipe.guard is not None)

    return jax.vmap(one)(seeds, settings)


_start = jax.jit(start_many, static_argnums=(0, 2))
