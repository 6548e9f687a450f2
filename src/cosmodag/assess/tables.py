"""Tables that a fitted model is asked about: its own, or one that is given."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.data.interventions import take_column
from cosmodag.data.kinds import matched
from cosmodag.errors import CosmodagWarning, DataError
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.time.unroll import InTime
from cosmodag.io.tables.frames import Table, as_table

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["given_table", "training_table"]


def training_table(model: "FittedGraph") -> Prepared:
    """Give the table that a model was fitted to, prepared as it was."""
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


def given_table(model: "FittedGraph", X: Any, interventions: Any) -> Prepared:
    """Prepare a table, checked against the columns of the model.

    Warnings about the table are left out: they are those of the fit.
    """
    dag, learner = model.fitted_, model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        X, interventions = take_column(X, interventions)
        in_time = None if dag.window is None else InTime.like(dag.window, X)
        given = prepare(learner, _encoded(dag, X), interventions, in_time=in_time)
    is_named = dag.columns is not None and given.is_named
    if len(given.names) != dag.d or (is_named and given.names != dag.texts):
        raise DataError("X has other columns than the model was fitted on: give the same ones.")
    return given


def _encoded(dag: "FittedDAG", X: Any) -> Any:
    """Encode a frame with the levels of a fit; any other table is returned unchanged."""
    if isinstance(X, np.ndarray | list | tuple) or not any(kind.is_levels for kind in dag.kinds):
        return X
    if dag.window is not None:  # the levels are those of the table, which is the one of the fit
        return X
    table = as_table(X, missing="keep", declared=dag.texts)
    if len(table.names) != dag.d:
        return table
    return Table(matched(table, dag.kinds), table.names, dag.kinds)
