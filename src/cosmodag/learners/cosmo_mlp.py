"""Non-linear COSMO: one multilayer perceptron per variable, oriented by priorities."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.steps import FitTask, Learning
from cosmodag.learners.cosmo import AnnealedLearner
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.networks.learner import NetworkLearner
from cosmodag.learners.networks.loss_choice import AUTO, LIKELIHOOD, SQUARED_ERROR, learn_by_loss
from cosmodag.learners.trained.settings import default_mlp_settings
from cosmodag.model.mechanism import MLP, MaskedMLP, Mechanism, MixedMLP
from cosmodag.model.objective import Loss, MixedLikelihood
from cosmodag.solve.watch import Watch

_PENALTIES = """Coefficients λ₁ and λ₂ of the penalties ‖H‖₁ and ‖H‖_F (not squared), over all d²h
entries or, with masked inputs, over the d² gates."""


@dataclass(kw_only=True, eq=False, repr=False)
class CosmoMLP(NetworkLearner, AnnealedLearner):
    r"""Non-linear COSMO: each variable is a multilayer perceptron of its parents.

    Solves, over first-layer weights H ∈ R^{d×d×h}, the other layers and priorities p,

    .. math::

        \min\; \frac{1}{nd} \sum_v \lVert x_v - f_v(X) \rVert^2
        + \lambda_1 \lVert H \rVert_1 + \lambda_2 \lVert H \rVert_F
        + \lambda_p \lVert p \rVert_2,
        \qquad f_v(x) = \sum_i w_{vi}\, \sigma\!\left(\sum_u x_u H_{uvi}\,
        S_{t,\varepsilon}(p)_{uv} + b_{vi}\right) + c_v,

    by Adam on mini-batches while the temperature t of the orientation S is annealed (the paper's
    appendix on non-linear relations). With ``mask="inputs"`` the orientation masks inputs instead:
    f_v reads x_u G_uv S_uv through one gate G_uv per arc, and its first-layer weights have unit
    length, so that λ₁ switches off whole arcs (:class:`cosmodag.model.mechanism.MaskedMLP`).

    A parameter that is ``"auto"`` follows :func:`cosmodag.default_mlp_settings`;
    ``CosmoMLP(**paper_mlp_settings(d))`` uses the paper's settings.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        Strength of each arc at the last temperature, which the paper's metrics score.
    loss_, loss_reason_ : str
        The loss that was used, and the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from cosmodag import CosmoMLP, simulate
    >>> data = simulate.load("n500_d10_ER2_mlp", seed=0)
    >>> model = CosmoMLP(epochs=300, random_state=0).fit(data.X)
    >>> model.adjacency_.shape
    (10, 10)
    >>> np.array_equal(model.read_out("sum").raw_weights_, model.arc_sums_)
    True
    """

    mask: Literal["weights", "inputs"] = parameter(
        "weights",
        "Whether the orientation masks first-layer weights, or inputs, through one gate per arc.",
    )
    lambda1: Setting = parameter("auto", _PENALTIES)
    lambda2: Setting = parameter("auto", _PENALTIES)
    loss: Literal["auto", "squared-error", "likelihood"] | str = parameter(
        "auto",
        """Loss to minimise: the mean squared error, which infers the order from the sizes of the
        noise and therefore depends on units; or (1/d) Σ_v log RSS_v, which is the Gaussian
        likelihood with one noise variance per variable, and is trained on standardised columns.
        ``"auto"`` uses the squared error if the noise variances are similar, and the likelihood
        otherwise; without refinement, the likelihood only if they differ strongly.""",
    )
    refine: Literal["auto", "prune"] | None = "prune"

    extra_facts = (*NetworkLearner.extra_facts, "loss_", "loss_reason_")

    # Number of levels of each variable, 0 for numbers and counts, if the training table has
    # categories or counts and the loss is the likelihood; otherwise empty.
    _levels: tuple[int, ...] = field(default=(), init=False)

    extra_arrays = (*AnnealedLearner.extra_arrays, *NetworkLearner.extra_arrays)

    def decided(self) -> dict[str, Any]:
        """Return the parameters that fix the decisions of this fit when it is repeated."""
        return {**super().decided(), "loss": self.loss_}

    def decides(self, d: int) -> bool:
        """Whether the loss is chosen by the noise."""
        return super().decides(d) or self.loss == AUTO

    def with_loss(self, loss: str, levels: tuple[int, ...]) -> Self:
        """Copy the learner for a loss; `levels` are those of each variable in mixed networks."""
        one = copy(self)
        one.loss, one._levels = loss, levels
        return one

    @property
    def _loss_used(self) -> str:
        """Name of the loss of the last fit; before a fit, of the loss that is tried first."""
        if self.loss != AUTO:
            return self.loss
        first = LIKELIHOOD if self.scale == "standardize" else SQUARED_ERROR
        return str(getattr(self, "loss_", first))

    @classmethod
    def learn_many(cls, tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
        """Learn from many prepared tables, with a loss chosen for each."""
        return learn_by_loss(tasks, watch)

    def why_no_levels(self, d: int) -> str | None:
        """Name the setting that rules out categories; None if they can be used."""
        if self.loss == SQUARED_ERROR:
            return "CosmoMLP with loss='squared-error'"
        return None if self.mask == "weights" else f"CosmoMLP with mask={self.mask!r}"

    def _loss_function(self) -> Loss:
        if self._levels:
            return MixedLikelihood(self._levels)
        return super()._loss_function()

    def _mechanism(self) -> Mechanism:
        if self._levels:
            return MixedMLP(tuple(self.hidden), self.activation, self.arc_strength, self._levels)
        kind = MaskedMLP if self.mask == "inputs" else MLP
        return kind(tuple(self.hidden), self.activation, self.arc_strength)

    def _rule(self, d: int) -> dict[str, float]:
        return default_mlp_settings(d, self.mask, self._loss_used)

    def _learnt_order(self) -> NDArray[np.intp]:
        return self.fitted_.order
