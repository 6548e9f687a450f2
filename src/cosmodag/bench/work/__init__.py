"""The work of cells, by kind.

Learners are imported with the first cell that needs them, so that reading results does not import
JAX.
"""

from typing import Any, NamedTuple

from cosmodag.bench.cell import CellBatch
from cosmodag.engines.outcomes import Failure, attempt

__all__ = ["Order", "Result", "as_result", "carry_out"]

Result = dict[str, Any]


class Order(NamedTuple):
    """A batch, the device on which problems are solved, and seconds per cell, or None."""

    batch: CellBatch
    device: str = "auto"
    limit: float | None = None


def carry_out(order: Order) -> list[Result]:
    """Do the cells of a batch: one result each, in their order."""
    from cosmodag.bench.work.fits import fit_cells
    from cosmodag.bench.work.timing import time_epochs, time_fit

    cells = order.batch.cells
    if cells[0].kind == "fit":
        return fit_cells(cells, order.device, order.limit)
    time = {"time": time_fit, "epoch": time_epochs}[cells[0].kind]
    return [as_result(attempt(time, cell, order.limit)) for cell in cells]


def as_result(outcome: Any) -> Result:
    """Return the figures of a finished cell, or its failure."""
    if isinstance(outcome, Failure):
        return outcome._asdict()
    return {"status": "done", **outcome}
