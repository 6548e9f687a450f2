"""Steps of ``cosmodag fit``: choosing a learner, fitting it, and fitting resamples."""

import warnings
from typing import TYPE_CHECKING, Any

from cosmodag.cli.options.learners import option_of
from cosmodag.errors import DataError, InterruptedWarning

if TYPE_CHECKING:
    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.cli.options.fitting import ResultOptions, RowOptions
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.selection import Choice

# Parameters that can be set with --auto, which chooses all others.
_SET_WITH_AUTO = ("knowledge", "kinds", "missing", "max_time", "random_state")


def refuse_beside_auto(
    rows: "RowOptions",
    results: "ResultOptions",
    options: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Refuse options that --auto chooses itself, or that it does not support."""
    if rows.lags:
        raise DataError("--auto is for independent rows: leave --lags out, or name a --method.")
    if results.dry_run:
        raise DataError("--dry-run cannot predict what --auto would choose: leave one of them out.")
    for name, value in options.items():
        if value is not None and name not in _SET_WITH_AUTO:
            raise DataError(f"--auto chooses {name} itself: leave {option_of(name)} out.")
    if settings:
        raise DataError("--auto chooses the learner's parameters itself: leave --set out.")
    if rows.regimes is not None:
        raise DataError(
            "--auto does not compare regimes: choose a --method, or leave --regimes out."
        )


def choose_learner(
    data: "Table", fit_arguments: dict[str, Any], options: dict[str, Any], quiet: bool
) -> "Choice":
    """Choose and fit a learner."""
    from cosmodag import selection

    given = {name: value for name, value in options.items() if value is not None}
    given.setdefault("random_state", 0)
    return selection.auto(data, **fit_arguments, verbose=not quiet, **given)


def fitted(
    model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]
) -> "StructureLearner":
    """Fit a learner; after a first Ctrl-C or SIGTERM, return it with the graph learnt so far."""
    from cosmodag.solve.watch import note_interrupt

    try:
        return model.fit(data, **fit_arguments)
    except KeyboardInterrupt:
        if getattr(model, "stopped_", None) != "interrupt":
            raise
        note_interrupt()
        return model


def bootstrapped(
    model: "StructureLearner",
    data: "Table",
    fit_arguments: dict[str, Any],
    resamples: int | None,
    max_time: float | None,
    quiet: bool,
) -> "tuple[BootstrapResult | None, bool]":
    """Fit bootstrap resamples if requested, unless the fit itself was interrupted.

    A failure or an interruption of the resampling does not discard the fit. The second value is
    whether the fit or the resampling was interrupted.
    """
    if resamples is None or model.stopped_ == "interrupt":
        return None, model.stopped_ == "interrupt"
    from cosmodag.assess.bootstrapping.bootstrap import (
        BootstrapInterrupt,
        NoResampleError,
        bootstrap,
    )
    from cosmodag.solve.watch import note_interrupt

    try:
        result = bootstrap(
            model,
            data,
            resamples,
            **fit_arguments,
            random_state=model.random_state,
            max_time=max_time,
            verbose=not quiet,
        )
    except NoResampleError as error:
        warnings.warn(str(error), InterruptedWarning, stacklevel=2)
        return None, False
    except BootstrapInterrupt as interrupt:
        note_interrupt()
        done = len(interrupt.result.done)
        message = (
            f"{done or 'None'} of {resamples} resamples were fitted before the bootstrap was "
            "stopped."
        )
        warnings.warn(message, InterruptedWarning, stacklevel=2)
        return (interrupt.result if done else None), True
    return result, False
