"""Differences between two records, in words."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

_SHOWN = 8  # entries of a list that are shown


def differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """Say in one line each what differs between two recorded values."""
    if before == now:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        if "exact" in before and "exact" in now:
            yield f"{name}: {_matrices(before, now)}"
            return
        for key in [*before, *(key for key in now if key not in before)]:
            inner = f"{name}, {key}" if name else str(key)
            if key not in now:
                yield f"{inner}: no longer recorded (was {_short(before[key])})"
            elif key not in before:
                yield f"{inner}: new, {_short(now[key])}"
            else:
                yield from differences(before[key], now[key], inner)
    elif isinstance(before, list) and isinstance(now, list):
        yield from _lists(before, now, name)
    else:
        yield f"{name}: {_short(before)} → {_short(now)}"


def _matrices(before: dict[str, Any], now: dict[str, Any]) -> str:
    if before["shape"] != now["shape"]:
        return f"the shape is {now['shape']}, was {before['shape']}"
    if before.get("rounded") == now.get("rounded") and "rounded" in now:
        return "differs in the last bits only (the first six digits of all values are equal)"
    if "rounded" not in now or "rounded" not in before:
        return "has other values"
    parts = [
        f"{key} {before[key]} → {now[key]}"
        for key in ("entries", "sum of sizes")
        if before[key] != now[key]
    ]
    return "has other values" + (f" ({', '.join(parts)})" if parts else " (of the same sum)")


def _lists(before: list[Any], now: list[Any], name: str) -> Iterator[str]:
    old, new = Counter(map(str, before)), Counter(map(str, now))
    gone, come = list((old - new).elements()), list((new - old).elements())
    if not gone and not come:
        yield f"{name}: the same entries in another order: {_short(now)}"
    for word, entries in (("gone", gone), ("new", come)):
        for entry in entries[:_SHOWN]:
            yield f"{name}: {word}: {entry}"
        if len(entries) > _SHOWN:
            yield f"{name}: {word}: {len(entries) - _SHOWN} further entries"


def _short(value: Any, width: int = 160) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= width else f"{text[:width]}…"
