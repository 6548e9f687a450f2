"""A cell: the smallest unit of an experiment, determined by its description."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from cosmodag.bench.methods import METHODS

__all__ = ["Cell", "CellBatch", "batched"]

# Version of the meaning of cells; increased by a change that would give other figures.
_PROTOCOL = 1

# Batch size of cells that are fitted one by one: they gain nothing from a larger batch.
_FEW = 2


@dataclass(frozen=True)
class Cell:
    """One unit of work, which gives one row."""

    kind: str  # "fit" is scored, "time" is one fit timed on one thread, "epoch" times passes
    method: str
    data: str
    graph: int  # seed of the graph and its rows, and of the fit
    parameters: Mapping[str, Any] = field(default_factory=dict)  # all that are not defaults
    standardised: bool = False  # whether columns are divided by their standard deviations first
    device: str | None = None  # given if the figures depend on it

    @property
    def description(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {"protocol": _PROTOCOL, **asdict(self)}

    @cached_property
    def key(self) -> str:
        """Hash of the description: the same work has the same key in every experiment."""
        return _hash(json.dumps(self.description, sort_keys=True, separators=(",", ":")))


@dataclass(frozen=True)
class CellBatch:
    """Cells that are done together, all or none.

    The plan composes batches independently of earlier results, so that an interrupted run gives the
    same rows, bit for bit, as an uninterrupted one.
    """

    cells: tuple[Cell, ...]

    @cached_property
    def key(self) -> str:
        """Hash of the keys of its cells."""
        return _hash("".join(cell.key for cell in self.cells))


def batched(cells: Iterable[Cell], size: int) -> tuple[CellBatch, ...]:
    """Put cells that one program can do into batches; a cell that occurs twice is done once."""
    groups: dict[object, dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        rows, variables, *_ = cell.data.split("_")
        groups[cell.kind, cell.method, rows, variables, cell.device][cell.key] = cell
    batches = []
    for members in (tuple(group.values()) for group in groups.values()):
        is_solved_together = METHODS[members[0].method].is_solved_together
        most = size if is_solved_together else min(size, _FEW)
        batches += [CellBatch(members[i : i + most]) for i in range(0, len(members), most)]
    return tuple(batches)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
