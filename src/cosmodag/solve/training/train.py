"""Training of a batch in pieces of about half a second, between which a watch is checked."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.structure import Parameters
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.training.checkpoint import Checkpoint, Trained
from cosmodag.solve.trees import lane_of, leaves, map_arrays
from cosmodag.solve.watch import Watch

# The history has a record at each hundredth of a run, independently of the pieces.
_RECORDS = 100

# Above this size, the parameters of one problem stay on the device.
_HOST_BYTES = 2**32


def train(
    batch: Batch,
    state: AdamState,
    rounds: int,
    watch: Watch,
    first: int = 0,
    checkpoint: Checkpoint | None = None,
) -> Trained:
    """Run rounds first … first + rounds − 1, and check the watch between pieces.

    A piece ends at the next record, or after the number of rounds that should take the allowed
    seconds at the pace of the last piece. The division into pieces does not change the result. The
    run ends early if the watch stops it or if every problem has diverged. With a checkpoint, it
    resumes from the saved state.
    """
    advance = batch.backend.advance
    between = max(1, rounds // _RECORDS)
    stopped, most = watch.stop, 1
    before = Trained(state, 0, [], [])
    if checkpoint is not None:
        before = checkpoint.resume(batch, state, rounds)
        watch.advance(before.rounds * batch.size)
    state, done, marks, losses, _ = before
    with batch.backend.limited(batch, state):
        while done < rounds and stopped is None:
            piece = min(most, between - done % between, rounds - done)
            begin = time.perf_counter()
            state = advance(batch, state, first + done, first + done + piece)
            loss = np.array(state.loss)  # a copy: some backends work in place
            most = batch.steps_per_piece(piece, time.perf_counter() - begin)
            done += piece
            watch.advance(piece * batch.size, _note(loss))
            stopped = watch.stop if done < rounds else None
            all_diverged = bool(np.all(np.asarray(state.diverged_at) >= 0))
            is_due = done % between == 0 or done == rounds
            if is_due:
                marks.append(first + done)
                losses.append(loss)
            if checkpoint is not None:
                ends = stopped is not None or done == rounds
                checkpoint.keep(batch, Trained(state, done, marks, losses), rounds, now=ends)
            if (stopped or all_diverged) and not is_due:
                marks.append(first + done)
                losses.append(loss)
            if all_diverged:
                break
    return Trained(state, done, marks, losses, stopped)


def parameters_of(batch: Batch, trained: Trained) -> Parameters:
    """Stacked parameters of a trained batch.

    They are copied to the host, except very large ones: those stay on the device, and Adam's
    moments are freed to make room for the read-out.
    """
    state = trained.state
    size = sum(leaf.nbytes for leaf in leaves(state.parameters)) / batch.size
    if size <= _HOST_BYTES:
        return map_arrays(np.asarray, batch.backend.parameters(batch, state))
    for moment in leaves((state.mean, state.square)):
        getattr(moment, "delete", lambda: None)()  # NumPy's arrays have no such method
    return batch.backend.parameters(batch, state)


def solutions(batch: Batch, trained: Trained) -> list[Solution]:
    """Split a trained batch into the solutions of its problems."""
    parameters = parameters_of(batch, trained)
    diverged_at = np.asarray(trained.state.diverged_at)
    per_pass = batch.passes.rounds
    return [
        Solution(
            parameters=lane_of(parameters, lane),
            recipe=batch.recipe,
            iterations=trained.rounds,
            stopped=trained.stopped,
            diverged_at=int(diverged_at[lane]) if diverged_at[lane] >= 0 else None,
            history=[
                {"round": mark, "epoch": mark / per_pass, "loss": float(losses[lane])}
                for mark, losses in zip(trained.marks, trained.losses, strict=True)
            ],
        )
        for lane in range(batch.size)
    ]


def _note(losses: NDArray[Any]) -> str:
    finite = losses[np.isfinite(losses)]
    return f"loss {finite.mean():.4g}" if finite.size else ""
