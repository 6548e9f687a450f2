"""Sections of the page for tables whose rows differ: regimes, and rows in time."""

from typing import TYPE_CHECKING, Any

from cosmodag.report.sections import Section

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["regime_section", "time_section"]


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
    rows: list[list[Any]] = [
        [str(cause), str(effect), lag, weight]
        for cause, effect, facts in model.summary_graph_.edges(data=True)
        for lag, weight in zip(facts["lags"], facts["weights"], strict=True)
    ]
    return Section(
        "Which variable acts on which, and when",
        "A lag of 1 is the row before, a lag of 0 the same row.",
        ["cause", "effect", "lag", "weight"],
        rows,
    )
