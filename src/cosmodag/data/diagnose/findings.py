"""Findings: plain data that can be issued as warnings or raised as errors."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import (
    CosmodagWarning,
    DataError,
    DataWarning,
    InterruptedWarning,
    ModelWarning,
    ScaleWarning,
    name_list,
)
from cosmodag.graph.texts import counted

Severity = Literal["error", "warning", "notice"]
SEVERITIES = get_args(Severity)
"""Worst first."""

# Findings with a warning class of their own: about units, or against the model as a whole, so that
# the probabilities of bootstrap fits are unreliable.
_CATEGORIES: dict[str, type[CosmodagWarning]] = {
    "stopped_early": InterruptedWarning,
    **dict.fromkeys(("scale_ratio", "equal_scale", "varsortability"), ScaleWarning),
    **dict.fromkeys(
        (
            "rows_follow",
            "several_populations",
            "curved",
            "uneven_noise",
            "few_valued_noise",
            "hidden_causes",
        ),
        ModelWarning,
    ),
}


@dataclass(frozen=True)
class Finding:
    """A finding about a table.

    Attributes
    ----------
    name : str
        Name of the finding, such as ``"constant"``.
    columns : tuple of str
        The columns concerned; empty if the finding is about the table as a whole.
    value : float
        A count, a ratio or a fraction, as the sentence explains.
    severity : {"error", "warning", "notice"}
        An error prevents any fit, a warning says that the result may not be reliable, and a notice
        is information only.
    sentence : str
        The consequence for the result and, unless it is a notice, what to do.
    """

    name: str
    columns: tuple[str, ...]
    value: float
    severity: Severity
    sentence: str


def about(
    name: str,
    columns: Sequence[str],
    sentence: str,
    value: float | None = None,
    severity: Severity = "warning",
) -> list[Finding]:
    """Make a list of one finding about the given columns, empty if there are none.

    ``{columns}`` in the sentence stands for their names; the default value is their number.
    """
    if not columns:
        return []
    number = len(columns) if value is None else float(value)
    text = sentence.replace("{columns}", name_list(columns))
    return [Finding(name, tuple(columns), number, severity, text)]


def first_of(parts: Sequence[str], most: int, noun: str = "", between: str = ", ") -> str:
    """Join the first parts of a list, and count the others, with a noun if one is given.

    >>> first_of(["a", "b", "c"], 2, "column")
    'a, b and 1 more column'
    """
    text, rest = between.join(parts[:most]), len(parts) - most
    if rest <= 0:
        return text
    return f"{text} and {counted(rest, f'more {noun}')}" if noun else f"{text} and {rest} more"


def not_examined(columns: int, what: str) -> Finding:
    """Report that a check was skipped, because the table has too many columns."""
    sentence = (
        f"{what} were not checked, because this takes too long with {columns:,} columns: diagnose "
        "a subset of the columns."
    )
    return Finding("not_examined", (), columns, "notice", sentence)


def stopped_early(parts: Sequence[str]) -> list[Finding]:
    """Report the parts that a fit did not fully examine because it was stopped, if any."""
    if not parts:
        return []
    sentence = (
        f"The fit was stopped before it had fully examined {' and '.join(parts)}: fit again with "
        "more time to complete the examination."
    )
    return [Finding("stopped_early", (), len(parts), "warning", sentence)]


def warn_about(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Raise the first error among findings, or issue their warnings.

    Errors are `DataError`; warnings are `DataWarning`, or its subclasses `ScaleWarning` (units) and
    `ModelWarning` (the table contradicts the model).

    Parameters
    ----------
    findings : iterable of Finding
        Notices are ignored.
    stacklevel : int
        As for `warnings.warn`: 2 names the caller of this function, 3 the caller's caller.
    """
    findings = list(findings)
    for finding in findings:
        if finding.severity == "error":
            raise DataError(finding.sentence)
    for finding in findings:
        if finding.severity == "warning":
            category = _CATEGORIES.get(finding.name, DataWarning)
            warnings.warn(finding.sentence, category, stacklevel=stacklevel)


def chosen(names: Sequence[str], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Select the names of the columns that a mask marks."""
    return tuple(names[index] for index in np.flatnonzero(mask).tolist())
