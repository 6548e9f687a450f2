"""NOTEARS, DAGMA and NOCURL as the COSMO paper ran them: Adam on mini-batches for each problem."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cosmodag.graph.constraint import CONSTRAINTS, EXPONENTIAL
from cosmodag.learners.constrained.constrained_learner import (
    LEARNING_RATE,
    ConstrainedLearner,
    PathLearner,
)
from cosmodag.learners.constrained.dagma import falling_weights
from cosmodag.learners.constrained.nocurl import PotentialLearner
from cosmodag.learners.constrained.notears import LinearNotears
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.parameters import BatchParameters
from cosmodag.learners.refined import RefinedLearner
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Barrier, Penalised, mean_squared_error
from cosmodag.model.structure import Free, Potential
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.methods.lagrangian import Lagrangian
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.methods.two_stage import TwoStage
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.recipe import Domain, Recipe
from cosmodag.solve.training.batch_rows import Passes


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticLearner(BatchParameters, RefinedLearner, ConstrainedLearner):
    r"""Base class of linear learners as the COSMO paper ran them: Adam on mini-batches.

    The loss is :math:`\lVert X - XW \rVert_F^2 / nd`, a mean over variables, so that λ₁ has another
    scale than in the authors' formulation. The diagonal of W is free.
    """

    learning_rate: Setting = parameter("auto", LEARNING_RATE, above=0.0)
    epochs: int = parameter(
        5000, "Number of passes over the data for each problem of the sequence."
    )
    random_state: Any = parameter(
        0, "Random seed for the order of rows, and for initial values if they are random."
    )

    # Usual number of problems in the sequence, for the progress bar.
    _problems: ClassVar[int] = 1

    def _constants(self, n: int, d: int) -> dict[str, float]:
        return {"rounds": float(self._rounds(n)), "beta1": 0.9, "beta2": 0.999}

    def _length(self, n: int, d: int) -> int:
        return self._problems * self._rounds(n)

    def _rounds(self, n: int) -> int:
        """Return the number of rounds of one problem of the sequence."""
        return self.epochs * Passes.over(n, self.batch_size).rounds

    def _recipe(self, structure: Any, objective: Any, **further: Any) -> Recipe:
        """Return the recipe of a linear problem in mini-batches."""
        return Recipe(structure, Linear(), objective, batch_size=self.batch_size, **further)


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticNotears(LinearNotears, StochasticLearner):
    r"""Linear NOTEARS as the COSMO paper ran it: mini-batch Adam for each problem.

    The constraint and the augmented Lagrangian are those of :class:`cosmodag.Notears`. The loss is
    :math:`\lVert X - XW \rVert_F^2 / nd`, the diagonal of W is free, and α starts at 1. A fit takes
    about 1.5 million steps; the learner exists to reproduce the paper's tables.

    Examples
    --------
    >>> from cosmodag.bench.stochastic_learners import StochasticNotears
    >>> StochasticNotears().settings_for(30)["lambda1"]
    0.00044
    """

    tolerance: Setting = parameter(
        "auto",
        """Values of h(W) up to this one count as zero; ``"auto"`` is half the spacing of
        single-precision numbers at d, since the paper's code subtracts d from a trace, and cannot
        distinguish smaller values from zero.""",
    )

    automatic: ClassVar = {"lambda1": 4.4e-4, "learning_rate": 3.2e-4}
    _problems = 18

    def _rule(self, d: int) -> dict[str, float]:
        return {**self.automatic, "tolerance": 0.5 * float(np.spacing(np.float32(d)))}

    def _constants(self, n: int, d: int) -> dict[str, float]:
        # With a free diagonal, W = I has zero loss, so the constraint must have weight at once.
        return {"multiplier": 1.0, "penalty": 1.0, **StochasticLearner._constants(self, n, d)}

    def solver_for(self, n: int, d: int) -> Lagrangian:
        """Return the augmented Lagrangian of NOTEARS."""
        objective = Penalised(mean_squared_error, CONSTRAINTS[self.constraint])
        recipe = self._recipe(Free(masked=False), objective)
        tolerance = self.settings_for(d)["tolerance"]
        return Lagrangian(recipe, (Stochastic(),), self.max_iter, tolerance, keeps_last=False)


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticDagma(PathLearner, StochasticLearner):
    r"""Linear DAGMA as the COSMO paper ran it: mini-batch Adam for each stage.

    The barrier and the central path are those of :class:`cosmodag.Dagma`. The loss is
    :math:`\lVert X - XW \rVert_F^2 / nd`, the diagonal of W is free, and there are four stages with
    s = 1, 1, 0.9, 0.8. The learner exists to reproduce the paper's tables.

    Examples
    --------
    >>> from cosmodag.bench.stochastic_learners import StochasticDagma
    >>> StochasticDagma().settings_for(30)["learning_rate"]
    0.00054
    """

    automatic: ClassVar = {"lambda1": 3.9e-4, "learning_rate": 5.4e-4}
    _beta1 = 0.9

    def _stages(self, n: int) -> tuple[Stage, ...]:
        return falling_weights([1.0, 1.0, 0.9, 0.8], self._rounds(n), self._rounds(n))

    def solver_for(self, n: int, d: int) -> CentralPath:
        """Return DAGMA's central path."""
        recipe = self._recipe(Free(masked=False), Barrier(mean_squared_error), guard=Domain())
        return CentralPath(recipe, (Stochastic(),), self._stages(n))


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticNoCurl(PotentialLearner, StochasticLearner):
    r"""Linear NOCURL as the COSMO paper ran it: mini-batch Adam for each problem.

    The two stages are those of :class:`cosmodag.NoCurl`. The loss is
    :math:`\lVert X - XW \rVert_F^2 / nd`, h(W) = tr e^{W∘W} − d, the diagonal of the first stage is
    free, and K starts at random. The learner exists to reproduce the paper's tables.

    Examples
    --------
    >>> from cosmodag.bench.stochastic_learners import StochasticNoCurl
    >>> StochasticNoCurl().settings_for(30)["lambda1"]
    0.0014
    """

    automatic: ClassVar = {"lambda1": 1.4e-3, "learning_rate": 8.9e-4}
    _problems = 3

    def solver_for(self, n: int, d: int) -> TwoStage:
        """Return NOCURL's two stages."""
        first = self._recipe(Free(masked=False), Penalised(mean_squared_error, EXPONENTIAL))
        second = self._recipe(Potential(), Penalised(mean_squared_error))
        return TwoStage(first, second, (Stochastic(),))


@dataclass(kw_only=True, eq=False, repr=False)
class NoCurlU(PotentialLearner, StochasticLearner):
    r"""NOCURL-U of the COSMO paper: K and φ are optimised jointly, from random values.

    It solves the problem of :class:`StochasticNoCurl` without the first stage, by mini-batch Adam.
    The paper shows that the result is much worse.

    Examples
    --------
    >>> from cosmodag.bench.stochastic_learners import NoCurlU
    >>> NoCurlU().settings_for(30)["lambda1"]
    0.00074
    """

    automatic: ClassVar = {"lambda1": 7.4e-4, "learning_rate": 4.9e-4}

    def solver_for(self, n: int, d: int) -> OneProblem:
        """Return the solver: one problem."""
        return OneProblem(self._recipe(Potential(), Penalised(mean_squared_error)))
