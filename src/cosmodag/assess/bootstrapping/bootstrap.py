"""The bootstrap: probabilities of arcs, from fits to resamples of the rows."""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from cosmodag.assess.bootstrapping.bootstrap_result import BootstrapResult
from cosmodag.assess.bootstrapping.resample_fits import SAMPLES, Fit, fit_resamples, quiet_clone
from cosmodag.errors import (
    CosmodagWarning,
    DataError,
    DataWarning,
    InterruptedWarning,
    ModelWarning,
    SharesWarning,
)
from cosmodag.fit.input_checks import Seeds, check_choice, check_count, check_number
from cosmodag.fit.pipeline import FitTask, fit_prepared
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.time.unroll import InTime
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.graph.texts import counted
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.runtime.warning_filters import ignoring, recording
from cosmodag.solve.watch import Watch


class NoResampleError(DataError):
    """No resample was fitted, so that there are no probabilities."""


class BootstrapInterrupt(KeyboardInterrupt):
    """Ctrl-C during a bootstrap; ``result`` holds the resamples that were fitted before."""

    def __init__(self, result: BootstrapResult) -> None:
        super().__init__(result)  # as an argument, which pickling needs
        self.result = result

    def __str__(self) -> str:
        return "The bootstrap was interrupted; its result has the resamples fitted so far."


# Number of resamples in one task of a cluster: the fits then take much longer than sending the
# table.
_CHUNK = 8

# Remaining seconds after the time limit, which must be positive.
_NO_TIME = 1e-9


def bootstrap(
    model: StructureLearner,
    X: Any,
    n: int = 200,
    *,
    interventions: Any = None,
    series: Any = None,
    time: Any = None,
    regimes: Any = None,
    find_targets: bool = True,
    sample: str = "bootstrap",
    engine: str = "local",
    address: str | None = None,
    random_state: Any = 0,
    max_time: float | None = None,
    verbose: bool = True,
) -> BootstrapResult:
    """Fit a learner to many resamples of a table, and count how often each edge is found.

    A single fit does not show how much its arcs depend on the rows that happened to be measured.
    All resamples are trained as one batch of problems, each with its own row counts, and each is
    refined like a fit of the learner.

    A learner that chooses its noise model (``noise="auto"``) chooses it once, on the whole table,
    since repeated rows look less normal than the table. The equivalence class of each fit is
    counted: an arrow counts as directed if knowledge, interventions, the shape of the graph or the
    noise model direct it (``arrow_basis_``), but not if its reverse fits as well.

    Parameters
    ----------
    model : StructureLearner
        Any learner with its parameters; it is not changed, fitted or not.
    X : table
        As for ``fit``. Missing values are treated once, by the parameters of the model, and not
        again in each resample.
    n : int
        Number of resamples.
    interventions : optional
        What was set in each row, as for ``fit``.
    series, time : optional
        With `lags`, as for ``fit``. Resamples consist of blocks of n^(1/3) successive windows.
    regimes, find_targets : optional
        The regime of each row, as for ``fit``. Rows are drawn within regimes. Targets are found
        once, on the whole table: probabilities do not include the uncertainty of targets.
    sample : {"bootstrap", "half"}
        As many rows as the table has, drawn with replacement; or half of the rows, without
        replacement, which is more cautious.
    engine : {"local", "ray"}
        Fit on this machine, or distribute resamples over a Ray cluster.
    address : str, optional
        Address of the cluster.
    random_state : int, Generator, RandomState or None
        The same number gives the same result.
    max_time : float, optional
        Seconds after which no further resample is fitted: the result has those fitted so far, with
        a warning.
    verbose : bool
        Whether to show progress on stderr if that is a terminal.

    Raises
    ------
    BootstrapInterrupt
        After Ctrl-C: a `KeyboardInterrupt` whose ``result`` has the resamples fitted so far.

    Examples
    --------
    >>> from cosmodag import OrderSearch, simulate
    >>> from cosmodag.assess.bootstrapping import bootstrap
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> result = bootstrap(OrderSearch(), data.X, n=20, random_state=0)
    >>> result.noise
    'equal-variance'
    >>> sure = result.direction_probabilities >= 0.95
    >>> int((sure & data.graph).sum()), int((sure & ~data.graph).sum())
    (20, 0)
    """
    check_count("n", n)
    check_choice("sample", sample, SAMPLES)
    check_number("max_time", max_time, low=0.0, also=(None,))
    seeds = Seeds(random_state, n)
    learner = quiet_clone(model, verbose)
    with recording() as of_table:
        given = prepare(learner, X, interventions, regimes, find_targets, InTime(series, time))
    for one in of_table:
        warnings.warn(one.message, one.category, stacklevel=2)
    d = len(given.names)
    if d > DENSE_LIMIT:
        raise DataError(
            "A bootstrap keeps a probability for each pair of variables, which takes too much "
            f"memory for {d:,} variables: choose at most {DENSE_LIMIT:,} columns."
        )
    names: list[Any] = given.names if given.is_named else list(range(d))
    result = BootstrapResult(names, seeds, sample, given.known.bounds, given.target_sets)
    begin = monotonic()
    label = f"bootstrap of {type(model).__name__}"
    try:
        result.doubts = _decide(result, learner, of_table, given, max_time)
        if result.doubts:
            note = f"Shares of resamples are {result.note}."
            warnings.warn(note, SharesWarning, stacklevel=2)
        remaining = None if max_time is None else max(max_time + begin - monotonic(), _NO_TIME)
        # Warnings of single resamples repeat those of the fit to the whole table.
        with Watch(n, label, remaining, verbose) as watch, ignoring(CosmodagWarning):
            if engine == "local":
                fits = fit_resamples(learner, given, seeds, sample, watch)
            else:
                fits = _on_cluster(learner, given, seeds, sample, watch, engine, address)
            for fit in fits:
                result.add(fit)
            result.stopped = watch.stop if len(result.done) < n else None
    except KeyboardInterrupt:
        result.stopped = "interrupt"
        raise BootstrapInterrupt(result) from None
    finally:
        result.done.sort()
    _warn_if_short(result)
    return result


