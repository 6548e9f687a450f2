"""Results that the steps of a fit pass on: task, learning, learnt weights, refinement, fit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose.findings import Finding
from cosmodag.fit.dag.linear_equations import FittedEquations, LinearEquations
from cosmodag.fit.fitted_dag import FittedDAG

if TYPE_CHECKING:
    from cosmodag.fit.prepare import Prepared
    from cosmodag.learners.structure_learner import StructureLearner
    from cosmodag.solve.training.train import Checkpoint


class FitTask(NamedTuple):
    """A learner, and the prepared table that it is to be fitted to."""

    learner: "StructureLearner"
    given: "Prepared"


@dataclass(frozen=True, eq=False)
class Learnt:
    """Result of learning, before it becomes a DAG."""

    # (d, d): optimised strengths of the arcs; for very many variables a sparse matrix of the
    # strengths above the threshold; None if the learner gives orders only.
    raw_weights: Any
    # Causal order, causes first; None if it follows from the weights.
    order: NDArray[np.intp] | None = None
    stopped: str | None = None  # why learning ended early ("time", "interrupt"), or None
    # Further fitted attributes of the learner, by name.
    extra: dict[str, Any] = field(default_factory=dict)
    # Further orders that refinement starts from, by name.
    orders: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    # The optimised equations, before the threshold.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)

    def predict(self, data: NDArray[Any]) -> NDArray[np.float64]:
        """Predict every variable by the optimised equations, in prepared units."""
        return np.asarray(self.equations.predict(data, self.raw_weights), np.float64)


class Learning(NamedTuple):
    """A task whose learning has ended, one of many."""

    place: int  # index of the task in the list of tasks
    learner: "StructureLearner"  # the task's, with the choices that were made while learning
    stopped: str | None  # why learning ended early ("time", "interrupt"), or None
    # Reads out the result of learning, given the prepared table (the rows of a resample). It may be
    # called from another thread, and raises `DivergenceError` if training diverged.
    read: "Callable[[Prepared], Learnt]"
    # Saved states of training, to delete when the fit has ended.
    checkpoints: "tuple[Checkpoint, ...]" = ()


@dataclass(frozen=True, eq=False)
class RefinedFit:
    """Result of refinement."""

    order: NDArray[np.intp]  # causal order, causes first
    weights: sparse.csr_array  # (d, d) sparse: the chosen arcs and their refitted weights
    noise: str  # noise model that was assumed
    reason: str  # why, in a sentence
    # One record for each start: its name, the scores before and after, moves, seconds.
    report: list[dict[str, Any]]
    stopped: str | None = None  # why it ended early, or None
    # Scores that decided about the noise, by name.
    scores: dict[str, float] = field(default_factory=dict)
    # The equations of the variables on the chosen arcs.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)
    # Finding that contradicts every noise model beyond the Gaussian one, or None.
    doubt: Finding | None = None
    # (d, d): loss of score when an arc is turned; None if it is to be computed for linear
    # equations.
    turning_losses: NDArray[np.float64] | None = None
    # Further fitted attributes of the learner, by name.
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FitResult:
    """Result of a fit, which `StructureLearner.take` gives to a learner."""

    dag: FittedDAG
    attributes: dict[str, Any]  # further fitted attributes of the learner, by name
    stopped: str | None = None  # why the fit ended early ("time", "interrupt"), or None
    # Findings of the diagnosis before the fit and, once the graph was examined, those after it.
    findings: list[Finding] = field(default_factory=list)
    # Finding that contradicts every noise model beyond the Gaussian one, or None.
    doubt: Finding | None = None
