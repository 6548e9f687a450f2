"""The work of cells, by kind.

Learners are imported with the first cell that needs them, so that reading results does not import
JAX.
"""

from collections.abc import Callable
from typing import NamedTuple

from cosmodag.bench.cell import Cell, CellBatch
from cosmodag.bench.work.data import NO_GPU, Result, as_result
from cosmodag.engines.outcomes import attempt

__all__ = ["NO_GPU", "Order", "as_result", "carry_out"]


class Order(NamedTuple):
    """A batch, and the way to do it.

    Attributes
    ----------
    batch
        The cells.
    device
        Where problems are solved.
    limit
        Seconds per cell, or None.
    makers
        Processes that simulate tables beforehand, or None for this one.
    """

    batch: CellBatch
    device: str = "auto"
    limit: float | None = None
    makers: int | None = None


def carry_out(order: Order) -> list[Result]:
    """Do the cells of a batch: one result each, in their order."""
    from cosmodag.bench.work.fits import fit_cells
    from cosmodag.bench.work.timing import time_epochs, time_fit

    cells = order.batch.cells
    if cells[0].kind == "fit":
        return fit_cells(cells, order.device, order.limit, order.makers)
    one_by_one: dict[str, Callable[[Cell], Result]] = {
        "time": time_fit,
        "epoch": time_epochs,
        "nothing": lambda cell: {"number": cell.graph},
    }
    function = one_by_one[cells[0].kind]
    return [as_result(attempt(function, cell, order.limit)) for cell in cells]
