"""NOTEARS-MLP: perceptrons under a smooth acyclicity constraint (Zheng et al., AISTATS 2020)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cosmodag.graph.constraint import EXPONENTIAL
from cosmodag.learners.base import Setting
from cosmodag.learners.networks.learner import NetworkLearner
from cosmodag.learners.trained.constrained import LagrangianLearner
from cosmodag.model.mechanism import MLP
from cosmodag.model.objective import Decayed, Penalised, half_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.methods.lagrangian import Lagrangian
from cosmodag.solve.minimisers.full_batch import FullBatch
from cosmodag.solve.recipe import Recipe

__all__ = ["NotearsMLP"]


@dataclass(kw_only=True, eq=False, repr=False)
class NotearsMLP(NetworkLearner, LagrangianLearner):
    r"""Non-linear NOTEARS: every variable a perceptron of its parents, h(A) = 0 making a DAG.

    Solves, over first-layer weights W ∈ R^{d×d×h} and the other layers,

    .. math::

        \min\; \frac{1}{2n} \sum_v \lVert x_v - f_v(X) \rVert^2 + \lambda_1 \lVert W \rVert_1
        + \frac{\lambda_2}{2} \lVert \text{all weights} \rVert^2
        \quad\text{subject to}\quad \operatorname{tr} e^{A} - d = 0,\; A_{uv} = \sum_i W_{uvi}^2,

    by an augmented Lagrangian, own-variable inputs fixed to zero: the authors' definition. Each of
    its problems is solved in float64 on all rows by a quasi-Newton method for objectives with a
    one-norm (OWL-QN), where the authors split every weight in two for L-BFGS-B; at d = 20 an
    iteration then takes a quarter of the time.

    Parameters
    ----------
    lambda1, lambda2 : float or "auto"
        λ₁ and λ₂; automatically {lambda1} each.

    Examples
    --------
    >>> from cosmodag import NotearsMLP, simulate
    >>> data = simulate.load("n200_d5_ER1_mlp", seed=0)
    >>> model = NotearsMLP(random_state=0).fit(data.X)
    >>> model.was_cyclic_
    False
    """

    lambda2: Setting = "auto"

    automatic: ClassVar = {"lambda1": 0.01, "lambda2": 0.01, "tolerance": 1e-8}
    _precision = np.float64
    _usual_length = 2500  # at d = 20

    def solver_for(self, n: int, d: int) -> Lagrangian:
        """NOTEARS' augmented Lagrangian."""
        mechanism = MLP(tuple(self.hidden), self.activation)
        objective = Decayed(Penalised(half_squared_error, EXPONENTIAL))
        recipe = Recipe(Free(from_zero=False), mechanism, objective)
        tolerance = self.settings_for(d)["tolerance"]
        return Lagrangian(recipe, (FullBatch(),), self.max_iter, tolerance)
