"""A finding as plain data, as a warning, and as an error."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning, ModelWarning, ScaleWarning

__all__ = ["SEVERITIES", "Finding", "chosen", "warn_about"]

SEVERITIES = ("error", "warning", "notice")
"""Worst first."""

# Findings that have a warning of their own: about units, or against the model as a whole, so that
# no probability can be read off its fits.
_CATEGORIES: dict[str, type[DataWarning]] = {
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
    """One thing found in a table.

    Attributes
    ----------
    name : str
        What was found, such as ``"constant"``.
    columns : tuple of str
        The columns it is about; empty when it is about the table as a whole.
    value : float
        The number behind it: a count, a ratio or a share, as the sentence says.
    severity : {"error", "warning", "notice"}
        With an error no learner can work; a warning bears on whether the answer can be trusted; a
        notice is good to know.
    sentence : str
        What it means for the answer and, unless it is a notice, what to do.
    """

    name: str
    columns: tuple[str, ...]
    value: float
    severity: Literal["error", "warning", "notice"]
    sentence: str


def warn_about(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Raise the first error among findings, or issue their warnings.

    Errors are `DataError`; warnings are `DataWarning`, or its children `ScaleWarning` (units) and
    `ModelWarning` (what contradicts the model of a linear learner).

    Parameters
    ----------
    findings : iterable of Finding
        Notices are passed over.
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
    """Names of the columns that a mask marks."""
    return tuple(names[index] for index in np.flatnonzero(mask).tolist())
