"""`CosmoMLP` on tables with categories.

Half of the variables are categories of 2 to 4 levels. *Joint*: every variable is a network of all
its parents (`joint`); *lines* and *curves*: effects of parents add up (`mixed`). Networks of mixed
tables are trained by the reference loop; its compilation is not timed.
"""

from collections.abc import Sequence

from tables_sections.fits import measure as measure_fits
from tables_sections.fits import rows as rows_of_fits
from trust_sections.base import Cell, Found, Row

ABOUT = __doc__.partition("\n\n")[2].strip()


def cells() -> list[Cell]:
    """List kinds of tables."""
    found = []
    for d in (10, 20):
        found.append(_cell(f"joint, d = {d}", "joint", d, {}))
    found.append(_cell("joint, numbers only, d = 10", "joint", 10, {"share": 0.0}))
    found.append(_cell("lines, d = 10", "mixed", 10, {"curved": False}))
    found.append(_cell("curves, d = 10", "mixed", 10, {"curved": True}))
    return found


def _cell(name: str, generator: str, d: int, options: dict) -> Cell:
    settings = {"generator": generator, "d": d, "n": 1000, "options": options}
    settings |= {"fits": ["CosmoMLP()", "BlockSearch()"], "targets": {}}
    return Cell("networks", name, settings)


def measure(cell: Cell, seed: int) -> Found:
    """Fit the learners of a row to one table."""
    return measure_fits(cell, seed)


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Make rows of means of the figures."""
    return rows_of_fits(cells, results)
