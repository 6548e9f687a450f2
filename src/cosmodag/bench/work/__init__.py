"""What is done with cells, by kind.

Learners are imported with the first cell that needs them: who only reads results need not wait for
JAX.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cosmodag.bench.cell import Batch, Cell
from cosmodag.bench.work.results import Result, one_by_one

__all__ = ["KINDS", "Order", "carry_out"]


class Order(NamedTuple):
    """A batch, and how it is to be done.

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

    batch: Batch
    device: str = "auto"
    limit: float | None = None
    makers: int | None = None


def _fit(cells: Sequence[Cell], order: Order) -> list[Result]:
    from cosmodag.bench.work.fits import fit_cells

    return fit_cells(cells, order.device, order.limit, order.makers)


def _time(cells: Sequence[Cell], order: Order) -> list[Result]:
    from cosmodag.bench.work.timing import time_fit

    return one_by_one(time_fit, cells, order.limit)


def _epoch(cells: Sequence[Cell], order: Order) -> list[Result]:
    from cosmodag.bench.work.timing import time_epochs

    return one_by_one(time_epochs, cells, order.limit)


def _do_nothing(cells: Sequence[Cell], order: Order) -> list[Result]:
    return [{"status": "done", "number": cell.graph} for cell in cells]


KINDS: dict[str, Callable[[Sequence[Cell], Order], list[Result]]] = {
    "fit": _fit,
    "time": _time,
    "epoch": _epoch,
    "nothing": _do_nothing,
}


def carry_out(order: Order) -> list[Result]:
    """Do the cells of a batch: one result each, in their order."""
    cells = order.batch.cells
    return KINDS[cells[0].kind](cells, order)
