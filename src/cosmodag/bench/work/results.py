"""Results of cells: figures where one was done, and a name for what went wrong where not."""

from collections.abc import Callable, Sequence
from typing import Any

from cosmodag.bench.cell import Cell
from cosmodag.engines.outcomes import Failure, attempt

__all__ = ["Result", "as_result", "one_by_one"]

Result = dict[str, Any]


def as_result(outcome: Any) -> Result:
    """Give the figures of a cell that was done, or the name of what went wrong."""
    if isinstance(outcome, Failure):
        return {"status": outcome.status, "message": outcome.message}
    return {"status": "done", **outcome}


def one_by_one(
    function: Callable[[Cell], Result], cells: Sequence[Cell], limit: float | None
) -> list[Result]:
    """Do cells one after the other; what goes wrong with one is its result."""
    return [as_result(attempt(function, cell, limit)) for cell in cells]
