"""The work of cells, by kind.

Learners are imported with the first cell that needs them, so that reading results does not import
JAX.
"""

from typing import Any

from cosmodag.bench.cell import CellBatch
from cosmodag.engines.outcomes import Failure, attempt

__all__ = ["Result", "as_result", "carry_out"]

Result = dict[str, Any]


def carry_out(batch: CellBatch, device: str = "auto", limit: float | None = None) -> list[Result]:
    """Do the cells of a batch: one result each, in their order.

    Problems are solved on a device; `limit` is the number of seconds per cell.
    """
    from cosmodag.bench.work.fits import fit_cells
    from cosmodag.bench.work.timing import time_epochs, time_fit

    cells = batch.cells
    if cells[0].kind == "fit":
        return fit_cells(cells, device, limit)
    time = {"time": time_fit, "epoch": time_epochs}[cells[0].kind]
    return [as_result(attempt(time, cell, limit)) for cell in cells]


def as_result(outcome: Any) -> Result:
    """Return the figures of a finished cell, or its failure."""
    if isinstance(outcome, Failure):
        return outcome._asdict()
    return {"status": "done", **outcome}
