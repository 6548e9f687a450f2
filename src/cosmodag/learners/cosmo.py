"""COSMO: structure learning without an acyclicity constraint (Massidda et al., ICLR 2024)."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataWarning, DivergenceError
from cosmodag.graph.dags import order_of
from cosmodag.learners.base import Learnt, Prepared
from cosmodag.learners.trained.annealed import AnnealedLearner
from cosmodag.learners.trained.settings import default_settings, default_steps

if TYPE_CHECKING:
    from cosmodag.model.mechanism import Mechanism
    from cosmodag.solve.many import Solved
    from cosmodag.solve.problems import Problem

__all__ = ["Cosmo"]

# Variables from which, with fewer rows than variables, the order of variances is as good as the one
# that training finds.
_TOO_LARGE = 1_000

# Ratio of standard deviations from which training that diverged is taken to have done so for the
# units of columns: up to 1e6 it was seen to go well, at 1e12 not.
_APART = 1e6


@dataclass(kw_only=True, eq=False, repr=False)
class Cosmo(AnnealedLearner):
    r"""Linear COSMO: a DAG as W = H ∘ S_{t,ε}(p), learnt by plain gradient descent.

    Solves, over strengths H and priorities p,

    .. math::

        \min_{H, p}\; \frac{1}{nd} \lVert X - X W \rVert_F^2
        + \lambda_1 \lVert H \rVert_1 + \lambda_2 \lVert H \rVert_F
        + \lambda_p \lVert p \rVert_2,
        \qquad W_{uv} = H_{uv}\, \sigma\!\left(\frac{p_v - p_u - \varepsilon}{t}\right),

    by Adam on mini-batches while the temperature t is annealed (Section 4 of the paper). Each step
    costs O(d²) for a batch of fixed size; acyclicity is never evaluated.

    Every parameter that is ``"auto"`` follows a rule in the number of variables,
    :func:`cosmodag.default_settings`, found by search on simulated data. It departs from the
    paper, above all in giving p a learning rate of its own; the paper's own choice is
    ``Cosmo(**paper_settings(d))``, see :func:`cosmodag.paper_settings`.

    Parameters
    ----------
    learning_rate : float or "auto"
        Adam's rate for H.
    priority_learning_rate : float, None or "auto"
        Adam's rate for p. None: the same as `learning_rate`, the paper's way.
    lambda1, lambda2 : float or "auto"
        λ₁ and λ₂, on ‖H‖₁ and ‖H‖_F (not squared). The loss is a mean over variables, so the same
        λ weighs more as d grows.
    lambda_p : float or "auto"
        λ_p, on ‖p‖₂.
    shift : float or "auto"
        ε, by how much the priority of an effect must exceed that of its cause.
    temperature_start, temperature_end : float or "auto"
        Where the temperature t starts and ends (cosine annealing).
    acyclicity_tolerance : float, optional
        Take `temperature_end` from Theorem 2 instead: the highest temperature at which
        h(S) = tr e^S − d ≤ tolerance is guaranteed for every p.
    loss : {"squared-error", "likelihood"}
        L: the mean squared error, or the Gaussian likelihood with a variance of its own for each
        variable, (1/d) Σ_v log RSS_v, in which units cancel out.
    epochs : int or "auto"
        Passes over the data. Automatically as many as make a number of steps that was found to be
        enough, whatever the number of rows
        (:func:`cosmodag.learners.trained.settings.default_steps`).
    batch_size : int
        Rows per step; the last batch of a pass may be smaller.
    refine : {"auto", "prune", "order", None}
        What is done with the learnt order. ``"prune"`` regresses each variable on those before it
        and keeps what the evidence supports; ``"order"`` also searches for a better order, from
        the learnt one and from others; ``"auto"`` is ``"order"`` up to 50,000 variables and
        ``"prune"`` beyond. ``None`` keeps the optimised weights.
    noise : {"auto", "gaussian", "equal-variance", "non-gaussian"}
        What refinement assumes of the noise, and so what its score can tell: Gaussian with a
        variance of its own for each variable (nothing depends on units, and only the equivalence
        class is decided), Gaussian with one variance, or not Gaussian. ``"auto"`` lets the data
        choose; ``noise_`` and ``noise_reason_`` say what it chose and why.
    threshold : float or "auto"
        Arcs with \|W\| at or below it are left out of `adjacency_`. Automatically 0 where
        refinement decides by evidence, 0.3 without.
    restarts : int
        Solve so many problems at once from different starts, and keep the one with the best
        penalised objective on all data.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph: :class:`cosmodag.Knowledge`, its parts by name, or a file.
    missing : {"error", "drop", "impute"}
        Refuse missing values (NaN); drop the rows that hold one; or estimate them from the others,
        which counts as no evidence (`docs/missing.md`; `missing_report_` says how many there are).
    scale : {"center", "standardize", "none"}
        Subtract column means; also divide by standard deviations (which hides the cue that a
        squared-error learner uses, and warns); or leave the data alone.
    device : {"auto", "cpu", "gpu"}
        Where to compute.
    max_time : float, optional
        Seconds after which training stops with the result so far and a warning.
    checkpoint : path, optional
        Folder in which training leaves, every half minute and when it is stopped, how far it is.
        The same fit with the same folder goes on from there, bit for bit; what is left of a fit
        that ended is removed.
    random_state : int, Generator, RandomState or None
        The same number gives the same result, bit for bit, on the same machine.
    verbose : bool
        Show progress on stderr when that is a terminal.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        H ∘ S at the end temperature: what the paper's metrics score.
    weights_ : (d, d) array
        `raw_weights_` where the arc agrees with `causal_order_`: acyclic.
    adjacency_ : (d, d) array
        `weights_` above the threshold; ``adjacency_[u, v]`` is the arc u → v.
    was_cyclic_ : bool
        Whether thresholding `raw_weights_` alone would have left a cycle.
    dropped_arcs_ : int
        Arcs above the threshold in `raw_weights_` that are not in `adjacency_`.
    graph_ : networkx.DiGraph
    causal_order_ : list
        Names or numbers of the variables, causes first.
    priorities_ : (d,) array
        p; the logarithms of the standard deviations where their order was refined without
        training (``backend_`` is ``"none"`` and ``n_iter_`` 0).
    history_ : list of dict
        For each hundredth of the run: ``round``, ``epoch``, ``temperature``, ``loss``,
        ``log_acyclicity_bound``.
    stopped_ : str or None
        ``"time"`` or ``"interrupt"`` when training ended early.
    settings_ : dict
        Every hyper-parameter as it was used.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> from cosmodag import Cosmo, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Cosmo(epochs=300, random_state=0).fit(data.X)
    >>> model.adjacency_.shape
    (10, 10)
    """

    refine: str | None = "auto"
    noise: str = "auto"

    def _mechanism(self) -> "Mechanism":
        from cosmodag.model.mechanism import Linear

        return Linear()

    def _without_training(self, given: Prepared) -> Learnt | None:
        n, d = given.data.shape
        if self.epochs != "auto" or self.refine is None or d < _TOO_LARGE or n >= d:
            return None
        warnings.warn(
            f"With {d:,} variables and only {n:,} rows, training was found to order variables "
            "no better than their variances do, so that the order of variances is refined in "
            "its place: set epochs to a number to train all the same.",
            DataWarning,
            stacklevel=3,
        )
        return self._untrained(given.data)

    def _learnt(self, solved: "list[Solved]", problems: "list[Problem]") -> Learnt:
        try:
            return super()._learnt(solved, problems)
        except DivergenceError as error:
            data = problems[0].data
            deviations = data.std(axis=0, dtype=np.float64)
            ratio = deviations.max() / deviations[deviations > 0].min(initial=np.inf)
            if ratio < _APART or self.refinement_for(data.shape[1]) != "order":
                raise
            reason = str(error).partition(" with ")[0]
            warnings.warn(
                f"{reason}, and the standard deviations of columns differ by a factor of "
                f"{ratio:.3g}: the graph was searched from orders that do not depend on units.",
                DataWarning,
                stacklevel=4,
            )
            return replace(self._untrained(data), order=None, scale_free=True)

    def _untrained(self, data: NDArray[Any]) -> Learnt:
        """Order variables by variance, in place of training."""
        variances = data.var(axis=0, dtype=np.float64)
        priorities = 0.5 * np.log(np.maximum(variances, np.finfo(np.float64).tiny))
        extra = {
            "priorities_": priorities,
            "history_": [],
            "settings_": self.settings_for(data.shape[1]),
            "n_iter_": 0,
            "converged_": True,
            "backend_": "none",
        }
        return Learnt(None, order_of(priorities), extra=extra)

    def _rule(self, d: int) -> dict[str, float]:
        return default_settings(d)

    def _steps(self, d: int) -> int:
        return default_steps(self.refinement_for(d))
