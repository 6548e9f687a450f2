"""Tables of a fitted model: its training data, a given one, and the rows of a test."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.data.interventions import take_column
from cosmodag.data.kinds import matched
from cosmodag.errors import CosmodagWarning, DataError, name_list
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.time.unroll import InTime
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.io.tables.frames import Table, as_table
from cosmodag.warning_filters import ignoring

_FEWEST_ROWS = 20


def training_table(model: FittedGraph) -> Prepared:
    """Return the prepared table that a model was fitted to."""
    dag = model.fitted_
    data = dag.training_data()
    return Prepared(
        data * dag.preparation.unit,
        np.asarray(data, np.float32),
        dag.preparation,
        dag.texts,
        dag.known,
        is_named=dag.columns is not None,
        knowledge=dag.knowledge,
        target_sets=dag.target_sets,
        kinds=dag.kinds,
        window=dag.window,
    )


def given_table(model: FittedGraph, X: Any, interventions: Any) -> Prepared:
    """Prepare a table, checked against the columns of the model.

    Warnings about the table are left out: they are those of the fit.
    """
    dag = model.fitted_
    with ignoring(CosmodagWarning):
        X, interventions = take_column(X, interventions)
        in_time = None if dag.window is None else InTime.like(dag.window, X)
        given = prepare(model, _encoded(dag, X), interventions, in_time=in_time)
    is_named = dag.columns is not None and given.is_named
    if len(given.names) != dag.d or (is_named and given.names != dag.texts):
        raise DataError(
            f"X has the columns {name_list(given.names)}, but the model was fitted to "
            f"{name_list(dag.texts)}: give the same ones."
        )
    return given


def _encoded(dag: FittedDAG, X: Any) -> Any:
    """Encode a frame with the levels of a fit; any other table is returned unchanged."""
    if isinstance(X, np.ndarray | list | tuple) or not any(kind.is_levels for kind in dag.kinds):
        return X
    if dag.window is not None:  # the levels are those of the table, which is the one of the fit
        return X
    table = as_table(X, missing="keep", declared=dag.texts)
    if len(table.names) != dag.d:
        return table
    return Table(matched(table, dag.kinds), table.names, dag.kinds)


def rows_to_test(
    model: FittedGraph, X: Any, interventions: Any, split: float | None, random: np.random.Generator
) -> tuple[FittedGraph, Prepared, bool]:
    """Give the model to test, the rows to test it on, and whether it was learnt from them."""
    if X is not None and split is not None:
        raise DataError("Give new rows as X, or split to hold some of the old ones out, not both.")
    if X is not None:
        return model, given_table(model, X, interventions), False
    whole = training_table(model)
    if split is None:
        return model, whole, True
    if not 0 < split < 1:
        raise DataError(f"split is {split!r}: it must be a share between 0 and 1.")
    rows = random.permutation(len(whole.X))
    count = math.ceil(split * len(rows))
    if count < _FEWEST_ROWS or len(rows) - count < _FEWEST_ROWS:
        raise DataError(f"{len(rows)} rows are too few to hold out a share of {split:g}.")
    held, kept = np.sort(rows[:count]), np.sort(rows[count:])
    values = whole.X[kept] * whole.preparation.factors + whole.preparation.means
    if whole.known.absent is not None:
        values = np.where(whole.known.absent[kept], np.nan, values)
    targets = None if whole.known.targets is None else whole.known.targets[kept]
    part = fit_quietly(clone(model), values, whole.names if whole.is_named else None, targets)
    known = whole.known.of_rows(held)
    return part, replace(whole, X=whole.X[held], data=whole.data[held], known=known), False


def fit_quietly(
    learner: Any,
    values: NDArray[np.float64],
    names: list[str] | None,
    targets: NDArray[np.bool_] | None,
) -> FittedGraph:
    """Fit a learner to some values of a table, without the warnings of the first fit."""
    table = values if names is None else pd.DataFrame(values, columns=names)
    with ignoring(CosmodagWarning):
        fitted: FittedGraph = learner.fit(table, interventions=targets)
    return fitted
