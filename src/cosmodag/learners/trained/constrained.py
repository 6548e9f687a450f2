"""Learners that bring acyclicity about by a solver: what NOTEARS, DAGMA and NOCURL share."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosmodag.errors import AcyclicityWarning
from cosmodag.fit.checks import check_choice, check_count
from cosmodag.learners.trained.base import Setting, TrainedLearner
from cosmodag.solve.training.passes import Passes

__all__ = ["ADAM", "VARIANTS", "ConstrainedLearner", "VariantLearner"]

VARIANTS = ("original", "paper")

ADAM = {"beta1": 0.9, "beta2": 0.999}
"""How slowly Adam's moments forget, in all reproductions but DAGMA's original."""


@dataclass(kw_only=True, eq=False, repr=False)
class ConstrainedLearner(TrainedLearner):
    """Structure learning by a constraint, or a sequence of problems."""

    max_iter: int = 100

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        check_count("max_iter", self.max_iter)

    def _warn_if_repaired(self) -> None:
        if self.was_cyclic_:
            warnings.warn(
                f"The optimised weights hold a cycle, so that {self.dropped_arcs_} arc(s) were "
                "dropped to make a DAG: optimise longer, or raise threshold, to need no repair.",
                AcyclicityWarning,
                stacklevel=3,
            )


@dataclass(kw_only=True, eq=False, repr=False)
class VariantLearner(ConstrainedLearner):
    """A linear learner in two variants: its authors', and the one the COSMO paper compared with.

    The original runs in float64 on the CPU, and what concerns mini-batches is of no use to it.
    """

    lambda1: Setting = "auto"
    learning_rate: Setting = "auto"
    variant: str = "original"
    epochs: int = 5000
    batch_size: int = 64
    noise: str = "auto"
    device: str = "auto"

    @property
    def _is_original(self) -> bool:
        return self.variant == "original"

    @property
    def _device(self) -> str:
        return "cpu" if self._is_original else super()._device

    @property
    def _precision(self) -> type[np.floating[Any]]:
        return np.float64 if self._is_original else np.float32

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        check_choice("variant", self.variant, VARIANTS)
        for name in ("epochs", "batch_size"):
            check_count(name, getattr(self, name))

    def _rounds(self, n: int) -> int:
        """Give the rounds of one problem of the paper's variant."""
        return self.epochs * Passes.over(n, self.batch_size).rounds
