"""The backend that implements everything: the reference loop, compiled by XLA on any device."""

from __future__ import annotations

from cosmodag.later import jax, jitted
from cosmodag.solve.backend import Backend
from cosmodag.solve.machine.devices import jax_device
from cosmodag.solve.problems import Batch
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.training.loop import run_many

__all__ = ["REFERENCE"]

_run_many = jitted(static_argnums=0, donate_argnums=1)(run_many)


def _advance(batch: Batch, state: AdamState, first: int, last: int) -> AdamState:
    with jax.default_device(jax_device(batch.device)):
        return _run_many(
            batch.recipe, state, batch.given, batch.which, batch.seeds, batch.settings, first, last
        )


# Five: S, W, the gradient, and temporaries of XLA; a test compares this with XLA's analysis.
REFERENCE = Backend("reference", lambda task: True, _advance, working_copies=5)
