"""Ways to solve one unconstrained sub-problem: the `minimise` part of a solver."""

from typing import NamedTuple, Protocol

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.solver.methods.rounds import Mask
from cosmodag.solver.problems import Batch
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.adam import State, fresh_state
from cosmodag.solver.training.train import train
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters

__all__ = ["Minimised", "Minimiser", "Stochastic"]


class Minimised(NamedTuple):
    """What came of one round of sub-problems.

    Attributes
    ----------
    parameters
        Where each problem ended, stacked, in NumPy.
    loss
        (k,) the objective there.
    epochs
        Epochs, or iterations, run.
    refused
        (k,) whether a problem left the region in which it is defined, so that it has to be solved
        again with other settings.
    stopped
        Why the round ended early, or None.
    """

    parameters: Parameters
    loss: NDArray[np.floating]
    epochs: int
    refused: Mask
    stopped: str | None


class Minimiser(Protocol):
    """A way to minimise the objective of a batch's recipe, under its present settings."""

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the sub-problems of the active lanes; what the others return is not used.

        Parameters
        ----------
        batch : Batch
            The problems; the setting ``epochs`` says how long to go on at most.
        parameters : dict
            Where each starts, stacked.
        active : (k,) bool
            Which problems matter.
        first : int
            Number of the first epoch, so that no two rounds shuffle the rows alike.
        watch : Watch
            Shows progress and may end the round early.
        """
        ...

    def read_out(self, recipe: Recipe, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc of one problem, d × d, in the precision of the parameters."""
        ...


class Stochastic:
    """Adam on mini-batches: the training loop, for a fixed number of epochs.

    All lanes run together, the finished ones too: they cost little beside recompiling the program
    for a smaller batch.
    """

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Start Adam anew from the given parameters."""
        guard = batch.recipe.guard
        epochs = int(batch.settings["epochs"].max())
        trained = train(batch, _fresh(parameters, guard is not None), epochs, watch, first)
        state = jax.tree.map(np.asarray, trained.state)
        refused = np.zeros(batch.size, bool)
        if guard is not None:
            count, first_undone = state.undone
            refused = np.asarray(guard.refuses(count, first_undone, first, batch.settings))
        return Minimised(state.parameters, state.loss, trained.epochs, refused, trained.stopped)

    def read_out(self, recipe: Recipe, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc."""
        return np.asarray(recipe.read_out(parameters, {}))


def _fresh(parameters: Parameters, guarded: bool) -> State:
    """States of all lanes before their first step."""
    state: State = jax.vmap(lambda lane: fresh_state(lane, guarded))(parameters)
    return state
