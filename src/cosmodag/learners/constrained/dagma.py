"""DAGMA: acyclicity as a log-determinant barrier (Bello, Aragam and Ravikumar, NeurIPS 2022)."""

from dataclasses import dataclass
from typing import ClassVar

from cosmodag.learners.base import Setting
from cosmodag.learners.parameters import count
from cosmodag.learners.trained.constrained import (
    CovarianceLearner,
    PathLearner,
    StochasticLearner,
)
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Barrier, half_squared_error, mean_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.minimisers.barrier_linear import LinearDescent
from cosmodag.solve.minimisers.base import Stochastic
from cosmodag.solve.recipe import Domain, Inside, Recipe

__all__ = ["Dagma", "StochasticDagma"]


@dataclass(kw_only=True, eq=False, repr=False)
class Dagma(PathLearner, CovarianceLearner):
    r"""Linear DAGMA: the best-fitting DAG, approached from inside the domain of a barrier.

    Solves

    .. math::

        \min_W\; \frac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda_1 \lVert W \rVert_1
        \quad\text{subject to}\quad W \text{ is a DAG}

    along a central path: each stage minimises μ times this score plus the barrier
    :math:`h_s(W) = -\log\det(sI - W \circ W) + d \log s`, which is zero on DAGs alone, and μ falls
    by a factor of ten from stage to stage. Each step inverts a matrix, O(d³).

    This is the authors' formulation: float64, Adam (β = 0.99, 0.999) on the full gradient through
    the covariance, five stages with s = 1, 0.9 … 0.6, the diagonal fixed to zero. It runs on the
    CPU, in compiled code, and is deterministic. :class:`StochasticDagma` is the formulation that
    the COSMO paper compared with.

    Parameters
    ----------
    learning_rate : float or "auto"
        Adam's rate; automatically {learning_rate}.
    max_iter : int
        Maximal number of iterations of the last stage; the others take half as many.
    tolerance : float
        Relative change of the objective over 1000 iterations that ends a stage.

    Examples
    --------
    >>> from cosmodag import Dagma, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Dagma().fit(data.X)
    >>> model.was_cyclic_
    False
    """

    learning_rate: Setting = "auto"
    max_iter: int = count(60_000)
    tolerance: float = 1e-6

    automatic: ClassVar = {"lambda1": 0.03, "learning_rate": 3e-4, "tolerance": 1e-6}

    def _stages(self, n: int) -> tuple[Stage, ...]:
        return _path([1.0, 0.9, 0.8, 0.7, 0.6], max(1, self.max_iter // 2), self.max_iter)

    def solver_for(self, n: int, d: int) -> CentralPath:
        """DAGMA's central path."""
        recipe = Recipe(Free(), Linear(), Barrier(half_squared_error), guard=Inside())
        minimisers = (LinearDescent(self.settings_for(d)["tolerance"]), Stochastic())
        return CentralPath(recipe, minimisers, self._stages(n))


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticDagma(PathLearner, StochasticLearner):
    r"""Linear DAGMA as the COSMO paper ran it: mini-batch Adam for each stage.

    The barrier and the central path are those of :class:`Dagma`. The loss is
    :math:`\lVert X - XW \rVert_F^2 / nd`, the diagonal of W is free, and there are four stages with
    s = 1, 1, 0.9, 0.8. The learner exists to reproduce the paper's tables.

    Examples
    --------
    >>> from cosmodag import StochasticDagma
    >>> StochasticDagma().settings_for(30)["learning_rate"]
    0.00054
    """

    automatic: ClassVar = {"lambda1": 3.9e-4, "learning_rate": 5.4e-4}
    _beta1 = 0.9

    def _stages(self, n: int) -> tuple[Stage, ...]:
        return _path([1.0, 1.0, 0.9, 0.8], self._rounds(n), self._rounds(n))

    def solver_for(self, n: int, d: int) -> CentralPath:
        """DAGMA's central path."""
        recipe = self._recipe(Free(masked=False), Barrier(mean_squared_error), guard=Domain())
        return CentralPath(recipe, (Stochastic(),), self._stages(n))


def _path(radii: list[float], rounds: int, last: int) -> tuple[Stage, ...]:
    """Stages with μ = 1, 0.1, … and the given s, all of equal length but for the last."""
    stages = zip(radii, [rounds] * (len(radii) - 1) + [last], strict=True)
    return tuple(Stage(0.1**k, *stage) for k, stage in enumerate(stages))
