"""Attributes of learners that were fitted with regimes."""

from typing import TYPE_CHECKING, Any

from cosmodag.fit.regimes.fitted import FittedRegimes
from cosmodag.fit.view.attributes import HoldsDAG

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RegimesView"]


class RegimesView(HoldsDAG):
    """Targets of regimes, and the evidence for them."""

    regimes_: Any

    @property
    def targets_(self) -> "pd.DataFrame":
        """Table of the targets of regimes, for a fit with ``regimes``.

        Columns: ``regime``, ``variable``; ``stated``, whether the user named it; ``evidence``, the
        log-likelihood that an own equation gains in the regime, penalised and by ranks, so that it
        does not depend on the shape of the noise (a variable that was not named is a target above
        log(2 (d − 1))); ``change``: ``noise`` (the shared weights with another intercept and
        variance), ``slopes`` (other weights and intercept, the same noise), ``cut`` (no parents)
        or ``weights`` (all parameters its own); ``deviation`` of the noise of the own equation;
        ``rows`` of the regime.
        """
        return self._regimes.table(self.names_)

    @property
    def regime_evidence_(self) -> "pd.DataFrame":
        """Evidence that each variable changed in each regime, for a fit with ``regimes``.

        One row for each regime and one column for each variable, as ``evidence`` in ``targets_``.
        """
        return self._regimes.evidence_table(self.names_)

    @property
    def _regimes(self) -> FittedRegimes:
        found: FittedRegimes = self.regimes_
        return found
