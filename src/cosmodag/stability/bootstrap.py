"""The bootstrap: probabilities of arcs, from fits to resamples of the rows."""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from cosmodag.errors import (
    CosmodagWarning,
    DataError,
    DataWarning,
    InterruptedWarning,
    ModelWarning,
)
from cosmodag.fit.checks import check_choice, check_count, seeds_from
from cosmodag.fit.pipeline import FitTask, fit_prepared
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.time.unroll import InTime
from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.learners.base import StructureLearner
from cosmodag.solve.watch import Watch
from cosmodag.stability.fits import SAMPLES, Fit, fit_resamples
from cosmodag.stability.result import BootstrapResult
from cosmodag.warning_filters import ignoring


class NoResampleError(DataError):
    """No resample was fitted, so that there are no shares."""


class BootstrapInterrupt(KeyboardInterrupt):
    """Ctrl-C during a bootstrap; ``result`` holds the resamples that were fitted before."""

    def __init__(self, result: BootstrapResult) -> None:
        super().__init__(result)  # as an argument, which pickling needs
        self.result = result


# Resamples that one task of a cluster fits: sending the table then costs little beside the fits.
_TOGETHER = 8

# Seconds that are left once the time limit has passed; a limit must be positive.
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
    random_state: Any = None,
    max_time: float | None = None,
    verbose: bool = True,
) -> BootstrapResult:
    """Fit a learner to many resamples of a table, and count in how many each edge is found.

    One fit does not show how much its arcs depend on the rows that happened to be measured. All
    resamples are trained as one batch of problems, a resample being a column of row counts, and
    each is refined as a fit of the learner is.

    A learner that decides itself what to assume of the noise (``noise="auto"``) decides once, on
    the whole table: repeated rows look less normal than the table is. Resamples are counted as
    equivalence classes: an arrow counts as directed where knowledge, interventions, the shape of
    the graph or the noise model decide it (``arrow_basis_``), and not where its reverse fits as
    well.

    Parameters
    ----------
    model : StructureLearner
        Any learner with its parameters; it is not changed, fitted or not.
    X : table
        As for ``fit``. Missing values are treated once, by the parameters of the model, and not
        again in each resample.
    n : int
        Resamples.
    interventions : optional
        What was set in each row, as for ``fit``.
    series, time : optional
        With `lags`, as for ``fit``. Blocks of successive windows are drawn, of n^(1/3) windows.
    regimes, find_targets : optional
        The regime of each row, as for ``fit``. Rows are drawn within regimes. Targets are found
        once, on the whole table: probabilities do not include the uncertainty of targets.
    sample : {"bootstrap", "half"}
        As many rows as there are, with replacement; or half of them, without: more cautious.
    engine : {"local", "ray"}
        This machine, or a Ray cluster, over which resamples are spread.
    address : str, optional
        Of the cluster.
    random_state : int, Generator, RandomState or None
        The same number gives the same result.
    max_time : float, optional
        Seconds after which no more is fitted: the result holds what is done, with a warning.
    verbose : bool
        Show progress on stderr when that is a terminal.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    BootstrapInterrupt
        After Ctrl-C: a `KeyboardInterrupt` whose ``result`` holds what was done before.

    Examples
    --------
    >>> from cosmodag import OrderSearch, simulate
    >>> from cosmodag.stability import bootstrap
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
    seeds = seeds_from(random_state, n)
    begun = clone(model)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        given = prepare(begun, X, interventions, regimes, find_targets, InTime(series, time))
    for one in noted:
        warnings.warn(one.message, one.category, stacklevel=2)
    d = len(given.names)
    if d > DENSE_LIMIT:
        raise DataError(
            f"A bootstrap keeps a probability for each pair of variables, too many for the "
            f"{d:,} there are: choose at most {DENSE_LIMIT:,} columns."
        )
    names: list[Any] = given.names if given.is_named else list(range(d))
    result = BootstrapResult(names, seeds, sample, given.known.required)
    begin = monotonic()
    result.doubts = _decide(result, begun, noted, given, max_time)
    left = None if max_time is None else max(max_time + begin - monotonic(), _NO_TIME)
    label = f"bootstrap of {type(model).__name__}"
    try:
        # Warnings of single resamples repeat those of the fit to the whole table.
        with Watch(n, label, left, verbose) as watch, ignoring(CosmodagWarning):
            if engine == "local":
                fits = fit_resamples(begun, given, seeds, sample, watch)
            else:
                fits = _on_cluster(begun, given, seeds, sample, watch, engine, address)
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
    begun: StructureLearner,
    noted: Sequence[warnings.WarningMessage],
    given: Prepared,
    max_time: float | None,
) -> list[str]:
    """Decide on the whole table about the noise of all resamples, and list doubts about it.

    A doubt is a warning of this fit, by its name, or a finding of it that the table alone did not
    give. A learner whose noise is given has nothing to decide, but the table may contradict it. A
    learner that assumes nothing about the noise is not fitted. One that chooses its loss by the
    noise (`CosmoMLP`) trains all resamples by the loss of the whole table.
    """
    more: list[warnings.WarningMessage] = []
    assumes_noise = hasattr(begun, "noise") and begun.refinement_for(len(result.names)) is not None
    if assumes_noise or getattr(begun, "loss", None) == "auto":
        with warnings.catch_warnings(record=True) as more:
            warnings.simplefilter("always", CosmodagWarning)
            whole = _fitted(begun, given, max_time, result.seeds[0])
        if whole.stopped_ == "interrupt":
            raise KeyboardInterrupt
        if assumes_noise:
            result.noise, result.noise_reason = whole.noise_, whole.noise_reason_
        begun.set_params(**whole.decided())
    before = {str(one.message) for one in noted}
    doubts = [
        str(one.message)
        for one in [*noted, *more]
        if issubclass(one.category, ModelWarning)
        or (one.category is DataWarning and str(one.message) not in before)
    ]
    return list(dict.fromkeys(doubts))


def _fitted(
    begun: StructureLearner, given: Prepared, max_time: float | None, seed: int
) -> StructureLearner:
    """Fit the whole table within the time there is, with a seed where the model has none."""
    whole: StructureLearner = clone(begun)
    parameters = whole.get_params(deep=False)
    if not isinstance(parameters.get("random_state", 0), int | np.integer):
        whole.set_params(random_state=seed)
    if max_time is not None and "max_time" in parameters:
        whole.set_params(max_time=max_time)
    return whole.take(*fit_prepared([FitTask(whole, given)]))


def _on_cluster(
    begun: StructureLearner,
    given: Any,
    seeds: list[int],
    sample: str,
    watch: Watch,
    engine: str,
    address: str | None,
) -> Iterator[Fit]:
    """Fit resamples on a cluster, a few per task; those of a task that fails are missing."""
    from cosmodag.engines import Failure, each

    chunks = [range(k, min(k + _TOGETHER, len(seeds))) for k in range(0, len(seeds), _TOGETHER)]
    function = partial(_fit_chunk, begun, given, seeds, sample)
    for index, fits in each(function, chunks, engine=engine, address=address):
        if not isinstance(fits, Failure):
            yield from fits
        watch.advance(len(chunks[index]))
        if watch.stop is not None:
            return


def _fit_chunk(
    begun: StructureLearner, given: Any, seeds: list[int], sample: str, places: Sequence[int]
) -> list[Fit]:
    """Fit some of the resamples; their places are those among all."""
    with Watch(len(places), "", show=False) as watch:
        some = [seeds[place] for place in places]
        fits = fit_resamples(begun, given, some, sample, watch)
        return [fit._replace(place=places[fit.place]) for fit in fits]


def _warn_if_short(result: BootstrapResult) -> None:
    """Warn that resamples are missing, and why; raise an error where none is left."""
    done, asked = len(result.done), len(result.seeds)
    if done == asked:
        return
    is_late = result.stopped == "time"
    cause = "max_time was reached" if is_late else "the others diverged or were lost"
    if not done:
        raise NoResampleError(f"None of {asked} resamples was fitted, because {cause}.")
    warnings.warn(
        f"{done} of {asked} resamples were fitted, because {cause}: the probabilities are shares "
        "of those.",
        InterruptedWarning,
        stacklevel=3,
    )
