"""Checkpoints: the state of a long run, saved at intervals, from which it resumes after a crash."""

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
from cosmodag.later import jax
from cosmodag.solve.problems import Batch
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import leaves, map_arrays

SECONDS = 30.0
"""Seconds between two saved states, the most that a crash can lose."""


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
    recipe, backend, version. A restarted run finds only its own file and continues bit for bit as
    if it had not been interrupted, because no random number depends on where a run was interrupted.
    The folder is created if it does not exist.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"checkpoint '{folder}' cannot be made: {error.strerror}.") from error
        if not os.access(self._folder, os.W_OK):
            raise DataError(f"checkpoint '{folder}' cannot be written to: choose another folder.")
        self._latest = time.monotonic()
        self._used: set[Path] = set()

    def resume(self, batch: Batch, fresh: AdamState, rounds: int) -> Trained:
        """Return the saved state of this run, or its initial state."""
        path = self._path(batch, rounds)
        self._used.add(path)
        if not path.exists():
            return Trained(fresh, 0, [], [])
        arrays, facts = read_model(path)
        number = count()

        def kept(leaf: Any) -> Any:
            return _like(arrays[f"leaf.{next(number)}"], leaf, path)

        try:
            state = map_arrays(kept, fresh)
            losses = list(arrays["losses"])
            marks, done = [int(mark) for mark in arrays["marks"]], int(facts["done"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path) from error
        if not 0 <= done <= rounds or len(marks) != len(losses):
            raise _damaged(path)
        return Trained(state, done, marks, losses)

    def keep(self, batch: Batch, trained: Trained, rounds: int, now: bool = False) -> None:
        """Save the state of the run if the interval has passed, or if `now`."""
        if not now and time.monotonic() - self._latest < SECONDS:
            return
        arrays = {f"leaf.{k}": np.asarray(leaf) for k, leaf in enumerate(leaves(trained.state))}
        arrays["marks"] = np.array(trained.marks, np.int64)
        arrays["losses"] = np.reshape(trained.losses, (len(trained.losses), batch.size))
        write_model(self._path(batch, rounds), arrays, {"done": trained.rounds})
        self._latest = time.monotonic()

    def clear(self) -> None:
        """Remove the files of finished runs, and unfinished files of killed ones."""
        for path in self._used:
            for unfinished in self._folder.glob(f".{path.name}.*.part"):
                unfinished.unlink(missing_ok=True)
            path.unlink(missing_ok=True)

    def _path(self, batch: Batch, rounds: int) -> Path:
        return self._folder / f"{_digest(batch, rounds)[:32]}.safetensors"


def _like(kept: NDArray[Any], fresh: Any, path: Path) -> Any:
    """Return a saved array on the device of the fresh value; shape and type must match."""
    if kept.shape != fresh.shape or kept.dtype != fresh.dtype:
        raise _damaged(path)
    if hasattr(fresh, "sharding"):  # JAX's
        return jax.device_put(kept, fresh.sharding)
    return kept.copy()  # kernels change it in place


def _damaged(path: Path) -> DataError:
    return DataError(f"'{path}' is not a checkpoint, or it is damaged: remove it.")


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
