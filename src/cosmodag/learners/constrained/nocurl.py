"""NOCURL: DAGs as the gradient flow of a potential (Yu, Gao, Yin and Ji, ICML 2021)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cosmodag.graph.constraint import POLYNOMIAL
from cosmodag.learners.constrained.constrained_learner import CovarianceLearner
from cosmodag.learners.declarations import parameter
from cosmodag.learners.trained.trained_learner import TrainedLearner
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, half_squared_error
from cosmodag.model.structure import Free, Potential
from cosmodag.solve.methods.two_stage import TwoStage
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton
from cosmodag.solve.problems import Solution
from cosmodag.solve.recipe import Recipe


@dataclass(kw_only=True, eq=False, repr=False)
class PotentialLearner(TrainedLearner):
    """Base class of learners of W = K ∘ ReLU(φ_v − φ_u).

    Attributes
    ----------
    was_cyclic_ : bool
        False, unless the fit was stopped in its first stage.
    history_ : list of dict
        For each problem, or group of epochs: ``epoch``, ``loss``, ``multiplier`` (α).
    potentials_ : (d,) array
        Potentials φ; causes have lower ones than their effects.
    """

    extra_arrays = ("potentials_",)

    def _extra(self, solution: Solution) -> dict[str, Any]:
        # A fit that was stopped in its first stage has no potentials.
        order = np.asarray(solution.parameters["order"], np.float64)
        return {"potentials_": order} if order.size else {}


@dataclass(kw_only=True, eq=False, repr=False)
class NoCurl(PotentialLearner, CovarianceLearner):
    r"""Linear NOCURL: W = K ∘ ReLU(φ_v − φ_u), acyclic for all K and φ.

    Solves

    .. math::

        \min_{K, \varphi}\; \frac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda_1 \lVert W \rVert_1,
        \qquad W_{uv} = K_{uv} \max(\varphi_v - \varphi_u, 0),

    in two stages. In the first, W is free, and a penalty α h(W) with α = 10 and then 1000 brings it
    close to a DAG. A Hodge projection of reachability along the arcs of weight at least 0.3 then
    gives the potentials φ. In the second stage, φ is fixed and K is optimised.

    This is the authors' formulation: float64, no ℓ₁ penalty, h(W) = tr (I + W∘W/d)^d − d, the
    diagonal fixed to zero, each problem solved by L-BFGS-B on the covariance. It runs on the CPU
    and is deterministic. ``cosmodag.bench`` has the formulations that the COSMO paper compared
    with.

    Examples
    --------
    >>> from cosmodag import NoCurl, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = NoCurl().fit(data.X)
    >>> model.was_cyclic_
    False
    """

    max_iter: int = parameter(15_000, "Maximum number of iterations of each problem.")
    tolerance: float = parameter(
        1e-8,
        "A problem ends if an iteration decreases the objective by less than this fraction.",
        at_least=0.0,
    )

    automatic: ClassVar = {"lambda1": 0.0, "tolerance": 1e-8}
    _usual_length = 500

    def _constants(self, n: int, d: int) -> dict[str, float]:
        return {"rounds": float(self.max_iter)}

    def solver_for(self, n: int, d: int) -> TwoStage:
        """Return NOCURL's two stages."""
        return TwoStage(
            Recipe(Free(), Linear(), Penalised(half_squared_error, POLYNOMIAL)),
            Recipe(Potential(from_zero=True), Linear(), Penalised(half_squared_error)),
            (QuasiNewton(self.settings_for(d)["tolerance"]),),
        )
