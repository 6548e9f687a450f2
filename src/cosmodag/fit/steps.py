"""What the steps of a fit pass on: a task is learnt from, refined and settled."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose.findings import Finding
from cosmodag.fit.dag.equations import FittedEquations, LinearEquations
from cosmodag.fit.fitted_dag import FittedDAG

if TYPE_CHECKING:
    from cosmodag.fit.prepare import Prepared
    from cosmodag.learners.base import StructureLearner
    from cosmodag.solve.training.train import Checkpoint


class FitTask(NamedTuple):
    """A learner, and the prepared table that it is to be fitted to."""

    learner: "StructureLearner"
    given: "Prepared"


@dataclass(frozen=True, eq=False)
class Learnt:
    """Result of learning, before it becomes a DAG."""

    # (d, d) strengths as optimised; for very many variables a sparse matrix of those above the
    # threshold; None if a learner gives orders only.
    raw_weights: Any
    # Causal order, causes first; None to take it from the weights.
    order: NDArray[np.intp] | None = None
    stopped: str | None = None  # why learning ended early ("time", "interrupt"), or None
    # Further fitted attributes of the learner, by name.
    extra: dict[str, Any] = field(default_factory=dict)
    # Further orders that refinement starts from, by name.
    orders: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    # The optimised equations, without threshold.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)

    def predict(self, data: NDArray[Any]) -> NDArray[np.float64]:
        """Predict every variable by the optimised equations, in prepared units."""
        return np.asarray(self.equations.predict(data, self.raw_weights), np.float64)


class Learning(NamedTuple):
    """One of many tasks whose learning has ended."""

    place: int  # the place of the task among those given
    learner: "StructureLearner"  # that of the task, with what was decided while learning
    stopped: str | None  # why it was cut short ("time", "interrupt"), or None
    # Function that returns what was learnt, given the prepared table (the rows of a resample). May
    # be called from another thread; raises `DivergenceError` if training diverged.
    read: "Callable[[Prepared], Learnt]"
    # Saved states of training, to delete when the fit has ended.
    checkpoints: "tuple[Checkpoint, ...]" = ()


@dataclass(frozen=True, eq=False)
class RefinedFit:
    """Result of refinement."""

    order: NDArray[np.intp]  # causal order, causes first
    weights: sparse.csr_array  # (d, d) sparse: the chosen arcs and their refitted weights
    # What was assumed of the noise, and why, in a sentence.
    noise: str
    reason: str
    # One record for each start: start, before and after, the scores, moves, seconds.
    report: list[dict[str, Any]]
    stopped: str | None = None  # why it ended early, or None
    # Numbers that decided about the noise, by name.
    scores: dict[str, float] = field(default_factory=dict)
    # The equations of variables on the chosen arcs.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)
    # Finding that contradicts every noise model beyond the Gaussian one, or None.
    doubt: Finding | None = None
    # (d, d): loss of score where an arc is turned; None to compute it from lines.
    turning_losses: NDArray[np.float64] | None = None
    # Further fitted attributes of the learner, by name.
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FitResult:
    """Result of a fit; `StructureLearner.take` makes it the fit of a learner."""

    dag: FittedDAG
    attributes: dict[str, Any]  # further fitted attributes of the learner, by name
    stopped: str | None = None  # why the fit ended early ("time", "interrupt"), or None
    # What the diagnosis found before the fit, and in the graph once that has been examined.
    findings: list[Finding] = field(default_factory=list)
    # Finding that contradicts every noise model beyond the Gaussian one, or None.
    doubt: Finding | None = None
