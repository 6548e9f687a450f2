"""Learners of networks under a constraint: what NOTEARS-MLP and DAGMA-MLP share."""

import sys
from typing import Any

from cosmodag.learners.base import Learnt
from cosmodag.learners.constrained import ConstrainedLearner, ReadableSolver, Setting
from cosmodag.learners.networks import NetworkLearner
from cosmodag.solver.problems import Solution
from cosmodag.structure import Free

__all__ = ["ConstrainedNetworkLearner"]


class ConstrainedNetworkLearner(NetworkLearner, ConstrainedLearner):
    """Perceptrons whose first-layer weights are free, and made acyclic by a solver.

    There is one variant, the authors' own: all rows in every step, own-variable inputs masked.
    """

    lambda2: Setting

    variant = "original"
    batch_size = sys.maxsize
    learning_rate: Setting = "auto"
    tolerance: Setting = "auto"
    device = "cpu"

    def _learnt(self, solver: ReadableSolver, solution: Solution, extra: dict[str, Any]) -> Learnt:
        parameters = solution.parameters
        masked = Free().gain(len(parameters["arcs"]), parameters["order"])
        self._keep(parameters["arcs"] * masked[..., None], parameters["functions"])
        return Learnt(self._arc_strengths(self.arc_strength), stopped=solution.stopped, extra=extra)

    def _causal_order(self) -> None:
        """Leave the order to the weights."""
