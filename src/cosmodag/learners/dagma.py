"""DAGMA: acyclicity as a log-determinant barrier (Bello, Aragam and Ravikumar, NeurIPS 2022)."""

from dataclasses import dataclass

from cosmodag.learners.trained.constrained import ADAM, VariantLearner
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Barrier, half_squared_error, mean_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.minimisers.barrier_linear import LinearDescent
from cosmodag.solve.minimisers.stochastic import Stochastic
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.guards import Domain, Inside

__all__ = ["Dagma"]


@dataclass(kw_only=True, eq=False, repr=False)
class Dagma(VariantLearner):
    r"""Linear DAGMA: the best-fitting DAG, approached from inside the domain of a barrier.

    Solves

    .. math::

        \min_W\; \frac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda_1 \lVert W \rVert_1
        \quad\text{subject to}\quad W \text{ is a DAG}

    along a central path: stage after stage minimises μ times this score plus the barrier
    :math:`h_s(W) = -\log\det(sI - W \circ W) + d \log s`, which is zero on DAGs alone, while μ
    falls by a factor of ten. Each step costs O(d³), an inverse.

    There are two variants. ``"original"`` is the authors': float64, Adam (β = 0.99, 0.999) on the
    full gradient through the covariance, so that its cost does not depend on n, five stages with
    s = 1, 0.9 … 0.6, the diagonal fixed to zero; it runs on the CPU, in compiled code, and is
    deterministic. ``"paper"`` is what the COSMO paper compared with: mini-batch Adam, the loss
    :math:`\lVert X - XW \rVert_F^2 / nd`, four stages with s = 1, 1, 0.9, 0.8, the diagonal free.

    Parameters
    ----------
    lambda1 : float or "auto"
        λ₁, on ‖W‖₁. Automatically 0.03 in the original and 3.9e-4 in the paper's variant, whose
        loss is a mean over variables.
    max_iter : int
        Iterations of the last stage of the original at most; the others take half as many.
    tolerance : float
        Relative change of the objective over 1000 iterations that ends a stage of the original.
    variant : {"original", "paper"}
        Whose formulation; see above.
    learning_rate : float or "auto"
        Adam's rate, automatically 3e-4 in the original and 5.4e-4 in the paper's variant.
    epochs : int
        Passes over the data for each stage of the paper's variant.
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
        For each attempt at a stage: ``epoch``, ``loss``, ``accepted``, ``score_weight`` (μ),
        ``radius`` (s).
    n_iter_ : int
        Iterations, or epochs, of all stages together.
    settings_ : dict
        Every hyper-parameter as it was used.

    Examples
    --------
    >>> from cosmodag import Dagma, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Dagma().fit(data.X)
    >>> model.was_cyclic_
    False
    """

    max_iter: int = 60_000
    tolerance: float = 1e-6

    def _rule(self, d: int) -> dict[str, float]:
        if self._is_original:
            return {"lambda1": 0.03, "learning_rate": 3e-4, "tolerance": 1e-6}
        return {"lambda1": 3.9e-4, "learning_rate": 5.4e-4, "tolerance": 1e-6}

    def _constants(self, n: int, d: int) -> dict[str, float]:
        # Each stage says how many rounds it has.
        return {**ADAM, "beta1": 0.99} if self._is_original else dict(ADAM)

    def _length(self, n: int, d: int) -> int:
        return sum(stage.rounds for stage in self._stages(n))

    def _stages(self, n: int) -> tuple[Stage, ...]:
        if self._is_original:
            radii = [1.0, 0.9, 0.8, 0.7, 0.6]
            lengths = [max(1, self.max_iter // 2)] * 4 + [self.max_iter]
        else:
            radii = [1.0, 1.0, 0.9, 0.8]
            lengths = [self._rounds(n)] * 4
        return tuple(
            Stage(0.1**k, *stage) for k, stage in enumerate(zip(radii, lengths, strict=True))
        )

    def solver_for(self, n: int, d: int) -> CentralPath:
        """DAGMA's central path."""
        if self._is_original:
            recipe = Recipe(Free(), Linear(), Barrier(half_squared_error), guard=Inside())
            minimisers = (LinearDescent(self.settings_for(d)["tolerance"]), Stochastic())
            return CentralPath(recipe, minimisers, self._stages(n))
        recipe = Recipe(
            Free(masked=False),
            Linear(),
            Barrier(mean_squared_error),
            batch_size=self.batch_size,
            guard=Domain(),
        )
        return CentralPath(recipe, (Stochastic(),), self._stages(n))
