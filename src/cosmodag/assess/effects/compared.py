"""The two values of a cause that an effect compares; categories are refused without a choice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.assess.names import level_numbers
from cosmodag.errors import DataError
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["check_kinds", "compared_values", "kind_of", "label_of_value"]


def kind_of(dag: "FittedDAG", v: int) -> ColumnKind:
    """Kind of a column of a fit."""
    return dag.kinds[v] if dag.kinds else NOT_EXAMINED


def check_kinds(dag: "FittedDAG", x: int, y: int, values: Any) -> None:
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
    dag: "FittedDAG", x: int, values: Sequence[float | str] | None
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
    if kind.is_levels:
        values = level_numbers(str(dag.names[x]), values, kind)
    try:
        pair = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        pair = np.zeros(0)
    if pair.shape != (2,) or not np.isfinite(pair).all() or pair[0] == pair[1]:
        raise DataError(f"values is {values!r}: it must be two different finite numbers.")
    return float(pair[0]), float(pair[1])


def label_of_value(dag: "FittedDAG", v: int, value: float) -> float | str:
    """Label of a level; of any other column the value itself."""
    kind = kind_of(dag, v)
    if kind.is_levels and value in range(len(kind.levels)):
        return str(kind.levels[int(value)])
    return value
