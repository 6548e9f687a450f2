"""New rows for a fitted DAG: checked against its columns, and prepared like the training data."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds import matched
from cosmodag.errors import DataError
from cosmodag.fit.time.unroll import as_windows
from cosmodag.io.tables.frames import as_table

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["prepared_rows"]


def prepared_rows(dag: "FittedDAG", X: Any) -> NDArray[np.float64]:
    """Check the columns of new data, and prepare it like the training data."""
    if dag.window is not None:
        X, _ = as_windows(dag.window, X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2:  # before a table of one column is refused as such
        _check_columns(dag, shape[1])
    table = as_table(X, fewest_rows=1, declared=dag.texts)
    _check_columns(dag, len(table.names))
    if dag.columns is not None and not isinstance(X, np.ndarray | list | tuple):
        for place, (given, name) in enumerate(zip(table.names, dag.columns, strict=True)):
            if given != name:
                raise DataError(
                    f"Column {place} is '{given}', but the model was fitted on '{name}' there: "
                    "give the columns in the same order."
                )
    return dag.preparation.apply(matched(table, dag.kinds)).astype(np.float64)


def _check_columns(dag: "FittedDAG", columns: int) -> None:
    if columns != dag.d:
        raise DataError(
            f"X has {columns} features, but {dag.learner} is expecting {dag.d} features as "
            "input: give the columns it was fitted on."
        )
