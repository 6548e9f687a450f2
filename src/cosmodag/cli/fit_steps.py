"""Steps of ``cosmodag fit``: choose a learner, fit it, bootstrap it."""

import warnings
from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from cosmodag.cli.options.learners import option_of
from cosmodag.cli.terminal.output import print_result, print_table
from cosmodag.errors import DataError, InterruptedWarning
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.io.tables import Table
    from cosmodag.learners import StructureLearner
    from cosmodag.selection import Choice
    from cosmodag.stability import BootstrapResult

# Options that --auto accepts; it decides everything else.
_ACCEPTED = ("knowledge", "kinds", "missing", "max_time", "random_state")


def chosen(
    data: "Table",
    fit_arguments: dict[str, Any],
    options: dict[str, Any],
    settings: dict[str, Any],
    quiet: bool,
) -> "Choice":
    """Choose and fit a learner; refuse options that --auto decides itself."""
    from cosmodag import selection

    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in _ACCEPTED:
            raise DataError(f"--auto chooses {name} itself: leave {option_of(name)} out.")
    if settings:
        raise DataError("--auto chooses the learner's parameters itself: leave --set out.")
    if "regimes" in fit_arguments:
        raise DataError(
            "--auto does not compare regimes: choose a --method, or leave --regimes out."
        )
    given.setdefault("random_state", 0)
    return selection.auto(data, **fit_arguments, verbose=not quiet, **given)


def fitted(
    model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]
) -> "StructureLearner":
    """Fit a learner; after a first Ctrl-C or SIGTERM, return it with the graph learnt so far."""
    try:
        return model.fit(data, **fit_arguments)
    except KeyboardInterrupt:
        if getattr(model, "stopped_", None) != "interrupt":
            raise
        return model


def windows_for(model: "StructureLearner", data: "Table", fit_arguments: dict[str, Any]) -> "Table":
    """Make the complete windows that a model with lags learns from; other tables are kept."""
    import numpy as np

    from cosmodag.fit.time.unroll import InTime, unroll

    if not model.lags:
        return data
    found = unroll(
        data, model.lags, InTime(fit_arguments.get("series"), fit_arguments.get("time"))
    ).table
    return found.of_rows(~np.isnan(found.X).any(axis=1))


def bootstrapped(
    model: "StructureLearner",
    data: "Table",
    fit_arguments: dict[str, Any],
    resamples: int | None,
    max_time: float | None,
    quiet: bool,
) -> "tuple[BootstrapResult | None, bool]":
    """Fit resamples if requested, unless the fit itself was interrupted.

    The fit is kept however the resampling ends. The second value is whether the fit or the
    resampling was interrupted.
    """
    if resamples is None or model.stopped_ == "interrupt":
        return None, model.stopped_ == "interrupt"
    from cosmodag.stability.bootstrap import BootstrapInterrupt, NoResampleError, bootstrap

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
        done = len(interrupt.result.done)
        message = f"{done or 'None'} of {resamples} resamples were fitted before it was stopped."
        warnings.warn(message, InterruptedWarning, stacklevel=2)
        return (interrupt.result if done else None), True
    return result, False


def print_arcs(arcs: "pd.DataFrame", most: int, doubts: Sequence[str] = ()) -> None:
    """Print the arcs of largest standardised weight under a title that counts them.

    An arc whose direction is a free choice is printed as a line. With resamples, probabilities
    are printed beside the basis of the direction, or only the reason why they are withheld.
    """
    from cosmodag.fit.dag.basis import FREE

    if not len(arcs):
        print_result("No arc found.")
        return
    numbers = {"standardised": "{:+.3f}", "weight": "{:+.4g}", "se": "{:.2g}", "t": "{:.1f}"}
    shares = {} if doubts else {"p_edge": "{:.2f}", "p_direction": "{:.2f}"}
    shown = {name: form for name, form in (numbers | shares).items() if name in arcs}
    head = ["cause", "", "effect", *shown, "basis of direction"]
    rows = [
        [
            str(arc["cause"]),
            "—" if arc["basis"] == FREE else "→",
            str(arc["effect"]),
            *["" if isnan(arc[name]) else form.format(arc[name]) for name, form in shown.items()],
            arc["basis"],
        ]
        for arc in arcs.head(most).to_dict("records")
    ]
    title = (
        f"{counted(len(arcs), 'arc')}, {len(rows):,} shown, the largest standardised weight first"
    )
    print_table(head, rows, title=title)
    if doubts:
        print_result(f"Probabilities are withheld: {' '.join(doubts)}")


def print_targets(facts: dict[str, Any]) -> None:
    """Print the targets of regimes, with the evidence for each, and findings about them."""
    listed = facts["targets"]
    if not listed:
        print_result("No variable changes between the regimes.")
    else:
        columns = ["regime", "variable", "stated", "evidence", "change"]
        print_table(columns, [[_cell(one[name]) for name in columns] for one in listed])
    for sentence in facts["findings"]:
        print_result(sentence)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "stated" if value else "found"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
