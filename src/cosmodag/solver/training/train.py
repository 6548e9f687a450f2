"""Training a batch: the one loop, in chunks, under a watch."""

from typing import NamedTuple

import jax
import numpy as np

from cosmodag.solver.kernels.backends import choose
from cosmodag.solver.problems import Batch, Solution
from cosmodag.solver.training.adam import State
from cosmodag.solver.watch import Watch

__all__ = ["Trained", "solutions", "train"]

# Enough pieces for a smooth bar and a prompt answer to Ctrl-C, few enough to cost nothing.
_CHUNKS = 100

# Above this, one matrix of parameters is left on the device.
_HOST_BYTES = 2**32


class Trained(NamedTuple):
    """A batch after training.

    Attributes
    ----------
    state
        States of all problems.
    epochs
        Epochs run.
    stopped
        Why fewer were run than asked for, or None.
    marks, losses
        Epoch at the end of each chunk, and the loss of every problem there (chunks, k).
    """

    state: State
    epochs: int
    stopped: str | None
    marks: list[int]
    losses: list[np.ndarray]


def train(batch: Batch, state: State, epochs: int, watch: Watch, first: int = 0) -> Trained:
    """Run epochs first … first + epochs − 1, looking up between chunks.

    The chunks have a fixed length, so that a run is cut in the same places every time; it ends
    early when the watch says so or when every problem has diverged.
    """
    advance = choose(batch).advance
    length = max(1, epochs // _CHUNKS)
    marks: list[int] = []
    losses: list[np.ndarray] = []
    done, stopped = 0, watch.stop
    while done < epochs and stopped is None:
        step = min(length, epochs - done)
        state = advance(batch, state, first + done, first + done + step)
        done += step
        marks.append(first + done)
        losses.append(np.array(state.loss))  # a copy: some backends work in place
        watch.advance(step * batch.size, _note(losses[-1]))
        stopped = watch.stop if done < epochs else None
        if np.all(np.asarray(state.diverged_at) >= 0):
            break
    return Trained(state, done, stopped, marks, losses)


def solutions(batch: Batch, trained: Trained) -> list[Solution]:
    """Take a trained batch apart into the solutions of its problems.

    Parameters come to the host, except very large ones: those stay where they are, and Adam's
    moments are freed to make room for reading them out.
    """
    state = trained.state
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(state.parameters))
    if size > _HOST_BYTES:
        for moment in jax.tree.leaves((state.mean, state.square)):
            moment.delete()
    parameters = choose(batch).parameters(batch, state)
    if size <= _HOST_BYTES:
        parameters = jax.tree.map(np.asarray, parameters)
    diverged_at = np.asarray(trained.state.diverged_at)
    return [
        Solution(
            parameters=jax.tree.map(lambda stacked, lane=lane: stacked[lane], parameters),
            epochs=trained.epochs,
            stopped=trained.stopped,
            diverged_at=int(diverged_at[lane]) if diverged_at[lane] >= 0 else None,
            history=[
                {"epoch": mark, "loss": float(losses[lane])}
                for mark, losses in zip(trained.marks, trained.losses, strict=True)
            ],
        )
        for lane in range(batch.size)
    ]


def _note(losses: np.ndarray) -> str:
    finite = losses[np.isfinite(losses)]
    return f"loss {finite.mean():.4g}" if finite.size else ""
