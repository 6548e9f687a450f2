"""Names of variables that a user gives: their places, or an error that names near ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.matching import renumbered
from cosmodag.errors import DataError
from cosmodag.io.columns.levels import encode_as
from cosmodag.io.columns.names import nearest
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind

__all__ = ["level_numbers", "place_of", "places_of_pair", "values_set"]


def place_of(names: Sequence[Any], name: Any) -> int:
    """Find a variable by its name; a name that is not there is refused, with near ones.

    Examples
    --------
    >>> place_of(["rain", "sun"], "sun")
    1
    >>> place_of(["rain", "sun"], "Rain")
    Traceback (most recent call last):
        ...
    cosmodag.errors.DataError: The graph has no variable 'Rain': the nearest is 'rain'.
    """
    places = [place for place, one in enumerate(names) if one == name]
    if places and not isinstance(name, bool):
        return places[0]
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

    Examples
    --------
    >>> values_set(["rain", "sun"], {"sun": 2.0}, 3)
    {1: array([2., 2., 2.])}
    """
    if not isinstance(do, Mapping):
        raise DataError("do must be a mapping from variables to values, such as {'rain': 10}.")
    found = {}
    for name, value in do.items():
        place = place_of(names, name)
        try:
            if len(kinds) and kinds[place].is_levels:
                value = level_numbers(str(name), value, kinds[place])
            values = np.asarray(value, np.float64)
        except DataError:
            raise
        except (TypeError, ValueError):
            values = np.array(np.nan)
        if values.shape not in ((), (n,)) or not np.isfinite(values).all():
            raise DataError(
                f"do sets {name!r} to something other than a finite number, or {n} of them."
            )
        found[place] = np.broadcast_to(values, (n,))
    return found


def level_numbers(name: str, value: Any, kind: ColumnKind) -> Any:
    """Numbers of levels, for labels or numbers of them."""
    labels = [value] if np.ndim(value) == 0 else list(value)
    if any(isinstance(label, str) for label in labels):
        numbers = encode_as(name, labels, kind).numbers
    else:
        numbers = renumbered(name, np.asarray(labels, np.float64), NOT_EXAMINED, kind)
    return numbers[0] if np.ndim(value) == 0 else numbers
