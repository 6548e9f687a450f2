"""Checks of what a user passes: names of variables, values for them, and tables."""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.data.interventions import take_column
from cosmodag.data.kinds import matched
from cosmodag.data.kinds.levels import renumbered
from cosmodag.errors import CosmodagWarning, DataError, name_list
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import check_number
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.time.unroll import InTime
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.io.columns.names import nearest
from cosmodag.io.columns.values import encode_as
from cosmodag.io.kind_names import NOT_EXAMINED, ColumnKind
from cosmodag.io.tables.foreign import column_names, with_columns
from cosmodag.io.tables.frames import Table, as_table
from cosmodag.runtime.warning_filters import ignoring

# Minimum number of rows on either side of a split.
_MIN_ROWS = 20


def place_of(names: Sequence[Any], name: Any) -> int:
    """Return the index of a variable; refuse an unknown name, and suggest the nearest one.

    >>> place_of(["rain", "sun"], "sun")
    1
    >>> place_of(["rain", "sun"], "Rain")
    Traceback (most recent call last):
        ...
    cosmodag.errors.DataError: The graph has no variable 'Rain': the nearest is 'rain'.
    """
    if name in names and not isinstance(name, bool):
        return names.index(name)
    texts = [str(one) for one in names]
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and str(name) in texts:
        return texts.index(str(name))  # names of columns that are numbers are kept as text
    raise DataError(f"The graph has no variable {name!r}: {nearest(str(name), texts)}.")


def places_of_pair(names: Sequence[Any], cause: Any, effect: Any) -> tuple[int, int]:
    """Return the indices of cause and effect; refuse a pair of equal variables."""
    x, y = place_of(names, cause), place_of(names, effect)
    if x == y:
        raise DataError(f"Cause and effect are both {cause!r}: give two different variables.")
    return x, y


def values_set(
    names: Sequence[Any], do: Mapping[Any, Any], n: int, kinds: Sequence[ColumnKind] = ()
) -> dict[int, NDArray[Any]]:
    """Check the values that variables are set to: one number each, or one for each of n rows.

    Variables that have levels, by their `kinds`, may be set to labels.

    >>> values_set(["rain", "sun"], {"sun": 2.0}, 3)
    {1: array([2., 2., 2.])}
    """
    if not isinstance(do, Mapping):
        raise DataError("do must be a mapping from variables to values, such as {'rain': 10}.")
    found = {}
    for name, value in do.items():
        place = place_of(names, name)
        values = _numbers(str(name), value, kinds[place] if kinds else NOT_EXAMINED)
        if values.shape not in ((), (n,)) or not np.isfinite(values).all():
            raise DataError(
                f"do must set {name!r} to one finite number, or to {n} of them, one per row."
            )
        found[place] = np.broadcast_to(values, (n,))
    return found


def _numbers(name: str, value: Any, kind: ColumnKind) -> NDArray[np.float64]:
    """Convert one or more values to numbers, labels to level numbers, anything else to NaN."""
    try:
        if not kind.is_levels:
            return np.asarray(value, np.float64)
        labels = [value] if np.ndim(value) == 0 else list(value)
        if any(isinstance(label, str) for label in labels):
            numbers = encode_as(name, labels, kind).numbers
        else:
            numbers = renumbered(name, np.asarray(labels, np.float64), NOT_EXAMINED, kind)
        return numbers.reshape(np.shape(value))
    except DataError:
        raise
    except (TypeError, ValueError):
        return np.array(np.nan)


def kind_of(dag: FittedDAG, v: int) -> ColumnKind:
    """Return the kind of a column of a fit."""
    return dag.kinds[v] if dag.kinds else NOT_EXAMINED


def refuse_categories(dag: FittedDAG, x: int, y: int, values: Any) -> None:
    """Refuse effects on categories, and effects of categories without two values to compare."""
    cause, effect = kind_of(dag, x), kind_of(dag, y)
    if not effect.is_number:
        raise DataError(
            f"{dag.names[y]!r} is a category, which has no mean that could change: ask "
            "for the effect on a number."
        )
    if not cause.is_number and values is None:
        pair = (cause.levels[0], cause.levels[-1])
        raise DataError(
            f"{dag.names[x]!r} is a category: give two of its levels to compare, such as "
            f"values={pair!r} (--from {pair[0]} --to {pair[1]})."
        )


def compared_values(
    dag: FittedDAG, x: int, values: Sequence[float | str] | None
) -> tuple[float, float]:
    """Return the two values of the cause that are compared.

    By default, these are half a unit below and above its mean, or the two levels of a binary
    column, if its values are labels or 0 and 1.
    """
    kind = kind_of(dag, x)
    mean = float(dag.preparation.means[x])
    if values is None and (len(kind.levels) == 2 or _is_zero_or_one(dag, x, kind, mean)):
        return 0.0, 1.0
    if values is None:
        return mean - 0.5, mean + 0.5
    pair = _numbers(str(dag.names[x]), values, kind)
    if pair.shape != (2,) or not np.isfinite(pair).all() or pair[0] == pair[1]:
        raise DataError(f"values is {values!r}: it must be two different finite numbers or levels.")
    return float(pair[0]), float(pair[1])


