"""Fits to resamples of one table: learnt as one batch, refined side by side."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.dag.basis import FREE, SCALE
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import Prepared
from cosmodag.learners.base import StructureLearner
from cosmodag.solve.machine.threads import blas_threads, cores
from cosmodag.solve.watch import Watch
from cosmodag.stability.resamples import block_length, rows_of

__all__ = ["Fit", "fit_resamples", "take_fit"]


class Fit(NamedTuple):
    """What a learner found in one resample."""

    place: int  # which resample
    arcs: NDArray[np.bool_]  # (d, d)
    # (d, d): the arcs among them whose direction rests on something; the reverse of the others fits
    # as well, or only units exclude it.
    directed: NDArray[np.bool_]
    positions: NDArray[np.intp]  # (d,): the place of each variable in the causal order


def take_fit(place: int, dag: FittedDAG) -> Fit:
    """Take arcs, directions and order of one fit."""
    arcs, directed = np.zeros((2, dag.d, dag.d), np.bool_)
    arcs[dag.edges.row, dag.edges.col] = True
    directed[dag.edges.row, dag.edges.col] = [
        basis not in (FREE, SCALE) for basis in dag.arrow_basis
    ]
    return Fit(place, arcs, directed, np.argsort(dag.order))


def fit_resamples(
    model: StructureLearner,
    given: Prepared,
    seeds: Sequence[int],
    sample: str,
    watch: Watch,
    take: Callable[[int, FittedDAG], Any] = take_fit,
) -> Iterator[Any]:
    """Fit a learner to resamples of a table, and yield what each found as soon as it is ready.

    The seed of a resample decides its rows and whatever the learner draws. Fits that the watch
    stopped, and those that diverged, are left out. `take` is called with the place of a resample
    and its fit, in the thread that fitted it; few fits are in memory at once.
    """
    n = len(given.data)
    block = 1 if given.window is None else block_length(n, given.window.lags)
    groups = None if given.regimes is None else given.regimes.labels
    draws = [partial(rows_of, sample, n, seed, block, groups) for seed in seeds]
    tasks = [
        FitTask(_seeded(model, seed), replace(given, draw=draw))
        for seed, draw in zip(seeds, draws, strict=True)
    ]
    with blas_threads(1):
        outcomes = fit_many(
            tasks, watch, take=lambda place, result, _: take(place, result.dag), threads=cores()
        )
        yield from (outcome.taken for outcome in outcomes if outcome.taken is not None)


def _seeded(model: StructureLearner, seed: int) -> StructureLearner:
    """Copy a learner for one resample, of which nothing is kept on disk."""
    one = copy(model)
    resampled = {"random_state": seed, "checkpoint": None}
    for name, value in resampled.items():
        if hasattr(one, name):
            setattr(one, name, value)
    return one
