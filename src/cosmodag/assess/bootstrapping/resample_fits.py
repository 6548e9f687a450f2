"""Fits to resamples of one table: rows drawn from seeds, one batch of training, and the fits."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.fit.dag.basis import FREE, SCALE
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.pipeline import FitTask, fit_many
from cosmodag.fit.prepare import Prepared
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.runtime.threads import blas_threads, cores
from cosmodag.solve.watch import Watch

# Draws of row numbers, by name: n of n with replacement, or half of them without.
SAMPLES: dict[str, Callable[[int, np.random.Generator], NDArray[np.intp]]] = {
    "bootstrap": lambda n, random: random.integers(n, size=n),
    "half": lambda n, random: random.permutation(n)[: max(2, n // 2)],
}

# Largest number of tasks that are made before the first is fitted: 20 million took 66 s and 6 GB.
_ROUND = 2_000


def rows_of(
    sample: str, n: int, seed: int, block: int = 1, groups: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Draw the rows of one resample, sorted; within groups (n,) of rows, if these are given.

    With a `block` greater than one, blocks of successive rows are drawn: they preserve dependence
    between the rows of a time series that the equations do not explain.

    Examples
    --------
    >>> rows_of("bootstrap", 6, seed=0).tolist()
    [0, 1, 1, 3, 3, 5]
    """
    random = np.random.default_rng(seed)
    draw = SAMPLES[sample]
    if block > 1 and sample == "bootstrap":  # blocks start anywhere; row 0 follows the last row
        starts = random.integers(n, size=-(-n // block))
        return np.sort((starts[:, None] + np.arange(block)).ravel()[:n] % n)
    if block > 1:
        parts = np.array_split(np.arange(n), max(-(-n // block), 2))
        chosen = random.permutation(len(parts))[: max(1, len(parts) // 2)]
        return np.sort(np.concatenate([parts[place] for place in chosen]))
    if groups is None:
        return np.sort(draw(n, random))
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.sort(np.concatenate([own[draw(len(own), random)] for own in members]))


def block_length(n: int, lags: int) -> int:
    """Compute the number of successive windows in a block: n^(1/3), at least a window's times.

    Examples
    --------
    >>> block_length(1000, 2), block_length(20, 5)
    (10, 6)
    """
    return max(int(np.cbrt(n)), lags + 1)


class Fit(NamedTuple):
    """Arcs, directions and order of the fit to one resample."""

    place: int  # index of the resample
    arcs: NDArray[np.bool_]  # (d, d)
    # (d, d): arcs whose direction has a basis; the reverse of the others fits as well, or only the
    # units exclude it.
    directed: NDArray[np.bool_]
    positions: NDArray[np.intp]  # (d,): position of each variable in the causal order


def _take_fit(place: int, dag: FittedDAG) -> Fit:
    directed = np.zeros((dag.d, dag.d), np.bool_)
    directed[dag.edges.row, dag.edges.col] = [
        basis not in (FREE, SCALE) for basis in dag.arrow_basis
    ]
    return Fit(place, dag.arcs.toarray(), directed, np.argsort(dag.order))


def fit_resamples(
    model: StructureLearner,
    given: Prepared,
    seeds: Sequence[int],
    sample: str,
    watch: Watch,
    take: Callable[[int, FittedDAG], Any] = _take_fit,
) -> Iterator[Any]:
    """Fit a learner to resamples of a table, and yield the result of each as soon as it is ready.

    The seed of a resample determines its rows and the random numbers of the learner. Fits that the
    watch stopped, or that diverged, are left out, and so are resamples in which a variable was set
    or is missing in all rows (or, with a required cause, in all but one). `take` is called with the
    index of a resample and its DAG, in the thread that fitted it, and its return value is yielded:
    few DAGs are in memory at once. Tasks are made for at most `_ROUND` resamples at a time.
    """
    for begin in range(0, len(seeds), _ROUND):
        yield from _fit_round(
            model, given, seeds[begin : begin + _ROUND], sample, watch, take, begin
        )
        if watch.stop is not None:
            return


def _fit_round(
    model: StructureLearner,
    given: Prepared,
    seeds: Sequence[int],
    sample: str,
    watch: Watch,
    take: Callable[[int, FittedDAG], Any],
    begin: int,
) -> Iterator[Any]:
    """Fit the resamples of some seeds, whose indices start with `begin`; see `fit_resamples`."""
    n = len(given.data)
    block = 1 if given.window is None else block_length(n, given.window.lags)
    groups = None if given.regimes is None else given.regimes.labels
    draws = [partial(rows_of, sample, n, seed, block, groups) for seed in seeds]
    counted, required = given.known.counted, given.known.required
    # The weight of a required arc cannot be learnt from one row.
    fewest = 1 if required is None else np.where(required.any(axis=0), 2, 1)
    places = [
        place
        for place, draw in enumerate(draws)
        if counted is None or (np.count_nonzero(counted[draw()], axis=0) >= fewest).all()
    ]
    if not places:
        return
    tasks = []
    for place in places:
        if watch.stop is not None:
            return
        tasks.append(FitTask(_seeded(model, seeds[place]), replace(given, draw=draws[place])))
    with blas_threads(1):
        outcomes = fit_many(
            tasks,
            watch,
            take=lambda place, result, _: take(begin + places[place], result.dag),
            threads=cores(),
        )
        for outcome in outcomes:
            if outcome.stopped is not None:  # so are all that follow, and there may be very many
                return
            if outcome.taken is not None:
                yield outcome.taken


def quiet_clone(model: StructureLearner, verbose: bool) -> StructureLearner:
    """Copy a learner without its fit; unless `verbose`, its own fits show no progress either."""
    one: StructureLearner = clone(model)
    if not verbose and hasattr(one, "verbose"):  # the constructor of a user's class may lack it
        one.verbose = False
    return one


def _seeded(model: StructureLearner, seed: int) -> StructureLearner:
    """Copy a learner for one resample: with its seed, and without checkpoints."""
    one = copy(model)
    for name, value in {"random_state": seed, "checkpoint": None}.items():
        if hasattr(one, name):
            setattr(one, name, value)
    return one