def _is_zero_or_one(dag: FittedDAG, x: int, kind: ColumnKind, mean: float) -> bool:
    """Whether the two values of a binary column are 0 and 1: then its variance is m (1 − m)."""
    if kind.kind != "binary" or dag.deviations is None:
        return False
    return math.isclose(float(dag.deviations[x]) ** 2, mean * (1 - mean), rel_tol=1e-4)


def label_of_value(dag: FittedDAG, v: int, value: float) -> float | str:
    """Return the label of a level; for any other column, the value itself."""
    kind = kind_of(dag, v)
    if kind.is_levels and value in range(len(kind.levels)):
        return str(kind.levels[int(value)])
    return value


def training_table(model: FittedGraph) -> Prepared:
    """Recover the prepared table that a model was fitted to."""
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
    """Prepare a table whose columns must be those of the model.

    Warnings about the table are suppressed, since the fit has issued them already.
    """
    dag = model.fitted_
    with ignoring(CosmodagWarning):
        X, interventions = take_column(X, interventions)
        in_time = None if dag.window is None else InTime.like(dag.window, X)
        if in_time is None and set(dag.texts) <= set(map(str, column_names(X))):
            X = with_columns(X, set(dag.texts))
        given = prepare(model, _encode_like_fit(dag, X), interventions, in_time=in_time)
    is_named = dag.columns is not None and given.is_named
    if len(given.names) != dag.d or (is_named and given.names != dag.texts):
        raise DataError(
            f"X has the columns {name_list(given.names)}, but the model was fitted to "
            f"{name_list(dag.texts)}: give the same ones."
        )
    return given


def _encode_like_fit(dag: FittedDAG, X: Any) -> Any:
    """Encode a data frame with the levels of a fit; return any other table unchanged."""
    if isinstance(X, np.ndarray | list | tuple) or not any(kind.is_levels for kind in dag.kinds):
        return X
    if dag.window is not None:  # X is the table of the fit, and has its levels
        return X
    table = as_table(X, missing="keep", declared=dag.texts)
    if len(table.names) != dag.d:
        return table
    return Table(matched(table, dag.kinds), table.names, dag.kinds)


def rows_to_test(
    model: FittedGraph, X: Any, interventions: Any, split: float | None, random: np.random.Generator
) -> tuple[FittedGraph, Prepared, bool]:
    """Return the model to test, the rows for the test, and whether it was learnt from these rows.

    With `split`, the model is fitted again without a share of its rows, and tested on these.
    """
    if X is not None and split is not None:
        raise DataError("Give new rows as X, or hold out rows of the fit by split, not both.")
    if X is not None:
        # No arc is learnt from these rows: they may have set a variable that must have a cause.
        unbound = copy(model).set_params(knowledge=None)
        return model, _with_all_targets(given_table(unbound, X, interventions)), False
    whole = _with_all_targets(training_table(model))
    if split is None:
        return model, whole, not model.fitted_.is_stated
    check_number("split", split)
    if not 0 < split < 1:
        raise DataError(f"split is {split!r}: it must be a fraction between 0 and 1.")
    rows = random.permutation(len(whole.X))
    count = math.ceil(split * len(rows))
    if count < _MIN_ROWS or len(rows) - count < _MIN_ROWS:
        raise DataError(
            f"split is {split:g}, which leaves fewer than {_MIN_ROWS} of {len(rows)} rows for the "
            "fit or for the test."
        )
    held, kept = np.sort(rows[:count]), np.sort(rows[count:])
    values = whole.in_own_units[kept]
    if whole.known.absent is not None:
        values = np.where(whole.known.absent[kept], np.nan, values)
    targets = None if whole.known.targets is None else whole.known.targets[kept]
    learner: Any = clone(model)
    if whole.kinds and hasattr(learner, "kinds"):
        learner.set_params(kinds=list(whole.kinds))
    part = fit_quietly(learner, values, whole.names if whole.is_named else None, targets)
    known = whole.known.of_rows(held)
    return part, replace(whole, X=whole.X[held], data=whole.data[held], known=known), False


def _with_all_targets(given: Prepared) -> Prepared:
    """Mark the columns that were set in every row, or in all but one, as set.

    For a fit they count as measured, since no arc leads into them (`never_free`). A test of their
    equations needs to know that they were set.
    """
    if given.target_sets is None:
        return given
    targets = given.known.targets
    targets = np.zeros(given.X.shape, np.bool_) if targets is None else targets
    always = given.target_sets.any(axis=0) & ~targets.any(axis=0)
    return replace(given, known=replace(given.known, targets=targets | always))


def fit_quietly(
    learner: Any,
    values: NDArray[np.float64],
    names: list[str] | None,
    targets: NDArray[np.bool_] | None,
) -> FittedGraph:
    """Fit a learner to part of a table, without the warnings that the first fit has issued."""
    table = values if names is None else pd.DataFrame(values, columns=names)
    with ignoring(CosmodagWarning):
        fitted: FittedGraph = learner.fit(table, interventions=targets)
    return fitted
