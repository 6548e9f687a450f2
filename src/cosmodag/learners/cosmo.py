"""COSMO: structure learning without an acyclicity constraint (Massidda et al., ICLR 2024)."""

import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning, DivergenceError
from cosmodag.fit.input_checks import check_choice
from cosmodag.graph.dags import order_of
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.parameters import Refine, TrainingParameters
from cosmodag.learners.refined import RefinedLearner
from cosmodag.learners.structure_learner import Learnt, Prepared
from cosmodag.learners.trained.settings import default_settings, default_steps
from cosmodag.learners.trained.trained_learner import TrainedLearner

if TYPE_CHECKING:
    from cosmodag.model.mechanism import Mechanism
    from cosmodag.model.objective import Loss
    from cosmodag.solve.methods.one_problem import OneProblem
    from cosmodag.solve.plan import Solved
    from cosmodag.solve.problems import Problem, Solution

# With this many variables or more, and fewer rows than variables, the order of variances is as good
# as the order that training finds.
_TOO_LARGE = 1_000
# Ratio of standard deviations from which divergence is attributed to the units of the columns:
# training converged at ratios up to 1e6 and diverged at 1e12.
_UNIT_RATIO = 1e6

_PENALTIES = """Coefficients λ₁ and λ₂ of the penalties ‖H‖₁ and ‖H‖_F (not squared). The loss is a
mean over variables, so the same λ weighs more as d grows."""
_TEMPERATURES = "First and last temperature t of the cosine annealing."


@dataclass(kw_only=True, eq=False, repr=False)
class AnnealedLearner(TrainingParameters, TrainedLearner):
    """Base class of COSMO's learners, which anneal the orientation by priorities.

    A subclass defines the mechanism and the rule for parameters that are ``"auto"``.

    Attributes
    ----------
    history_ : list of dict
        For each hundredth of the training: ``round``, ``epoch``, ``temperature``, ``loss``,
        ``log_acyclicity_bound``.
    priorities_ : (d,) array
        Priorities p; causes have lower ones than their effects.
    """

    learning_rate: Setting = parameter(
        "auto", "Adam's learning rate for H, and for the other weights of networks.", above=0.0
    )
    priority_learning_rate: Setting | None = parameter(
        "auto",
        "Adam's learning rate for p. None: the same as `learning_rate`, as in the paper.",
        above=0.0,
    )
    lambda1: Setting = parameter("auto", _PENALTIES, at_least=0.0)
    lambda2: Setting = parameter("auto", _PENALTIES, at_least=0.0)
    lambda_p: Setting = parameter("auto", "Coefficient λ_p of the penalty ‖p‖₂.", at_least=0.0)
    shift: Setting = parameter(
        "auto",
        "Shift ε, by which the priority of an effect must exceed that of its cause.",
        above=0.0,
    )
    temperature_start: Setting = parameter("auto", _TEMPERATURES, above=0.0)
    temperature_end: Setting = parameter("auto", _TEMPERATURES, above=0.0)
    acyclicity_tolerance: float | None = parameter(
        None,
        """Read W out at a lower temperature than `temperature_end` if Theorem 2 needs one: the
        highest at which h(S) = tr e^S − d ≤ tolerance is guaranteed for every p.""",
        above=0.0,
    )
    loss: Literal["squared-error", "likelihood"] | str = parameter(
        "squared-error",
        """Loss to minimise: the mean squared error; or (1/d) Σ_v log RSS_v, which is the Gaussian
        likelihood with one noise variance per variable, and does not depend on units.""",
    )

    extra_arrays: ClassVar[tuple[str, ...]] = ("priorities_",)

    @property
    def _order_from_units(self) -> bool:  # type: ignore[override]
        return self._loss_used == "squared-error"

    @property
    def _loss_used(self) -> str:
        """Name of the loss of training."""
        return self.loss

    def _loss_function(self) -> "Loss":
        from cosmodag.model.objective import LOSSES

        return LOSSES[self._loss_used]

    @abstractmethod
    def _mechanism(self) -> "Mechanism":
        """Return the mechanism that predicts variables from their parents."""

    def _steps(self, d: int) -> int:
        """Return the number of steps if ``epochs`` is ``"auto"``."""
        return default_steps(None)

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        from cosmodag.model.objective import LOSSES

        super().check_settings()
        check_choice("loss", self.loss, dict.fromkeys((*self.parameters["loss"].words, *LOSSES)))

    def _solver_of_fit(self, n: int, d: int) -> "OneProblem":
        from cosmodag.solve.training.train import Checkpoint

        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        return replace(self.solver_for(n, d), checkpoint=checkpoint)

    def solver_for(self, n: int, d: int) -> "OneProblem":
        """Return the solver: one problem, with annealed temperature."""
        from cosmodag.model.objective import AnnealedObjective
        from cosmodag.model.structure import Priority
        from cosmodag.solve.methods.one_problem import OneProblem
        from cosmodag.solve.recipe import CosineAnnealing, Recipe

        parts = Priority(), self._mechanism(), AnnealedObjective(self._loss_function())
        return OneProblem(Recipe(*parts, CosineAnnealing(), self.batch_size))

    def settings_for(self, d: int) -> dict[str, float]:
        """Return every hyper-parameter as a number, for d variables."""
        settings = super().settings_for(d)
        if settings["temperature_end"] > settings["temperature_start"]:
            raise DataError(
                f"temperature_end is {settings['temperature_end']:g}, above temperature_start, "
                f"{settings['temperature_start']:g}: the temperature can only fall."
            )
        return settings

    def _length(self, n: int, d: int) -> int:
        from cosmodag.solve.training.batch_rows import Passes

        passes = Passes.over(n, self.batch_size)
        if isinstance(self.epochs, str):
            return passes.rounds_of(steps=self._steps(d))
        return self.epochs * passes.rounds

    def _read_out_settings(self, settings: Mapping[str, float], d: int) -> Mapping[str, float]:
        """Lower the temperature of the read-out so that Theorem 2 guarantees the tolerance.

        Only of the read-out: training down to it cost .026 and .053 of AUC (ER4, d = 30 and 100,
        20 graphs each), reading the same solution out at it .004 and .002.
        """
        if self.acyclicity_tolerance is None:
            return settings
        from cosmodag.model.orientation import temperature_for

        highest = temperature_for(self.acyclicity_tolerance, settings["shift"], d)
        return {**settings, "temperature_end": min(highest, settings["temperature_end"])}

    def _extra(self, solution: "Solution") -> dict[str, Any]:
        return {"priorities_": np.asarray(solution.parameters["order"], np.float64)}

    def _history(self, solution: "Solution", problem: "Problem") -> list[dict[str, float]]:
        from cosmodag.model.orientation import log_acyclicity_bound

        d, shift = problem.data.shape[1], problem.settings["shift"]
        rounds = np.array([record["round"] for record in solution.history], np.float32)
        temperatures = np.asarray(solution.recipe.schedule(rounds, problem.settings)["temperature"])
        return [
            {**record, "temperature": t, "log_acyclicity_bound": log_acyclicity_bound(t, shift, d)}
            for record, t in zip(solution.history, temperatures.tolist(), strict=True)
        ]


