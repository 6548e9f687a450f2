"""Additive curves or networks: two learners of the same table, compared on held-out rows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.errors import CosmodagWarning
from cosmodag.io.tables.frames import Table
from cosmodag.learners.base import StructureLearner
from cosmodag.warning_filters import ignoring

__all__ = ["NetworkGain", "network_gain"]

# Share of the rows that are held out, and standard errors from which networks are preferred.
_HELD, _CERTAIN = 0.2, 2.0


@dataclass(frozen=True)
class NetworkGain:
    """Held-out log-likelihood per row that networks have over additive curves, and its error."""

    gain: float
    error: float

    @property
    def needs_networks(self) -> bool:
        """Whether the gain is significant."""
        return self.gain > _CERTAIN * self.error

    @property
    def explanation(self) -> str:
        """Say in one sentence what was compared and found."""
        change = "gain" if self.gain >= 0 else "lose"
        return (
            f"On held-out rows, networks of joint parents {change} {abs(self.gain):.3f} ± "
            f"{self.error:.3f} in log-likelihood per row over sums of curves."
        )


def network_gain(
    curves: StructureLearner,
    networks: StructureLearner,
    table: Table,
    targets: NDArray[np.bool_] | None,
    seed: int,
) -> NetworkGain:
    """Fit both learners to four fifths of the rows, and compare them on the others.

    Values that were set, by `targets` (n, d), are left out.
    """
    n = len(table.X)
    held = np.random.default_rng(seed).random(n) < _HELD
    sums = []
    for learner in (curves, networks):
        one: Any = clone(learner)
        seen = None if targets is None else targets[~held]
        with ignoring(CosmodagWarning):
            one.fit(table.of_rows(~held), interventions=seen)
            likelihoods = one.log_likelihoods(table.of_rows(held))
        if targets is not None:
            set_values = targets[held][:, ~one.preparation_.constant]
            likelihoods = np.where(set_values, 0.0, likelihoods)
        sums.append(likelihoods.sum(axis=1))
    gains = sums[1] - sums[0]
    return NetworkGain(float(gains.mean()), float(gains.std() / math.sqrt(max(len(gains), 1))))
