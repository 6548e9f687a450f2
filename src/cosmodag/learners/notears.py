"""NOTEARS: acyclicity as a smooth equality constraint (Zheng et al., NeurIPS 2018)."""

from dataclasses import dataclass

import numpy as np

from cosmodag.fit.checks import check_choice
from cosmodag.graph.constraint import CONSTRAINTS
from cosmodag.learners.base import Setting
from cosmodag.learners.trained.constrained import ADAM, VariantLearner
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, half_squared_error, mean_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.methods.lagrangian import Lagrangian
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton
from cosmodag.solve.minimisers.stochastic import Stochastic
from cosmodag.solve.recipe import Recipe

__all__ = ["Notears"]

# SciPy's own limit on the iterations of L-BFGS-B.
_INNER = 15_000
# Relative decrease that ends L-BFGS-B. Problems grow ever worse conditioned, and what is left
# unsolved shows: on the ten ER4 graphs on which this was chosen, with 1e-6, 1e-7 and 1e-8 the mean
# objective was 22.8, 21.4 and 20.6 and the mean AUC .970, .975 and .978 (standard error .008).
_INNER_TOLERANCE = 1e-8
# Problems that a fit of the paper's variant usually takes.
_USUAL_ROUNDS = 18


@dataclass(kw_only=True, eq=False, repr=False)
class Notears(VariantLearner):
    r"""Linear NOTEARS: the best-fitting weights of which h(W) = 0 makes a DAG.

    Solves

    .. math::

        \min_W\; \frac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda_1 \lVert W \rVert_1
        \quad\text{subject to}\quad h(W) = \operatorname{tr} e^{W \circ W} - d = 0

    by an augmented Lagrangian: problem after problem in which α h(W) + ½ρ h(W)² is added, with α
    and ρ growing until h(W) vanishes. Evaluating h costs O(d³).

    There are two variants. ``"original"`` is the authors': float64, the diagonal of W fixed to
    zero, each problem solved by L-BFGS-B on the covariance, so that its cost does not depend on n;
    it runs on the CPU and is deterministic. ``"paper"`` is what the COSMO paper compared with:
    mini-batch Adam, the loss :math:`\lVert X - XW \rVert_F^2 / nd`, the diagonal free, α starting
    at 1; it takes some 1.5 million steps.

    Parameters
    ----------
    lambda1 : float or "auto"
        λ₁, on ‖W‖₁. Automatically 0.03 in the original (the authors' examples have 0.1; 0.03 was
        chosen on simulated ER4 graphs) and 4.4e-4 in the paper's variant, whose loss is a mean over
        variables.
    max_iter : int
        Updates of α at most.
    tolerance : float or "auto"
        h(W) at or below this counts as zero. Automatically 1e-8 in the original; in the paper's
        variant half the spacing of single-precision numbers at d, which is where its code, that
        subtracts d from a trace, no longer told h from zero.
    constraint : {"expm", "truncated", "spectral"}
        h: the matrix exponential; a sum of powers cut where they vanish (TMPI, Zhang et al.,
        2022); or the spectral radius (NOBEARS, Lee et al., 2019).
    variant : {"original", "paper"}
        Whose formulation; see above.
    learning_rate : float or "auto"
        Adam's rate in the paper's variant, automatically 3.2e-4.
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
        Decides the order of rows in the paper's variant.
    verbose : bool
        Show progress on stderr when that is a terminal.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        W as optimised.
    weights_, adjacency_ : (d, d) array
        W without the arcs dropped to make it acyclic, and of these the ones above the threshold.
    was_cyclic_ : bool
        Whether thresholding `raw_weights_` alone would have left a cycle; that warns.
    dropped_arcs_ : int
        Arcs above the threshold in `raw_weights_` that are not in `adjacency_`.
    graph_ : networkx.DiGraph
    causal_order_ : list
    history_ : list of dict
        For each problem: ``epoch``, ``loss``, ``acyclicity`` (h), ``multiplier`` (α), ``penalty``
        (ρ).
    n_iter_ : int
        Iterations, or epochs, of all problems together.
    settings_ : dict
        Every hyper-parameter as it was used.

    Examples
    --------
    >>> from cosmodag import Notears, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Notears().fit(data.X)
    >>> model.was_cyclic_
    False
    """

    max_iter: int = 100
    tolerance: Setting = "auto"
    constraint: str = "expm"

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        super().check_settings()
        check_choice("constraint", self.constraint, CONSTRAINTS)

    def _rule(self, d: int) -> dict[str, float]:
        if self._is_original:
            return {"lambda1": 0.03, "tolerance": 1e-8, "learning_rate": 3.2e-4}
        spacing = float(np.spacing(np.float32(d)))
        return {"lambda1": 4.4e-4, "tolerance": 0.5 * spacing, "learning_rate": 3.2e-4}

    def _constants(self, n: int, d: int) -> dict[str, float]:
        if self._is_original:
            return {"multiplier": 0.0, "penalty": 1.0, "rounds": float(_INNER), **ADAM}
        # With a free diagonal, W = I has no loss: the constraint must count from the start.
        return {"multiplier": 1.0, "penalty": 1.0, "rounds": float(self._rounds(n)), **ADAM}

    def _length(self, n: int, d: int) -> int:
        return 1500 if self._is_original else _USUAL_ROUNDS * self._rounds(n)

    def solver_for(self, n: int, d: int) -> Lagrangian:
        """NOTEARS' augmented Lagrangian."""
        constraint = CONSTRAINTS[self.constraint]
        tolerance = self.settings_for(d)["tolerance"]
        if self._is_original:
            recipe = Recipe(Free(), Linear(), Penalised(half_squared_error, constraint))
            minimisers = (QuasiNewton(_INNER_TOLERANCE), Stochastic())
            return Lagrangian(recipe, minimisers, self.max_iter, tolerance)
        recipe = Recipe(
            Free(masked=False),
            Linear(),
            Penalised(mean_squared_error, constraint),
            batch_size=self.batch_size,
        )
        return Lagrangian(recipe, (Stochastic(),), self.max_iter, tolerance, keeps_last=False)
