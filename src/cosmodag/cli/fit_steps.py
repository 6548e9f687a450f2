"""Steps of ``cosmodag fit``: fitting a learner, and fitting resamples."""

import warnings
from typing import TYPE_CHECKING, Any

from cosmodag.errors import InterruptedWarning

if TYPE_CHECKING:
    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner


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
