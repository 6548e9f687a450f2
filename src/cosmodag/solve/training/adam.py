"""Adam (Kingma and Ba, 2015), with a separate learning rate for each group of parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cosmodag.model.structure import Parameters, Settings
from cosmodag.runtime.later import jax, jnp
from cosmodag.solve.trees import map_arrays

EPSILON = 1e-8

ADAM_SETTINGS = frozenset({"learning_rate", "priority_learning_rate", "beta1", "beta2"})
"""Learning rates, and decay rates of the running moments."""


class AdamState(NamedTuple):
    """State of the training of one problem, or of a batch.

    `mean` and `square` are Adam's running moments of the gradient. If the recipe has a guard,
    `undone` holds the number of rounds that were undone, and the first of them (−1 if none was).
    """

    parameters: Parameters
    mean: Parameters
    square: Parameters
    step: Any  # steps taken with these moments
    loss: Any  # mean objective over the batches of the latest round
    diverged_at: Any  # first round in which the objective was not finite, −1 if there is none
    undone: Any = ()


def fresh_state(
    parameters: Parameters, has_guard: bool = False, lanes: tuple[int, ...] = ()
) -> AdamState:
    """State before the first step, for a recipe with or without a guard.

    For the stacked parameters of k problems, `lanes` is (k,). For NumPy parameters, the other
    arrays are NumPy's too. The parameters are not copied.
    """
    arcs = parameters["arcs"]
    xp: Any = np if isinstance(arcs, np.ndarray) else jnp
    mean, square = (map_arrays(xp.zeros_like, parameters) for _ in range(2))
    step, undone = (xp.zeros(lanes, np.int32) for _ in range(2))
    diverged_at, first = (xp.full(lanes, -1, np.int32) for _ in range(2))
    loss = xp.full(lanes, np.nan, arcs.dtype)
    guard_state = (undone, first) if has_guard else ()
    return AdamState(parameters, mean, square, step, loss, diverged_at, guard_state)


def after_round(state: AdamState, round: Any, loss: Any) -> AdamState:
    """Record the mean objective of a round, and the round if it is the first non-finite one."""
    broken = (state.diverged_at < 0) & ~jnp.isfinite(loss)
    diverged_at = jnp.where(broken, round, state.diverged_at).astype(jnp.int32)
    return state._replace(loss=loss, diverged_at=diverged_at)


def adam_step(state: AdamState, gradient: Parameters, settings: Settings) -> AdamState:
    """Take a step of Adam; `order` uses the priority learning rate."""
    beta1, beta2 = settings["beta1"], settings["beta2"]
    step = state.step + 1
    mean_scale = 1 / (1 - beta1**step)
    square_scale = 1 / (1 - beta2**step)

    def moved(rate: Any) -> Any:
        return lambda w, m, s: (
            w - rate * mean_scale * m / (jnp.sqrt(s * square_scale) + EPSILON)
        ).astype(w.dtype)

    mean = jax.tree.map(lambda old, g: beta1 * old + (1 - beta1) * g, state.mean, gradient)
    square = jax.tree.map(lambda old, g: beta2 * old + (1 - beta2) * g * g, state.square, gradient)
    rates = {"order": settings["priority_learning_rate"]}
    parameters = {
        group: jax.tree.map(
            moved(rates.get(group, settings["learning_rate"])),
            state.parameters[group],
            mean[group],
            square[group],
        )
        for group in state.parameters
    }
    return state._replace(parameters=parameters, mean=mean, square=square, step=step)
