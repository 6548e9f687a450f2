"""Further sections of the page: each is a function of the fitted model.

A part of the package that has more to show registers a function in :data:`SECTIONS`; the page needs
no other change.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["SECTIONS", "Section", "sections_of"]


@dataclass(frozen=True)
class Section:
    """A section with a heading, text, and optionally a table and curves.

    Attributes
    ----------
    title, text
        Heading and paragraph.
    columns, rows
        A table: names of the columns, and cells (text or numbers).
    curves
        Line plots, each with ``title``, ``label`` (of the horizontal axis), ``x`` and ``y``, and
        ``low`` and ``high`` where they have a band.
    folded
        Whether only the heading is shown at first.
    """

    title: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    curves: Sequence[dict[str, Any]] = field(default_factory=list)
    folded: bool = False


SECTIONS: "list[Callable[[FittedGraph], Section | None]]" = []
"""Functions that give a section of a model's page, or None if it has none."""


def sections_of(model: "FittedGraph") -> list[dict[str, Any]]:
    """Collect the further sections of a model's page."""
    from cosmodag.report.block_effects import block_section
    from cosmodag.report.row_sections import regime_section, time_section

    own = (block_section, regime_section, time_section)
    found = (section(model) for section in (*own, *SECTIONS))
    return [asdict(section) for section in found if section is not None]