def _decide(
    result: BootstrapResult,
    learner: StructureLearner,
    of_table: Sequence[warnings.WarningMessage],
    given: Prepared,
    max_time: float | None,
) -> list[str]:
    """Choose the noise model of all resamples by a fit to the whole table; return the doubts.

    A doubt is a `ModelWarning`, or a `DataWarning` of this fit that is not among the warnings
    `of_table`. A learner with a given noise model is fitted too, since the table may contradict its
    assumption; one that makes no choices is not fitted (`FittedGraph.decides`). All resamples are
    fitted with the choices for the whole table: the noise, the loss of networks, curves or lines.
    """
    of_fit: list[warnings.WarningMessage] = []
    if learner.decides(len(result.names)):
        with recording() as of_fit:
            whole = _fitted(learner, given, max_time, result.seeds[0])
        decided = whole.decided()
        if "noise" in decided:
            result.noise, result.noise_reason = whole.noise_, whole.noise_reason_
        learner.set_params(**decided)
    before = {str(one.message) for one in of_table}
    doubts = [
        str(one.message)
        for one in [*of_table, *of_fit]
        if issubclass(one.category, ModelWarning)
        or (one.category is DataWarning and str(one.message) not in before)
    ]
    return list(dict.fromkeys(doubts))


def _fitted(
    learner: StructureLearner, given: Prepared, max_time: float | None, seed: int
) -> StructureLearner:
    """Fit a copy of the learner to the whole table, with `seed` unless it has one."""
    whole: StructureLearner = clone(learner)
    parameters = whole.get_params(deep=False)
    if not isinstance(parameters.get("random_state", 0), int | np.integer):
        whole.set_params(random_state=seed)
    if max_time is not None and "max_time" in parameters:
        whole.set_params(max_time=max_time)
    return whole.take(*fit_prepared([FitTask(whole, given)]))


def _on_cluster(
    learner: StructureLearner,
    given: Any,
    seeds: Sequence[int],
    sample: str,
    watch: Watch,
    engine: str,
    address: str | None,
) -> Iterator[Fit]:
    """Fit resamples on a cluster, a few per task; those of a failed task are left out."""
    from cosmodag.runtime.engines import Failure, each

    chunks = [range(k, min(k + _CHUNK, len(seeds))) for k in range(0, len(seeds), _CHUNK)]
    function = partial(_fit_chunk, learner, given, seeds, sample)
    for index, fits in each(function, chunks, engine=engine, address=address):
        if not isinstance(fits, Failure):
            yield from fits
        watch.advance(len(chunks[index]))
        if watch.stop is not None:
            return


def _fit_chunk(
    learner: StructureLearner,
    given: Any,
    seeds: Sequence[int],
    sample: str,
    places: Sequence[int],
) -> list[Fit]:
    """Fit the resamples at some `places` of the list of seeds."""
    with Watch(len(places), "", show=False) as watch:
        some = [seeds[place] for place in places]
        fits = fit_resamples(learner, given, some, sample, watch)
        return [fit._replace(place=places[fit.place]) for fit in fits]


def _warn_if_short(result: BootstrapResult) -> None:
    """Warn if resamples are missing, with the reason; raise an error if all are missing."""
    done, asked = len(result.done), len(result.seeds)
    if done == asked:
        return
    is_late = result.stopped == "time"
    cause = (
        "max_time was reached"
        if is_late
        else "the others diverged, were lost, or had a variable that was set or missing in all rows"
    )
    if not done:
        raise NoResampleError(f"None of {counted(asked, 'resample')} was fitted, because {cause}.")
    warnings.warn(
        f"{done} of {counted(asked, 'resample')} were fitted, because {cause}: the probabilities "
        "are fractions of these.",
        InterruptedWarning,
        stacklevel=3,
    )
