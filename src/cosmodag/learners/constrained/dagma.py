"""DAGMA: acyclicity by a log-determinant barrier, for linear relations and for networks."""

from dataclasses import dataclass
from typing import ClassVar

from cosmodag.learners.constrained.constrained_learner import (
    LEARNING_RATE,
    CovarianceLearner,
    PathLearner,
)
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.networks.learner import NetworkLearner
from cosmodag.learners.parameters import Device
from cosmodag.model.mechanism import MLP, Linear
from cosmodag.model.objective import (
    Barrier,
    Decayed,
    half_squared_error,
    log_squared_error,
)
from cosmodag.model.structure import Free
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.minimisers.barrier_linear import LinearDescent
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.recipe import Inside, Recipe

_SCORE_WEIGHTS = (1e-1, 1e-2, 1e-3, 1e-4)

_PENALTIES = 'Penalty coefficients λ₁ and λ₂; ``"auto"`` is {lambda1} and {lambda2}.'


@dataclass(kw_only=True, eq=False, repr=False)
class Dagma(PathLearner, CovarianceLearner):
    r"""Linear DAGMA: the best-fitting DAG, approached from within the domain of a barrier.

    Solves

    .. math::

        \min_W\; \frac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda_1 \lVert W \rVert_1
        \quad\text{subject to}\quad W \text{ is a DAG}

    along a central path: each stage minimises μ times this score plus the barrier
    :math:`h_s(W) = -\log\det(sI - W \circ W) + d \log s`, which is zero only on DAGs, and μ falls
    by a factor of ten from stage to stage. Each step inverts a matrix, O(d³).

    This is the authors' formulation: float64, Adam (β = 0.99, 0.999) on the full gradient computed
    from the covariance, five stages with s = 1, 0.9 … 0.6, the diagonal fixed to zero. It runs on
    the CPU, in compiled code, and is deterministic. ``cosmodag.bench`` has the formulation
    that the COSMO paper compared with.

    Examples
    --------
    >>> from cosmodag import Dagma, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Dagma().fit(data.X)
    >>> model.was_cyclic_
    False
    """

    learning_rate: Setting = parameter("auto", LEARNING_RATE, above=0.0)
    max_iter: int = parameter(
        60_000, "Maximum number of iterations of the last stage; the others have half as many."
    )
    tolerance: float = parameter(
        1e-6,
        "A stage ends if the objective changes by less than this fraction over 1000 iterations.",
        at_least=0.0,
    )

    automatic: ClassVar = {"lambda1": 0.03, "learning_rate": 3e-4, "tolerance": 1e-6}

    def _stages(self, n: int) -> tuple[Stage, ...]:
        return falling_weights([1.0, 0.9, 0.8, 0.7, 0.6], max(1, self.max_iter // 2), self.max_iter)

    def solver_for(self, n: int, d: int) -> CentralPath:
        """Return DAGMA's central path."""
        recipe = Recipe(Free(), Linear(), Barrier(half_squared_error), guard=Inside())
        minimisers = (LinearDescent(self.settings_for(d)["tolerance"]), Stochastic())
        return CentralPath(recipe, minimisers, self._stages(n))


def falling_weights(radii: list[float], rounds: int, last: int) -> tuple[Stage, ...]:
    """Stages with μ = 1, 0.1, … and the given s, each of `rounds` rounds, the last of `last`."""
    stages = zip(radii, [rounds] * (len(radii) - 1) + [last], strict=True)
    return tuple(Stage(0.1**k, *stage) for k, stage in enumerate(stages))


@dataclass(kw_only=True, eq=False, repr=False)
class DagmaMLP(NetworkLearner, PathLearner):
    r"""Non-linear DAGMA: each variable is a perceptron of its parents, and a barrier gives a DAG.

    Solves, over first-layer weights W ∈ R^{d×d×h} and the other layers,

    .. math::

        \min\; \frac{d}{2} \log\!\left(\frac1n \sum_v \lVert x_v - f_v(X) \rVert^2\right)
        + \lambda_1 \lVert W \rVert_1 + \frac{\lambda_2}{2} \lVert \text{all parameters} \rVert^2
        \quad\text{subject to}\quad A_{uv} = \sum_i W_{uvi}^2 \text{ is a DAG},

    along a central path: four stages minimise μ times this score plus
    :math:`-\log\det(I - A)`, with μ = 0.1, 0.01, 0.001 and 0.0001, by Adam (β = 0.99, 0.999) on all
    rows. Training starts without arcs, and the weights from each variable to its own network are
    fixed to zero. A stage that leaves the domain of the barrier is restarted with half the learning
    rate.

    This is the authors' formulation, in float32, with ten times their learning rate and a
    twenty-fifth of their iterations; theirs are ``learning_rate=2e-4, max_iter=80_000``.

    Examples
    --------
    >>> from cosmodag import DagmaMLP, simulate
    >>> data = simulate.load("n200_d5_ER1_mlp", seed=0)
    >>> model = DagmaMLP(max_iter=400, random_state=0).fit(data.X)
    >>> model.was_cyclic_
    False
    """

    lambda1: Setting = parameter("auto", _PENALTIES)
    lambda2: Setting = parameter("auto", _PENALTIES, at_least=0.0)
    device: Device | str = parameter("auto", "Device of the computation.", option="--device")
    learning_rate: Setting = parameter("auto", LEARNING_RATE, above=0.0)
    max_iter: int = parameter(
        3200, "Number of iterations of the last stage; the others have five eighths of it."
    )

    automatic: ClassVar = {"lambda1": 0.02, "lambda2": 0.005, "learning_rate": 2e-3}

    def _stages(self, n: int) -> tuple[Stage, ...]:
        lengths = [max(1, self.max_iter * 5 // 8)] * 3 + [self.max_iter]
        return tuple(
            Stage(weight, 1.0, length)
            for weight, length in zip(_SCORE_WEIGHTS, lengths, strict=True)
        )

    def solver_for(self, n: int, d: int) -> CentralPath:
        """Return DAGMA's central path."""
        mechanism = MLP(tuple(self.hidden), self.activation)
        objective = Decayed(Barrier(log_squared_error), biases=True)
        recipe = Recipe(Free(), mechanism, objective, guard=Inside())
        return CentralPath(recipe, (Stochastic(),), self._stages(n))
