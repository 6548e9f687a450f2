"""Minimisers, which solve the unconstrained sub-problems of a method: interface and training."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.structure import Parameters
from cosmodag.runtime.devices import jax_device
from cosmodag.runtime.later import jax
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import ADAM_SETTINGS, AdamState, fresh_state
from cosmodag.solve.training.train import parameters_of, train
from cosmodag.solve.trees import map_arrays, where_lanes
from cosmodag.solve.watch import Watch

Mask = NDArray[np.bool_]


class Minimised(NamedTuple):
    """Result of one sub-problem for all problems of a batch.

    A problem is refused if it left the domain of its objective and must be solved again with other
    settings.
    """

    parameters: Parameters  # of all problems, stacked, in NumPy
    loss: NDArray[np.floating]  # (k,): final objective; not finite if the problem diverged
    iterations: int  # maximum over problems
    refused: Mask
    converged: Mask  # False if a limit was reached
    stopped: str | None  # why the run ended early


class Minimiser(Protocol):
    """An algorithm that minimises the objective of a batch's recipe at the batch's settings.

    It declares the recipes that it implements by comparing their parts, and supports all optional
    inputs of problems. The setting `rounds` limits the number of rounds of training, or of
    iterations over all rows.
    """

    trains: ClassVar[bool]  # whether it runs the reference loop or a kernel, chosen by the plan
    working_copies: ClassVar[int]  # parameter-sized arrays that it allocates itself; 0 if it trains
    needs: ClassVar[frozenset[str]]  # settings that it reads in addition to those of the recipe

    def implements(self, recipe: Recipe) -> bool:
        """Whether it can minimise the objective of a recipe."""

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the sub-problem for the active problems; the results of others are not used.

        The stacked `parameters` are the starting points. `first` is the number of the first round,
        so that every sub-problem has another order of rows.
        """


@dataclass(frozen=True)
class Stochastic(Minimiser):
    """Adam on mini-batches for a number of rounds: the reference loop or an equivalent kernel.

    All problems of a batch run together, including finished ones, which costs less than compiling
    the program for a smaller batch; the result of each is its state after its own number of rounds.
    This number is part of the method, not a limit, so a run that is not stopped counts as
    converged.
    """

    trains: ClassVar[bool] = True
    working_copies: ClassVar[int] = 0
    needs: ClassVar[frozenset[str]] = ADAM_SETTINGS | {"rounds"}

    def implements(self, recipe: Recipe) -> bool:
        """Return True: every recipe is implemented."""
        return True

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Run Adam from the given parameters, with fresh moments."""
        state = fresh_state(parameters, batch.recipe.guard is not None, (batch.size,))
        state = jax.device_put(state, jax_device(batch.device))
        rounds = batch.settings["rounds"].astype(int)
        ends = np.unique(rounds[active] if active.any() else rounds).tolist()
        done, found = 0, None
        for end in ends:
            trained = train(batch, state, end - done, watch, first + done)
            state, done = trained.state, done + trained.rounds
            new = (
                parameters_of(batch, trained),
                np.asarray(state.loss),
                _refused(batch, state, first),
            )
            if end < ends[-1]:
                new = map_arrays(np.array, new)  # copies: training goes on with the same memory
            found = new if found is None else where_lanes(rounds >= end, new, found)
            if trained.stopped is not None:
                break
        assert found is not None
        return Minimised(
            parameters=found[0],
            loss=found[1],
            iterations=done,
            refused=found[2],
            converged=np.full(batch.size, trained.stopped is None),
            stopped=trained.stopped,
        )


def _refused(batch: Batch, state: AdamState, first: int) -> Mask:
    """Mark the problems whose training from round `first` the guard discards."""
    guard = batch.recipe.guard
    if guard is None:
        return np.zeros(batch.size, bool)
    count, first_undone = (np.asarray(part) for part in state.undone)
    return np.asarray(guard.refuses(count, first_undone, first, batch.settings))
