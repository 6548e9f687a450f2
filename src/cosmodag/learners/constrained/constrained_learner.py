"""Base classes of NOTEARS, DAGMA and NOCURL."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cosmodag.errors import AcyclicityWarning
from cosmodag.fit.settle import Aligned
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.refined import RefinedLearner
from cosmodag.learners.trained.trained_learner import TrainedLearner
from cosmodag.solve.methods.central_path import Stage

# Iteration limit of each problem: the default of SciPy's L-BFGS-B, as in the authors' NOTEARS.
_MAX_INNER_ITERATIONS = 15_000

LEARNING_RATE = 'Adam\'s learning rate; ``"auto"`` is {learning_rate}.'


@dataclass(kw_only=True, eq=False, repr=False)
class ConstrainedLearner(TrainedLearner):
    """Base class of learners that make W acyclic by a constraint or a sequence of problems.

    Attributes
    ----------
    was_cyclic_ : bool
        Whether the arcs of `raw_weights_` above the threshold contain a cycle; the fit then warns.
    """

    lambda1: Setting = parameter(
        "auto", 'Coefficient λ₁ of the penalty ‖W‖₁; ``"auto"`` is {lambda1}.', at_least=0.0
    )

    # Usual number of iterations of a fit, for the progress bar.
    _usual_length: ClassVar[int] = 1000

    def _length(self, n: int, d: int) -> int:
        return self._usual_length

    def warn_if_repaired(self, found: Aligned) -> None:
        """Warn of arcs dropped to break cycles."""
        if found.was_cyclic:
            warnings.warn(
                f"The optimised weights contain a cycle, and {found.dropped_arcs} arc(s) were "
                "dropped to obtain a DAG: optimise longer, or raise threshold.",
                AcyclicityWarning,
                stacklevel=3,
            )


@dataclass(kw_only=True, eq=False, repr=False)
class LagrangianLearner(ConstrainedLearner):
    """Base class of learners that minimise an augmented Lagrangian (NOTEARS).

    Attributes
    ----------
    history_ : list of dict
        For each problem: ``epoch``, ``loss``, ``acyclicity`` (h), ``multiplier`` (α), ``penalty``
        (ρ).
    """

    max_iter: int = parameter(100, "Maximum number of updates of the multiplier α.")
    tolerance: Setting = parameter(
        "auto", 'Values of h up to this one count as zero; ``"auto"`` is {tolerance}.', at_least=0.0
    )

    def _constants(self, n: int, d: int) -> dict[str, float]:
        return {"multiplier": 0.0, "penalty": 1.0, "rounds": float(_MAX_INNER_ITERATIONS)}


@dataclass(kw_only=True, eq=False, repr=False)
class PathLearner(ConstrainedLearner):
    """Base class of learners that follow a central path (DAGMA).

    Attributes
    ----------
    history_ : list of dict
        For each attempt at a stage: ``epoch``, ``loss``, ``accepted``, ``score_weight`` (μ),
        ``radius`` (s).
    """

    # Decay rate β₁ of Adam's mean of gradients.
    _beta1: ClassVar[float] = 0.99

    @abstractmethod
    def _stages(self, n: int) -> tuple[Stage, ...]:
        """Return the stages of the path, each with its own number of rounds."""

    def _constants(self, n: int, d: int) -> dict[str, float]:
        return {"beta1": self._beta1, "beta2": 0.999}

    def _length(self, n: int, d: int) -> int:
        return sum(stage.rounds for stage in self._stages(n))


@dataclass(kw_only=True, eq=False, repr=False)
class CovarianceLearner(RefinedLearner, ConstrainedLearner):
    """Base class of linear learners as their authors define them: float64, CPU, deterministic.

    The loss is computed from the covariance, so that the time of a step does not depend on n.
    """

    _precision = np.float64
