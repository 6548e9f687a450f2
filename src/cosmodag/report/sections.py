"""Further sections of the page: each is a function of the fitted model.

A part of the package that has more to show registers a function in :data:`SECTIONS`; the page needs
no other change.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = [
    "SECTIONS",
    "SUMMARY",
    "Section",
    "regime_section",
    "sections_of",
    "summary_rows",
    "time_section",
]


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

SUMMARY = ["cause", "effect", "lag", "weight"]


def sections_of(model: "FittedGraph") -> list[dict[str, Any]]:
    """Collect the further sections of a model's page."""
    from cosmodag.report.block_effects import block_section

    own = (block_section, regime_section, time_section)
    found = (section(model) for section in (*own, *SECTIONS))
    return [asdict(section) for section in found if section is not None]


def regime_section(model: "FittedGraph") -> Section | None:
    """List the targets of regimes with the evidence for each; None without regimes."""
    regimes = model.fitted_.regimes
    if regimes is None:
        return None
    facts = regimes.facts([str(name) for name in model.names_])
    rows: list[list[Any]] = [
        [
            one["regime"],
            one["variable"],
            "stated" if one["stated"] else "found",
            one["evidence"],
            one["change"],
        ]
        for one in facts["targets"]
    ]
    text = "" if rows else "No variable changes between the regimes. "
    return Section(
        "What changes between regimes",
        text + " ".join(facts["findings"]),
        ["regime", "variable", "target", "evidence", "change"],
        rows,
    )


def time_section(model: "FittedGraph") -> Section | None:
    """List which variable acts on which at which lag; None where rows are not in time."""
    if model.fitted_.window is None:
        return None
    text = "A lag of 1 is the row before, a lag of 0 the same row."
    return Section("Which variable acts on which, and when", text, SUMMARY, summary_rows(model))


def summary_rows(model: "FittedGraph") -> list[list[Any]]:
    """Rows of the summary graph, one for each pair and lag, with the columns `SUMMARY`."""
    return [
        [str(cause), str(effect), lag, weight]
        for cause, effect, facts in model.summary_graph_.edges(data=True)
        for lag, weight in zip(facts["lags"], facts["weights"], strict=True)
    ]
