"""Checks of parameter values, made when a fit begins."""

import math
import numbers
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from cosmodag.errors import DataError


def check_number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    low_allowed: bool = False,
    also: Collection[str | None] = (),
) -> None:
    """Refuse a value unless it is one of `also`, or a finite number above (or at) a bound."""
    if _is_in(value, also):
        return
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and math.isfinite(value) and (value > low or (low_allowed and value == low)):
        return
    bound = "" if low == -math.inf else f" {'of at least' if low_allowed else 'above'} {low:g}"
    raise DataError(f"{name} is {value!r}: it must be a finite number{bound}{_or(also)}.")


def check_count(name: str, value: Any, *, low: int = 1, also: Collection[str | None] = ()) -> None:
    """Refuse a value unless it is one of `also`, or a whole number of at least `low`."""
    if _is_in(value, also):
        return
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < low:
        must = f"it must be a whole number of at least {low}{_or(also)}"
        raise DataError(f"{name} is {value!r}: {must}.")


def check_flag(name: str, value: Any, *, also: Collection[str | None] = ()) -> None:
    """Refuse a value unless it is one of `also`, True or False."""
    if not _is_in(value, also) and value not in (True, False):
        words = ["True", "False", *map(repr, also)]
        raise DataError(f"{name} is {value!r}: it must be {', '.join(words[:-1])} or {words[-1]}.")


def check_level(level: Any) -> None:
    """Refuse the level of an interval unless it is a probability between 0 and 1."""
    if not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise DataError(f"level is {level!r}: it must be a probability between 0 and 1.")


def refuse_lags(learner: Any, what: str, instead: str) -> None:
    """Refuse a method that is not defined for time series, and name the alternative."""
    if getattr(learner, "lags", 0):
        raise DataError(
            f"{what} is not offered for time series (lags={learner.lags}, "
            f"--lags {learner.lags}): {instead}."
        )


def check_choice(name: str, value: Any, choices: Iterable[str | None]) -> None:
    """Refuse a value that is not one of the choices: names, or None."""
    choices = tuple(choices)
    if not _is_in(value, choices):
        raise DataError(f"{name} is {value!r}: it must be one of {', '.join(map(repr, choices))}.")


def _is_in(value: Any, choices: Collection[str | None]) -> bool:
    return (value is None or isinstance(value, str)) and value in choices


def _or(choices: Collection[str | None]) -> str:
    return "".join(f" or {choice!r}" for choice in choices)


class Seeds(Sequence[int]):
    """A number of independent 32-bit seeds of a random state, drawn when they are needed.

    The same integer gives the same seeds; None gives different seeds at each call.

    >>> seeds = Seeds(0, 10**9)
    >>> seeds[:2] == seeds_from(0, 2)
    True
    """

    def __init__(self, random_state: Any, count: int) -> None:
        if isinstance(random_state, np.random.RandomState):
            random_state = int(random_state.randint(2**31 - 1))
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**63))
        if random_state is not None:
            check_count("random_state", random_state, low=0)
        self._source, self._count = np.random.SeedSequence(random_state), count
        self._drawn = self._source.generate_state(0)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        places = range(self._count)[place]
        last = max(places, default=-1) if isinstance(places, range) else places
        if last >= len(self._drawn):  # a longer sequence begins with the shorter one
            self._drawn = self._source.generate_state(min(2 * last + 1, self._count))
        return self._drawn[place if isinstance(place, slice) else places].tolist()


def seeds_from(random_state: Any, count: int) -> list[int]:
    """Derive a few independent 32-bit seeds from a random state; see `Seeds`."""
    found: list[int] = Seeds(random_state, count)[:]
    return found
