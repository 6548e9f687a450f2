"""DAGMA-MLP: perceptrons inside a log-determinant barrier (Bello et al., NeurIPS 2022)."""

from dataclasses import dataclass
from typing import ClassVar

from cosmodag.learners.base import Setting
from cosmodag.learners.networks.learner import NetworkLearner
from cosmodag.learners.parameters import count
from cosmodag.learners.trained.constrained import PathLearner
from cosmodag.model.mechanism import MLP
from cosmodag.model.objective import Barrier, Decayed, log_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.machine.devices import device_named
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.minimisers.barrier_networks import NetworkDescent
from cosmodag.solve.minimisers.base import Stochastic
from cosmodag.solve.recipe import Inside, Recipe

__all__ = ["DagmaMLP"]

_SCORE_WEIGHTS = (1e-1, 1e-2, 1e-3, 1e-4)


@dataclass(kw_only=True, eq=False, repr=False)
class DagmaMLP(NetworkLearner, PathLearner):
    r"""Non-linear DAGMA: every variable a perceptron of its parents, a barrier making a DAG.

    Solves, over first-layer weights W ∈ R^{d×d×h} and the other layers,

    .. math::

        \min\; \frac{d}{2} \log\!\left(\frac1n \sum_v \lVert x_v - f_v(X) \rVert^2\right)
        + \lambda_1 \lVert W \rVert_1 + \frac{\lambda_2}{2} \lVert \text{all parameters} \rVert^2
        \quad\text{subject to}\quad A_{uv} = \sum_i W_{uvi}^2 \text{ is a DAG},

    along a central path: four stages minimise μ times this score plus
    :math:`-\log\det(I - A)`, with μ = 0.1, 0.01, 0.001 and 0.0001, by Adam (β = 0.99, 0.999) on all
    rows, starting from no arcs, own-variable inputs fixed to zero. A stage that leaves the domain
    of the barrier is begun again with half the learning rate.

    This is the authors' definition, in float32, with ten times their learning rate and a
    twenty-fifth of their iterations; ``learning_rate=2e-4, max_iter=80_000`` is their pace.

    Parameters
    ----------
    lambda1, lambda2 : float or "auto"
        λ₁ and λ₂; automatically {lambda1} and {lambda2}.
    learning_rate : float or "auto"
        Adam's rate; automatically {learning_rate}.
    max_iter : int
        Iterations of the last stage; the others take five eighths of that.
    device : {"auto", "cpu", "gpu"}
        Device of the computation.

    Examples
    --------
    >>> from cosmodag import DagmaMLP, simulate
    >>> data = simulate.load("n200_d5_ER1_mlp", seed=0)
    >>> model = DagmaMLP(random_state=0).fit(data.X)
    >>> model.was_cyclic_
    False
    """

    lambda2: Setting = "auto"
    learning_rate: Setting = "auto"
    max_iter: int = count(3200)
    device: str = "auto"

    automatic: ClassVar = {"lambda1": 0.02, "lambda2": 0.005, "learning_rate": 2e-3}

    def _stages(self, n: int) -> tuple[Stage, ...]:
        lengths = [max(1, self.max_iter * 5 // 8)] * 3 + [self.max_iter]
        return tuple(
            Stage(weight, 1.0, length)
            for weight, length in zip(_SCORE_WEIGHTS, lengths, strict=True)
        )

    def solver_for(self, n: int, d: int) -> CentralPath:
        """DAGMA's central path."""
        mechanism = MLP(tuple(self.hidden), self.activation)
        objective = Decayed(Barrier(log_squared_error), biases=True)
        recipe = Recipe(Free(), mechanism, objective, guard=Inside())
        on_cpu = device_named(self.device).platform == "cpu"
        minimisers = (NetworkDescent(), Stochastic()) if on_cpu else (Stochastic(),)
        return CentralPath(recipe, minimisers, self._stages(n))
