"""Missing values: refused, dropped with their rows, or drawn from the learner's own graph."""

import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.data.interventions import targets_of
from cosmodag.errors import CosmodagWarning, DataError, DataWarning, name_list
from cosmodag.fit.checks import seeds_from
from cosmodag.fit.conditional import Equations, doubt, fill
from cosmodag.io.frames import Table, as_table
from cosmodag.warning_filters import ignoring

if TYPE_CHECKING:
    from cosmodag.learners.base import StructureLearner

__all__ = ["CHOICES", "REMEDY", "Completed", "complete"]

CHOICES = ("error", "drop", "impute")
REMEDY = (
    "leave out the rows that hold them with missing='drop' (--missing drop), or have them drawn "
    "from the learnt graph with missing='impute' (--missing impute)"
)
"""What the message on missing values advises."""

# Fits after which imputation ends even if the graph still changes.
_ROUNDS = 4
# Rounds of the start, which needs no graph, and the change in standard deviations that ends them.
_START_ROUNDS, _SETTLED = 10, 0.02

Targets = NDArray[np.bool_] | None


class Completed(NamedTuple):
    """A table without missing values.

    Attributes
    ----------
    table
        The table.
    targets
        (n, d) bool: what was set in its rows; None where nothing was.
    report
        What was done, in plain values; None where nothing was missing.
    """

    table: Table
    targets: Targets
    report: dict[str, Any] | None = None


def complete(model: "StructureLearner", X: Any, entries: Any) -> Completed:
    """Check a table, and deal with what is missing as the model's parameter ``missing`` says.

    Parameters
    ----------
    model : StructureLearner
    X : table
    entries : sequence or None
        What was set in each row, as ``fit`` takes it.
    """
    if model.missing == "error":
        table = as_table(X, remedy=REMEDY)
        return Completed(table, targets_of(entries, table.names, len(table.X)))
    table = as_table(X, missing="keep")
    targets = targets_of(entries, table.names, len(table.X))
    absent = np.isnan(table.X)
    if not absent.any():
        return Completed(table, targets)
    empty = absent.all(axis=0)
    if empty.any():
        listed = name_list([table.names[place] for place in np.flatnonzero(empty)])
        raise DataError(f"No value at all is given of {listed}: leave such columns out.")
    report = _counts(table, absent)
    if model.missing == "drop":
        return _dropped(table, targets, absent.any(axis=1), report)
    return _imputed(model, _dropped(table, targets, absent.all(axis=1), report))


def _counts(table: Table, absent: NDArray[np.bool_]) -> dict[str, Any]:
    columns = absent.sum(axis=0)
    return {
        "rows": len(absent),
        "entries": int(columns.sum()),
        "share": float(absent.mean()),
        "columns": {table.names[v]: int(columns[v]) for v in np.flatnonzero(columns)},
    }


def _dropped(
    table: Table, targets: Targets, gone: NDArray[np.bool_], report: dict[str, Any]
) -> Completed:
    """Leave rows out, and say how many."""
    dropped, kept = int(gone.sum()), int((~gone).sum())
    listed = name_list(list(report["columns"]))
    if kept < 2:
        raise DataError(
            f"The table has only {kept} row(s) without missing values (in {listed}), so that "
            "dropping the others leaves nothing to learn from: use missing='impute', or leave "
            "those columns out."
        )
    if dropped:
        warnings.warn(
            f"{dropped} of {len(gone)} rows were dropped for missing values in {listed}.",
            DataWarning,
            stacklevel=5,
        )
    rest = Table(table.X[~gone], table.names)
    free = None if targets is None else targets[~gone]
    return Completed(rest, free, {**report, "method": "drop", "dropped": dropped})


def _imputed(model: "StructureLearner", given: Completed) -> Completed:
    """Alternate: draw what is missing given the rest and a graph, and learn the graph again.

    Draws are conditional means plus noise of the conditional variance, and not means alone: those
    would have no noise of their own, and evidence would be overstated. The same random numbers
    serve every round, so that the rounds can settle. An equation of the graph is a regression on
    the parents by least squares, for networks too: there it is a linear approximation.
    """
    X, names = np.asarray(given.table.X, np.float64), given.table.names
    absent = np.isnan(X)
    (seed,) = seeds_from(getattr(model, "random_state", 0), 1)
    draws = np.random.default_rng([seed, 0x6D697373]).normal(size=int(absent.sum()))
    filled = _started(X, absent)
    learner, limit = clone(model).set_params(missing="error"), getattr(model, "max_time", None)
    if limit is not None:
        learner.set_params(max_time=limit / (2 * _ROUNDS))
    before: NDArray[np.bool_] | None = None
    changes: list[int] = []
    begin = time.monotonic()
    with ignoring(CosmodagWarning):
        while len(changes) < _ROUNDS and (limit is None or time.monotonic() - begin < limit / 2):
            learner.fit(Table(filled, names), interventions=given.targets)
            arcs = _pattern(learner)
            changes.append(int(np.count_nonzero(arcs if before is None else arcs ^ before)))
            equations = Equations.on(arcs, filled, given.targets)
            filled = fill(X, absent, equations, draws, given.targets)
            if before is not None and not changes[-1]:
                break
            before = arcs
            if learner.stopped_ is not None:
                break
    report = {
        **(given.report or {}),
        "method": "impute",
        "rounds": len(changes),
        "changed_arcs": changes,
        "settled": len(changes) > 1 and changes[-1] == 0,
    }
    return Completed(Table(filled, names), given.targets, report)


def _started(X: NDArray[np.float64], absent: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Fill in conditional means of a normal distribution without a graph, by EM."""
    filled = np.where(absent, np.nanmean(X, axis=0), X)
    lacking = np.diag(filled.var(axis=0) * absent.mean(axis=0))
    nothing = np.zeros(int(absent.sum()))
    for _ in range(_START_ROUNDS):
        equations, before = Equations.without_graph(filled, lacking), filled
        filled = fill(X, absent, equations, nothing, None)
        lacking = doubt(absent, equations)
        if np.all(np.abs(filled - before) <= _SETTLED * np.sqrt(equations.variances)):
            break
    return filled


def _pattern(model: "StructureLearner") -> NDArray[np.bool_]:
    d = model.n_features_in_
    arcs = np.zeros((d, d), np.bool_)
    edges = model.edges_
    arcs[edges.row, edges.col] = True
    return arcs
