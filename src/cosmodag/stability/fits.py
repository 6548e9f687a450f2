"""Fits to resamples of one table: trained as one batch, refined side by side."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DivergenceError
from cosmodag.fit.basis import FREE, SCALE
from cosmodag.fit.checks import seeds_from
from cosmodag.learners.base import Learnt, Prepared, StructureLearner
from cosmodag.learners.trained.base import TrainedLearner
from cosmodag.solve.machine import blas_threads, cores
from cosmodag.solve.many import Solved, solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.threads import as_completed
from cosmodag.solve.watch import Watch
from cosmodag.stability.resamples import counts_of, rows_of

__all__ = ["Fit", "fit_resamples"]

Finish = Callable[[], "Fit | None"]


class Fit(NamedTuple):
    """What a learner found in one resample.

    Attributes
    ----------
    place
        Which resample.
    arcs
        (d, d) bool.
    directed
        (d, d) bool: the arcs among them whose direction rests on something; the reverse of the
        others fits as well, or only units speak against it.
    positions
        (d,): the place of each variable in the causal order.
    """

    place: int
    arcs: NDArray[np.bool_]
    directed: NDArray[np.bool_]
    positions: NDArray[np.intp]


class _Quiet(Watch):
    """Says when to stop as another watch does, and shows nothing."""

    def __init__(self, other: Watch) -> None:
        self._other = other

    @property
    def stop(self) -> str | None:
        return self._other.stop

    def begin(self, total: int, label: str | None = None) -> None:
        pass

    def advance(self, done: int, note: str = "") -> None:
        pass


def fit_resamples(
    model: StructureLearner, given: Prepared, seeds: Sequence[int], sample: str, watch: Watch
) -> Iterator[Fit]:
    """Fit a learner to resamples of a table, and hand out what was found as it comes.

    Parameters
    ----------
    model : StructureLearner
        With the table begun, so that it knows names and preparation; it is not changed.
    given : Prepared
        The whole table.
    seeds : sequence of int
        One for each resample: decides its rows and whatever the learner draws.
    sample : {"bootstrap", "half"}
    watch : Watch
        Fits that it stopped short are left out, and so are those that diverged.
    """
    tasks = (
        _trained(model, given, seeds, sample, watch)
        if isinstance(model, TrainedLearner)
        else _alone(model, given, seeds, sample, watch)
    )
    with blas_threads(1):
        for fit in as_completed(tasks, cores()):
            if fit is not None:
                yield fit


def _alone(
    model: StructureLearner, given: Prepared, seeds: Sequence[int], sample: str, watch: Watch
) -> Iterator[Finish]:
    """Tasks of a learner that trains nothing: each learns from the rows of its resample."""

    def learn(one: StructureLearner, some: Prepared) -> Learnt:
        return one._learn(some, _Quiet(watch))

    watch.begin(len(seeds))
    for place, seed in enumerate(seeds):
        if watch.stop is not None:
            return
        watch.advance(1)
        yield partial(_finished, model, given, place, seed, sample, watch, learn)


def _trained(
    model: TrainedLearner, given: Prepared, seeds: Sequence[int], sample: str, watch: Watch
) -> Iterator[Finish]:
    """Tasks that are left after training: all starts of all resamples are one batch of problems.

    A resample is a column of row counts; its rows are taken only while it is refined.
    """
    n, d = given.data.shape
    problems: list[Problem] = []
    firsts = model.problems_for(given.data, given.known)
    for seed in seeds:
        counted = counts_of(sample, n, seed)
        for first, start in zip(firsts, seeds_from(seed, len(firsts)), strict=True):
            both = counted if first.counted is None else counted * first.counted
            problems.append(replace(first, seed=start, counted=both))
    watch.begin(model._length(n, d) * len(problems))
    solver = model.solver_for(n, d)
    groups: dict[int, list[Solved]] = {}
    for solved in solve_many(solver, problems, device=model._device, watch=watch):
        if solved.solution.stopped is not None:
            continue
        place = solved.place // len(firsts)
        group = groups.setdefault(place, [])
        group.append(solved)
        if len(group) == len(firsts):
            learn = partial(_read, groups.pop(place), problems)
            yield partial(_finished, model, given, place, seeds[place], sample, watch, learn)


def _read(
    group: list[Solved], problems: list[Problem], one: TrainedLearner, some: Prepared
) -> Learnt:
    return one._learnt(group, problems)


def _finished(
    model: StructureLearner,
    given: Prepared,
    place: int,
    seed: int,
    sample: str,
    watch: Watch,
    learn: Callable[..., Learnt],
) -> Fit | None:
    """Learn from one resample and refine; None where that was stopped, or diverged."""
    one = copy(model)
    if hasattr(one, "random_state"):
        one.random_state = seed
    some = given.of_rows(rows_of(sample, len(given.X), seed))
    try:
        one._finish(some, learn(one, some), _Quiet(watch))
    except DivergenceError:
        return None
    if one.stopped_ is not None:
        return None
    arcs, directed = np.zeros((2, one.n_features_in_, one.n_features_in_), np.bool_)
    edges = one.edges_
    arcs[edges.row, edges.col] = True
    directed[edges.row, edges.col] = [basis not in (FREE, SCALE) for basis in one.arrow_basis_]
    return Fit(place, arcs, directed, np.argsort(one._order))
