"""Training of a batch in pieces of about half a second, and checkpoints from which it resumes."""

from __future__ import annotations

import hashlib
import os
import re
import time
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag._version import __version__
from cosmodag.errors import DataError
from cosmodag.io.files import read_model, write_model
from cosmodag.model.structure import Parameters
from cosmodag.runtime.later import jax
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import lane_of, leaves, map_arrays
from cosmodag.solve.watch import Watch

SAVE_EVERY = 30.0
"""Seconds between two saved states: at most this much work is lost in a crash."""


class Trained(NamedTuple):
    """A batch after some rounds of training."""

    state: AdamState  # of all problems
    rounds: int  # rounds run
    marks: list[int]  # rounds done at each record
    losses: list[NDArray[Any]]  # of every problem at each record
    stopped: str | None = None  # why fewer rounds were run than requested


class Checkpoint:
    """Folder in which runs save their state, with one file per batch of problems.

    The name of a file is a digest of everything that the run depends on: data, settings, seeds,
    recipe, backend, version. A restarted run finds only its own file, and its result is
    bit-identical to that of an uninterrupted run, because no random number depends on where a run
    was interrupted. The folder is created if it does not exist.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"The checkpoint folder '{folder}' cannot be created: {error.strerror}."
            ) from error
        if not os.access(self._folder, os.W_OK):
            raise DataError(
                f"The checkpoint folder '{folder}' is not writable: choose another folder."
            )
        self._last_saved = time.monotonic()
        self._used: set[Path] = set()

    def resume(self, batch: Batch, fresh: AdamState, rounds: int) -> Trained:
        """Return the saved state of this run, or its initial state."""
        path = self._path(batch, rounds)
        self._used.add(path)
        if not path.exists():
            return Trained(fresh, 0, [], [])
        arrays, facts = read_model(path)
        number = count()

        def saved(leaf: Any) -> Any:
            return _checked(arrays[f"leaf.{next(number)}"], leaf, path)

        try:
            state = map_arrays(saved, fresh)
            losses = list(arrays["losses"])
            marks, done = [int(mark) for mark in arrays["marks"]], int(facts["done"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path) from error
        if not 0 <= done <= rounds or len(marks) != len(losses):
            raise _damaged(path)
        return Trained(state, done, marks, losses)

    def save(self, batch: Batch, trained: Trained, rounds: int, now: bool = False) -> None:
        """Save the state of a run if the last save is long enough ago, or if `now`."""
        if not now and time.monotonic() - self._last_saved < SAVE_EVERY:
            return
        arrays = {f"leaf.{k}": np.asarray(leaf) for k, leaf in enumerate(leaves(trained.state))}
        arrays["marks"] = np.array(trained.marks, np.int64)
        arrays["losses"] = np.reshape(trained.losses, (len(trained.losses), batch.size))
        write_model(self._path(batch, rounds), arrays, {"done": trained.rounds})
        self._last_saved = time.monotonic()

    def clear(self) -> None:
        """Remove the files of the runs, and their unfinished files after a crash."""
        for path in self._used:
            for unfinished in self._folder.glob(f".{path.name}.*.part"):
                unfinished.unlink(missing_ok=True)
            path.unlink(missing_ok=True)

    def _path(self, batch: Batch, rounds: int) -> Path:
        return self._folder / f"{_digest(batch, rounds)[:32]}.safetensors"


def _checked(saved: NDArray[Any], fresh: Any, path: Path) -> Any:
    """Return a saved array on the device of the fresh array; shape and type must agree."""
    if saved.shape != fresh.shape or saved.dtype != fresh.dtype:
        raise _damaged(path)
    if hasattr(fresh, "sharding"):  # a JAX array
        return jax.device_put(saved, fresh.sharding)
    return saved.copy()  # kernels change it in place


def _damaged(path: Path) -> DataError:
    return DataError(f"The file '{path}' is not a checkpoint, or it is damaged: remove it.")


def _digest(batch: Batch, rounds: int) -> str:
    """Digest of all inputs of a run."""
    digest = hashlib.sha256()
    # The address of a function differs between processes; its name does not.
    recipe = re.sub(r" at 0x[0-9a-f]+", "", repr(batch.recipe))
    facts = (__version__, recipe, batch.backend.name, str(batch.device), rounds)
    digest.update(repr(facts).encode())
    groups: list[tuple[str, Any]] = [("seeds", batch.seeds)]
    groups += sorted(batch.given.items()) + sorted(batch.which.items())
    groups += sorted(batch.settings.items())
    for name, values in groups:
        array = np.ascontiguousarray(values)
        digest.update(f"{name}{array.shape}{array.dtype}".encode())
        digest.update(array.tobytes())
    for leaf in leaves(batch.starts or {}):
        digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()


# Smallest number of records in the history of a run of at least as many rounds. They are equally
# spaced, and do not depend on the pieces of the run.
_RECORDS = 100

# Size in bytes above which the parameters of a problem stay on the device.
_HOST_BYTES = 2**32


def train(
    batch: Batch,
    state: AdamState,
    rounds: int,
    watch: Watch,
    first: int = 0,
    checkpoint: Checkpoint | None = None,
) -> Trained:
    """Run rounds first … first + rounds − 1 in pieces, and check the watch between them.

    A piece ends at the next record, or earlier if the rounds until then are expected to take longer
    than `batch.chunk_seconds`. The division into pieces does not change the result. The run ends
    early if the watch stops it or if every problem has diverged. With a checkpoint, it resumes from
    the saved state.
    """
    advance = batch.backend.advance
    between = max(1, rounds // _RECORDS)
    longest = 1
    resumed = Trained(state, 0, [], [])
    if checkpoint is not None:
        resumed = checkpoint.resume(batch, state, rounds)
        watch.advance(resumed.rounds * batch.size)
    state, done, marks, losses, _ = resumed
    stopped = watch.stop if done < rounds else None
    with batch.backend.limited(batch, state):
        while done < rounds and stopped is None:
            piece = min(longest, between - done % between, rounds - done)
            begin = time.perf_counter()
            state = advance(batch, state, first + done, first + done + piece)
            loss = np.array(state.loss)  # a copy, because some backends work in place
            longest = batch.steps_per_piece(piece, time.perf_counter() - begin)
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
                checkpoint.save(batch, Trained(state, done, marks, losses), rounds, now=ends)
            # Not in the checkpoint: a resumed run must have the records of an uninterrupted one.
            if (stopped or all_diverged) and not is_due:
                marks.append(first + done)
                losses.append(loss)
            if all_diverged:
                break
    return Trained(state, done, marks, losses, stopped)


def parameters_of(batch: Batch, trained: Trained) -> Parameters:
    """Stacked parameters of a trained batch, on the host.

    Very large parameters stay on the device instead, and Adam's moments are freed to make room for
    the read-out.
    """
    state = trained.state
    size = sum(leaf.nbytes for leaf in leaves(state.parameters)) / batch.size
    if size <= _HOST_BYTES:
        return map_arrays(np.asarray, batch.backend.parameters(batch, state))
    for moment in leaves((state.mean, state.square)):
        getattr(moment, "delete", lambda: None)()  # NumPy arrays have no such method
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
