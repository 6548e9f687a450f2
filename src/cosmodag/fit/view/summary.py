"""Summary of a fit as text: data, learner, assumptions, arcs and findings."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cosmodag.errors import name_list
from cosmodag.fit.dag.basis import BASES

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.view.fitted import FittedGraph

__all__ = ["Summary", "summary_of"]

_WIDTH = 88
_ASSUMED = (
    "No common cause of two variables was left out, rows were not selected by their values, and "
    "there is no feedback: no table can show this."
)


class Summary(str):
    """Text that Python and notebooks show as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def summary_of(model: "FittedGraph", arcs: int) -> Summary:
    """Describe a fitted model; see `FittedGraph.summary`."""
    table = model.arcs_
    count = f"{len(table):,} arc{'' if len(table) == 1 else 's'}"
    title = f"{type(model).__name__}: {count} among {model.n_features_in_:,} variables"
    lines = [title, "=" * len(title)]
    for label, text in _facts(model):
        lines += _labelled(label, text)
    lines += ["", *_arc_lines(table, arcs)]
    findings = getattr(model, "findings_", [])
    lines += ["", "findings" if findings else "findings: none"]
    for finding in findings:
        lines += _labelled(finding.severity, finding.sentence)
    return Summary("\n".join(lines))


def _labelled(label: str, text: str) -> list[str]:
    """Wrap a text beside its label."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{label:<12}", subsequent_indent=" " * 12
    ) or [label]


def _facts(model: "FittedGraph") -> Iterator[tuple[str, str]]:
    yield "data", _data(model)
    yield "learner", " ".join(repr(model).split())
    stopped = model.stopped_
    if stopped is not None:
        yield "stopped", "by max_time" if stopped == "time" else "by Ctrl-C"
    dag = model.fitted_
    form = f"Each variable is {dag.equations.form} of its causes."
    equations = "Linear equations." if dag.is_linear else form
    noise = getattr(model, "noise_reason_", None) or getattr(model, "noise_", None)
    yield "assumed", f"{equations} {noise or ''}"
    yield "", _ASSUMED
    if model.knowledge_ is not None:
        yield "knowledge", "every arc agrees with it"
    if hasattr(model, "target_sets_"):
        yield "set", f"{name_list(_set_variables(model))} in some rows"
    counts = Counter(model.arrow_basis_)
    named = [f"{basis} ({counts[basis]})" for basis in BASES if counts[basis]]
    yield "directions", f"rest on: {', '.join(named)}" if named else "none"


def _data(model: "FittedGraph") -> str:
    rows = f"{len(model.residuals_):,} rows, " if hasattr(model, "residuals_") else ""
    missing = "; missing values were imputed" if hasattr(model, "missing_report_") else ""
    return f"{rows}{model.n_features_in_:,} columns{missing}"


def _set_variables(model: "FittedGraph") -> list[str]:
    was_set = model.target_sets_.any(axis=0)
    return [str(name) for name, one in zip(model.names_, was_set, strict=True) if one]


def _arc_lines(table: "pd.DataFrame", arcs: int) -> list[str]:
    if not len(table):
        return ["no arc found"]
    shown = table.head(arcs).drop(columns="class").dropna(axis=1, how="all")
    count = f"{len(table):,} arcs" if len(table) > 1 else "1 arc"
    part = f", {len(shown):,} shown" if len(shown) < len(table) else ""
    forms = {"weight": "{:.4g}", "standardised": "{:+.3f}", "se": "{:.2g}", "t": "{:.1f}"}
    forms |= {"p_edge": "{:.2f}", "p_direction": "{:.2f}"}
    text = shown.to_string(
        index=False,
        formatters={name: form.format for name, form in forms.items() if name in shown},
        na_rep="",
    )
    return [f"{count}{part}, the largest standardised weight first", *text.splitlines()]
