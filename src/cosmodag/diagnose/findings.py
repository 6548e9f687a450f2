"""A finding as plain data, and as a warning."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cosmodag.errors import DataWarning, ScaleWarning

__all__ = ["Finding", "warn"]

_ABOUT_SCALE = ("scale_ratio", "equal_scale", "varsortability")


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
    severity : {"warning", "notice"}
        A warning bears on whether the answer can be trusted; a notice is good to know.
    sentence : str
        What it means for the answer and, for a warning, what to do.
    """

    name: str
    columns: tuple[str, ...]
    value: float
    severity: Literal["warning", "notice"]
    sentence: str


def warn(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Issue the warnings among findings, as `DataWarning` or its child `ScaleWarning`.

    Parameters
    ----------
    findings : iterable of Finding
        What `quick` or `diagnose` returned; notices are passed over.
    stacklevel : int
        As for `warnings.warn`: 2 names the caller of this function, 3 the caller's caller.
    """
    for finding in findings:
        if finding.severity == "warning":
            category = ScaleWarning if finding.name in _ABOUT_SCALE else DataWarning
            warnings.warn(finding.sentence, category, stacklevel=stacklevel)
