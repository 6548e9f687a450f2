"""Sub-problems by training: the minimiser that implements every recipe."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cosmodag.later import jax
from cosmodag.model.structure import Parameters
from cosmodag.solve.machine.devices import jax_device
from cosmodag.solve.minimisers.base import Mask, Minimised
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import ADAM_SETTINGS, fresh_state
from cosmodag.solve.training.train import parameters_of, train
from cosmodag.solve.watch import Watch

__all__ = ["Stochastic"]


@dataclass(frozen=True)
class Stochastic:
    """Adam on mini-batches for a number of rounds: the reference loop or an equivalent kernel.

    All lanes run together, including finished ones: they cost less than recompiling the program for
    a smaller batch. The number of rounds is part of the method, not a limit, so a run that is not
    stopped counts as converged.
    """

    trains: ClassVar[bool] = True
    working_copies: ClassVar[int] = 0
    needs: ClassVar[frozenset[str]] = ADAM_SETTINGS | {"rounds"}

    def implements(self, recipe: Recipe) -> bool:
        """Every recipe is implemented."""
        return True

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Run Adam from the given parameters, with fresh moments."""
        guard = batch.recipe.guard
        rounds = int(batch.settings["rounds"].max())
        state = fresh_state(parameters, guard is not None, (batch.size,))
        start = jax.device_put(state, jax_device(batch.device))
        trained = train(batch, start, rounds, watch, first)
        refused = np.zeros(batch.size, bool)
        if guard is not None:
            count, first_undone = (np.asarray(part) for part in trained.state.undone)
            refused = np.asarray(guard.refuses(count, first_undone, first, batch.settings))
        return Minimised(
            parameters=parameters_of(batch, trained),
            loss=np.asarray(trained.state.loss),
            iterations=trained.rounds,
            refused=refused,
            converged=np.full(batch.size, trained.stopped is None),
            stopped=trained.stopped,
        )
