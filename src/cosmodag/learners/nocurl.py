"""NOCURL: DAGs as the gradient flow of a potential (Yu, Gao, Yin and Ji, ICML 2021)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosmodag.errors import DataError
from cosmodag.graph.constraint import EXPONENTIAL, POLYNOMIAL
from cosmodag.learners.trained.constrained import ADAM, VariantLearner
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, half_squared_error, mean_squared_error
from cosmodag.model.structure import Free, Potential
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.methods.two_stage import TwoStage
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton
from cosmodag.solve.minimisers.stochastic import Stochastic
from cosmodag.solve.problems import Solution
from cosmodag.solve.recipe import Recipe

__all__ = ["NoCurl"]


@dataclass(kw_only=True, eq=False, repr=False)
class NoCurl(VariantLearner):
    r"""Linear NOCURL: W = K ∘ ReLU(φ_v − φ_u), acyclic whatever K and φ are.

    Solves

    .. math::

        \min_{K, \varphi}\; \frac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda_1 \lVert W \rVert_1,
        \qquad W_{uv} = K_{uv} \max(\varphi_v - \varphi_u, 0),

    in two stages. First W is free and a penalty α h(W) pushes it towards a DAG, with α = 10 and
    then 1000; the reachability of the arcs of at least 0.3 gives the potentials φ, by a Hodge
    projection. Then φ is frozen and K alone is optimised. With ``joint=True`` (NOCURL-U of the
    COSMO paper) there is no first stage, and K and φ are optimised together from random values;
    that is much worse, as the paper shows.

    There are two variants. ``"original"`` is the authors': float64, no ℓ₁ penalty,
    h(W) = tr (I + W∘W/d)^d − d, the diagonal fixed to zero, each problem solved by L-BFGS-B on the
    covariance, so that its cost does not depend on n; it runs on the CPU and is deterministic.
    ``"paper"`` is what the COSMO paper compared with: mini-batch Adam, the loss
    :math:`\lVert X - XW \rVert_F^2 / nd`, h(W) = tr e^{W∘W} − d, the diagonal of the first stage
    free, K starting at random.

    Parameters
    ----------
    joint : bool
        Optimise K and φ together; only with ``variant="paper"``.
    lambda1 : float or "auto"
        λ₁, on ‖W‖₁. Automatically 0 in the original, 1.4e-3 in the paper's variant, 7.4e-4 if
        `joint`.
    max_iter : int
        Iterations at most for each problem of the original.
    tolerance : float
        Relative decrease of the objective that ends a problem of the original.
    variant : {"original", "paper"}
        Whose formulation; see above.
    learning_rate : float or "auto"
        Adam's rate in the paper's variant, automatically 8.9e-4, or 4.9e-4 if `joint`.
    epochs : int
        Passes over the data for each problem of the paper's variant.
    batch_size : int
        Rows per step of the paper's variant.
    refine, noise
        As for :class:`cosmodag.Cosmo`; by default the weights are left as they were optimised.
    threshold : float or "auto"
        Arcs with \|W\| at or below it are left out of `adjacency_`. Automatically 0 where
        refinement decides by evidence, 0.3 without.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph: :class:`cosmodag.Knowledge`, its parts by name, or a file.
    missing : {"error", "drop", "impute"}
        Refuse missing values (NaN); drop the rows that hold one; or estimate them from the others,
        which counts as no evidence (`docs/missing.md`; `missing_report_` says how many there are).
    scale : {"center", "standardize", "none"}
        Subtract column means; also divide by standard deviations, which warns; or do nothing.
    device : {"auto", "cpu", "gpu"}
        Where the paper's variant computes.
    max_time : float, optional
        Seconds after which the fit stops with the result so far and a warning.
    random_state : int, Generator, RandomState or None
        Decides the start and the order of rows in the paper's variant.
    verbose : bool
        Show progress on stderr when that is a terminal.

    Attributes
    ----------
    raw_weights_, weights_ : (d, d) array
        W as optimised: acyclic, so that both are the same.
    adjacency_ : (d, d) array
        Of these the arcs above the threshold.
    was_cyclic_, dropped_arcs_
        Never true and zero, but for a fit that was stopped in its first stage.
    potentials_ : (d,) array
        φ.
    graph_ : networkx.DiGraph
    causal_order_ : list
    history_ : list of dict
        For each problem: ``epoch``, ``loss``, ``multiplier`` (α); if `joint`, for each chunk of
        epochs.
    n_iter_ : int
        Iterations, or epochs, of all problems together.
    settings_ : dict
        Every hyper-parameter as it was used.

    Examples
    --------
    >>> from cosmodag import NoCurl, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = NoCurl().fit(data.X)
    >>> model.was_cyclic_
    False
    """

    extra_arrays = ("potentials_",)

    joint: bool = False
    max_iter: int = 15_000
    tolerance: float = 1e-8

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        if self.joint and self._is_original:
            raise DataError(
                "joint is True, but NOCURL's authors never optimise K and φ together: "
                "set variant='paper'."
            )

    def _rule(self, d: int) -> dict[str, float]:
        if self._is_original:
            return {"lambda1": 0.0, "learning_rate": 8.9e-4, "tolerance": 1e-8}
        if self.joint:
            return {"lambda1": 7.4e-4, "learning_rate": 4.9e-4, "tolerance": 1e-8}
        return {"lambda1": 1.4e-3, "learning_rate": 8.9e-4, "tolerance": 1e-8}

    def _constants(self, n: int, d: int) -> dict[str, float]:
        rounds = self.max_iter if self._is_original else self._rounds(n)
        return {"rounds": float(rounds), **ADAM}

    def _length(self, n: int, d: int) -> int:
        return 500 if self._is_original else self._rounds(n) * (1 if self.joint else 3)

    def solver_for(self, n: int, d: int) -> TwoStage | OneProblem:
        """NOCURL's two stages, or one problem if `joint`."""
        if self._is_original:
            return TwoStage(
                Recipe(Free(), Linear(), Penalised(half_squared_error, POLYNOMIAL)),
                Recipe(Potential(from_zero=True), Linear(), Penalised(half_squared_error)),
                (QuasiNewton(self.settings_for(d)["tolerance"]), Stochastic()),
            )
        size = self.batch_size
        last = Recipe(Potential(), Linear(), Penalised(mean_squared_error), batch_size=size)
        if self.joint:
            return OneProblem(last)
        free = Free(masked=False)
        objective = Penalised(mean_squared_error, EXPONENTIAL)
        first = Recipe(free, Linear(), objective, batch_size=size)
        return TwoStage(first, last, (Stochastic(),))

    def _extra(self, solution: Solution) -> dict[str, Any]:
        # A fit that was stopped in its first stage has no potentials yet.
        order = np.asarray(solution.parameters["order"], np.float64)
        return {"potentials_": order} if order.size else {}
