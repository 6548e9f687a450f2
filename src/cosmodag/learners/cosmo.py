"""COSMO: structure learning without an acyclicity constraint (Massidda et al., ICLR 2024)."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataWarning, DivergenceError
from cosmodag.graph.dags import order_of
from cosmodag.learners.base import Learnt, Prepared
from cosmodag.learners.refined import RefinedLearner
from cosmodag.learners.trained.annealed import AnnealedLearner
from cosmodag.learners.trained.settings import default_settings, default_steps

if TYPE_CHECKING:
    from cosmodag.model.mechanism import Mechanism
    from cosmodag.solve.plan import Solved
    from cosmodag.solve.problems import Problem

__all__ = ["Cosmo"]

# Number of variables from which, with fewer rows than variables, the order of variances is as good
# as the order that training finds.
_TOO_LARGE = 1_000

# Ratio of standard deviations from which divergence is attributed to the units of columns: training
# converged at ratios up to 1e6 and diverged at 1e12.
_APART = 1e6


@dataclass(kw_only=True, eq=False, repr=False)
class Cosmo(RefinedLearner, AnnealedLearner):
    r"""Linear COSMO: a DAG as W = H ∘ S_{t,ε}(p), learnt by plain gradient descent.

    Solves, over strengths H and priorities p,

    .. math::

        \min_{H, p}\; \frac{1}{nd} \lVert X - X W \rVert_F^2
        + \lambda_1 \lVert H \rVert_1 + \lambda_2 \lVert H \rVert_F
        + \lambda_p \lVert p \rVert_2,
        \qquad W_{uv} = H_{uv}\, \sigma\!\left(\frac{p_v - p_u - \varepsilon}{t}\right),

    by Adam on mini-batches while the temperature t is annealed (Section 4 of the paper). Each step
    costs O(d²) for a batch of fixed size; acyclicity is never evaluated.

    A parameter that is ``"auto"`` follows a rule in the number of variables,
    :func:`cosmodag.default_settings`, found by search on simulated data. The rule differs from the
    paper's settings, mainly by a separate learning rate for p; the paper's are
    ``Cosmo(**paper_settings(d))``, see :func:`cosmodag.paper_settings`.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        H ∘ S at the end temperature; the paper's metrics score these.
    priorities_ : (d,) array
        p; the logarithms of the standard deviations if their order was refined without training
        (``backend_`` is then ``"none"`` and ``n_iter_`` 0).

    Examples
    --------
    >>> from cosmodag import Cosmo, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Cosmo(epochs=300, random_state=0).fit(data.X)
    >>> model.adjacency_.shape
    (10, 10)
    """

    takes_levels: ClassVar[bool] = True

    refine: str | None = "auto"

    def _mechanism(self) -> "Mechanism":
        from cosmodag.model.mechanism import Linear

        return Linear()

    def _without_training(self, given: Prepared) -> Learnt | None:
        n, d = given.data.shape
        if self.epochs != "auto" or self.refine is None or d < _TOO_LARGE or n >= d:
            return None
        warnings.warn(
            f"With {d:,} variables and only {n:,} rows, training orders variables no better than "
            "their variances do: the order of variances is refined instead. Set epochs to a number "
            "to train nevertheless.",
            DataWarning,
            stacklevel=3,
        )
        return self._untrained(given.data)

    def _learnt(
        self, solved: "list[Solved]", problems: "list[Problem]", settings: dict[str, float]
    ) -> Learnt:
        try:
            return super()._learnt(solved, problems, settings)
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
            return replace(self._untrained(data), order=None)

    def _untrained(self, data: NDArray[Any]) -> Learnt:
        """Order variables by variance instead of training."""
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
