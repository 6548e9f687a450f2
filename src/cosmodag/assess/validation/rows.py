"""The rows that a graph is tested on: new rows, rows held out, or the training data."""

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.assess.tables import given_table, training_table
from cosmodag.errors import CosmodagWarning, DataError
from cosmodag.fit.prepare import Prepared

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["rows_to_test"]

_FEWEST_ROWS = 20


def rows_to_test(
    model: "FittedGraph",
    X: Any,
    interventions: Any,
    split: float | None,
    random: np.random.Generator,
) -> tuple["FittedGraph", Prepared, bool]:
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
    part: Any = _refitted(model, whole, kept)
    known = whole.known.of_rows(held)
    return part, replace(whole, X=whole.X[held], data=whole.data[held], known=known), False


def _refitted(model: "FittedGraph", whole: Prepared, kept: NDArray[np.intp]) -> Any:
    """Fit the learner again to some of the rows."""
    import pandas as pd

    learner: Any = clone(model)
    values = whole.X[kept] * whole.preparation.factors + whole.preparation.means
    if whole.known.absent is not None:
        values = np.where(whole.known.absent[kept], np.nan, values)
    targets = None if whole.known.targets is None else whole.known.targets[kept]
    table = pd.DataFrame(values, columns=whole.names) if whole.is_named else values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        return learner.fit(table, interventions=targets)