@dataclass(kw_only=True, eq=False, repr=False)
class Cosmo(RefinedLearner, AnnealedLearner):
    r"""Linear COSMO: a DAG W = H ∘ S_{t,ε}(p), learnt by unconstrained gradient descent.

    Solves, over arc strengths H and priorities p,

    .. math::

        \min_{H, p}\; \frac{1}{nd} \lVert X - X W \rVert_F^2
        + \lambda_1 \lVert H \rVert_1 + \lambda_2 \lVert H \rVert_F
        + \lambda_p \lVert p \rVert_2,
        \qquad W_{uv} = H_{uv}\, \sigma\!\left(\frac{p_v - p_u - \varepsilon}{t}\right),

    by Adam on mini-batches while the temperature t is annealed (Section 4 of the paper). Each step
    costs O(d²) for a batch of fixed size; acyclicity is never evaluated. By default, the learnt
    order is then refined to a graph (see `refine`).

    A parameter that is ``"auto"`` follows :func:`cosmodag.default_settings`, a rule in the number
    of variables that was found by search on simulated data. It differs from the paper's settings
    mainly by a separate learning rate for p. ``Cosmo(**paper_settings(d))`` uses the paper's, see
    :func:`cosmodag.paper_settings`.

    Attributes
    ----------
    raw_weights_ : (d, d) array
        H ∘ S at the last temperature, which the paper's metrics score.
    priorities_ : (d,) array
        Priorities p; causes have lower ones than their effects. If training was skipped, because
        it orders large tables with few rows no better than variances do, the logarithms of the
        standard deviations (``backend_`` is then ``"none"`` and ``n_iter_`` 0).

    Examples
    --------
    >>> from cosmodag import Cosmo, simulate
    >>> data = simulate.load("n500_d10_ER2_gauss", seed=0)
    >>> model = Cosmo(epochs=300, random_state=0).fit(data.X)
    >>> model.adjacency_.shape
    (10, 10)
    """

    takes_levels: ClassVar[bool] = True

    refine: Refine = "auto"

    def _mechanism(self) -> "Mechanism":
        from cosmodag.model.mechanism import Linear

        return Linear()

    def _without_training(self, given: Prepared) -> Callable[[Prepared], Learnt] | None:
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
        return lambda rows: self._untrained(rows.data)

    def _learnt(
        self, solved: "list[Solved]", problems: "list[Problem]", settings: dict[str, float]
    ) -> Learnt:
        try:
            return super()._learnt(solved, problems, settings)
        except DivergenceError as error:
            data = problems[0].data
            deviations = data.std(axis=0, dtype=np.float64)
            ratio = deviations.max() / deviations[deviations > 0].min(initial=np.inf)
            if ratio < _UNIT_RATIO or self.refinement_for(data.shape[1]) != "order":
                raise
            reason = re.split(" with |: ", str(error))[0]  # without settings and remedy
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
