"""Minimisers solve one unconstrained sub-problem of a method: the interface, and training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import SettingsError
from cosmodag.later import jax
from cosmodag.model.structure import Parameters
from cosmodag.solve.machine.devices import jax_device
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import ADAM_SETTINGS, fresh_state
from cosmodag.solve.training.train import parameters_of, train
from cosmodag.solve.watch import Watch

Mask = NDArray[np.bool_]


class Minimised(NamedTuple):
    """Result of one sub-problem for every problem of a batch.

    A problem is refused if it left the domain of its objective and must be solved again with other
    settings.
    """

    parameters: Parameters  # of all problems, stacked, in NumPy
    loss: NDArray[np.floating]  # (k,) final objective; not finite if the problem diverged
    iterations: int  # maximum over problems
    refused: Mask
    converged: Mask  # False where a limit was reached
    stopped: str | None  # why the run ended early


class Minimiser(Protocol):
    """A way to minimise the objective of a batch's recipe, under its present settings.

    It declares the recipes that it implements, matched by equality of their parts, and supports all
    optional inputs of problems. The setting `rounds` is the limit on rounds of training, or on
    iterations over all rows.
    """

    trains: ClassVar[bool]  # by the reference loop or a kernel, which the plan must choose
    working_copies: ClassVar[int]  # parameter-sized arrays beside the parameters, without training
    needs: ClassVar[frozenset[str]]  # settings that it reads in addition to the recipe's

    def implements(self, recipe: Recipe) -> bool:
        """Whether it can minimise a recipe."""

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the sub-problems of the active lanes; results of other lanes are not used.

        They start from the stacked `parameters`. `first` is the number of the first round; it
        gives every sub-problem another order of rows.
        """


def first_that_implements(minimisers: Sequence[Minimiser], recipe: Recipe) -> Minimiser:
    """Return the first minimiser, in order of preference, that implements a recipe."""
    for minimiser in minimisers:
        if minimiser.implements(recipe):
            return minimiser
    raise SettingsError(
        f"None of {', '.join(type(m).__name__ for m in minimisers) or 'no minimisers'} implements "
        f"{recipe}: add Stochastic(), which implements everything."
    )


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
