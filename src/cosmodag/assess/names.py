"""Variables and values that a user names: found, checked, and converted to numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.decision import renumbered
from cosmodag.errors import DataError
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.io.columns.names import nearest
from cosmodag.io.columns.values import encode_as
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind


def place_of(names: Sequence[Any], name: Any) -> int:
    """Find a variable by its name; a name that is not there is refused, with near ones.

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
    raise DataError(f"The graph has no variable {name!r}: {nearest(str(name), texts)}.")


def places_of_pair(names: Sequence[Any], cause: Any, effect: Any) -> tuple[int, int]:
    """Find two different variables."""
    x, y = place_of(names, cause), place_of(names, effect)
    if x == y:
        raise DataError(f"Cause and effect are both {cause!r}: give two different variables.")
    return x, y


def values_set(
    names: Sequence[Any], do: Mapping[Any, Any], n: int, kinds: Sequence[ColumnKind] = ()
) -> dict[int, NDArray[Any]]:
    """Check values that variables are set to: one number each, or one for each of n rows.

    Variables with levels, by their `kinds`, may be set to labels.

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
                f"do must set {name!r} to one finite number, or to {n} of them, one for each row."
            )
        found[place] = np.broadcast_to(values, (n,))
    return found


def _numbers(name: str, value: Any, kind: ColumnKind) -> NDArray[np.float64]:
    """Numbers of one value or several, or of levels for labels; NaN for anything else."""
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
    """Kind of a column of a fit."""
    return dag.kinds[v] if dag.kinds else NOT_EXAMINED


def check_kinds(dag: FittedDAG, x: int, y: int, values: Any) -> None:
    """Refuse effects on categories, and effects of categories without two levels to compare."""
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
    """Two values of the cause: by default half a unit below and above its mean.

    Of a binary column with labels, its two levels.
    """
    kind = kind_of(dag, x)
    if values is None and len(kind.levels) == 2:
        return 0.0, 1.0
    if values is None:
        mean = float(dag.preparation.means[x])
        return mean - 0.5, mean + 0.5
    pair = _numbers(str(dag.names[x]), values, kind)
    if pair.shape != (2,) or not np.isfinite(pair).all() or pair[0] == pair[1]:
        raise DataError(f"values is {values!r}: it must be two different finite numbers.")
    return float(pair[0]), float(pair[1])


def label_of_value(dag: FittedDAG, v: int, value: float) -> float | str:
    """Label of a level; of any other column the value itself."""
    kind = kind_of(dag, v)
    if kind.is_levels and value in range(len(kind.levels)):
        return str(kind.levels[int(value)])
    return value
