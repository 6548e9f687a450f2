"""What refinement makes of what a learner found."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose.findings import Finding
from cosmodag.fit.equations import FittedEquations, LinearEquations

__all__ = ["RefinedFit"]


@dataclass(frozen=True, eq=False)
class RefinedFit:
    """What refinement made of an order.

    Attributes
    ----------
    order
        Causal order, causes first.
    weights
        (d, d) sparse: the chosen arcs and their refitted weights.
    noise, reason
        What was assumed of the noise, and why, in a sentence.
    report
        One record for each start: ``start``, ``before`` and ``after``, the scores, ``moves``,
        ``seconds``.
    stopped
        Why it ended early, or None.
    scores
        Numbers that decided about the noise, by name.
    equations
        The equations of variables on the chosen arcs.
    doubt
        What contradicts every model that could direct more than the class, or None.
    """

    order: NDArray[np.intp]
    weights: sparse.csr_array
    noise: str
    reason: str
    report: list[dict[str, Any]]
    stopped: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)
    doubt: Finding | None = None
