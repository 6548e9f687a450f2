"""Base class of linear and non-linear COSMO."""

import os
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cosmodag.errors import DataError
from cosmodag.fit.checks import check_choice, check_count, check_number
from cosmodag.learners.parameters import count
from cosmodag.learners.trained.base import Setting, TrainedLearner

if TYPE_CHECKING:
    from cosmodag.model.mechanism import Mechanism
    from cosmodag.model.objective import Loss
    from cosmodag.solve.methods.one_problem import OneProblem
    from cosmodag.solve.problems import Problem, Solution

__all__ = ["AnnealedLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class AnnealedLearner(TrainedLearner):
    """Structure learning by annealed priorities, for any mechanism.

    A subclass defines the mechanism and the rule for settings that are ``"auto"``.

    Parameters
    ----------
    learning_rate : float or "auto"
        Adam's rate for H, and for the other weights of networks.
    priority_learning_rate : float, None or "auto"
        Adam's rate for p. None: the same as `learning_rate`, as in the paper.
    lambda1, lambda2 : float or "auto"
        λ₁ and λ₂, on ‖H‖₁ and ‖H‖_F (not squared). The loss is a mean over variables, so the same
        λ weighs more as d grows.
    lambda_p : float or "auto"
        λ_p, on ‖p‖₂.
    shift : float or "auto"
        ε, by which the priority of an effect must exceed that of its cause.
    temperature_start, temperature_end : float or "auto"
        First and last temperature t (cosine annealing).
    acyclicity_tolerance : float, optional
        Take `temperature_end` from Theorem 2 instead: the highest temperature at which
        h(S) = tr e^S − d ≤ tolerance is guaranteed for every p.
    loss : {"squared-error", "likelihood"}
        L: the mean squared error, or the Gaussian likelihood with one variance per variable,
        (1/d) Σ_v log RSS_v, which does not depend on units.
    epochs : int or "auto"
        Passes over the data. Automatically as many as make a fixed number of steps, for any number
        of rows (:func:`cosmodag.learners.trained.settings.default_steps`).
    batch_size : int
        Rows per step; the last batch of a pass may be smaller.
    trainings : int
        Number of problems that are solved at once from different starts; the one with the best
        penalised objective on all data is kept.
    device : {"auto", "cpu", "gpu"}
        Device of the computation.
    checkpoint : path, optional
        Folder to which training writes its state, every half minute and when it is stopped. The
        same fit with the same folder continues from it, bit for bit; a fit that ends deletes it.

    Attributes
    ----------
    history_ : list of dict
        For each hundredth of the run: ``round``, ``epoch``, ``temperature``, ``loss``,
        ``log_acyclicity_bound``.
    priorities_ : (d,) array
        p.
    """

    learning_rate: Setting = "auto"
    priority_learning_rate: Setting | None = "auto"
    lambda1: Setting = "auto"
    lambda2: Setting = "auto"
    lambda_p: Setting = "auto"
    shift: Setting = "auto"
    temperature_start: Setting = "auto"
    temperature_end: Setting = "auto"
    acyclicity_tolerance: float | None = None
    loss: str = "squared-error"
    epochs: int | str = "auto"
    batch_size: int = count(64)
    trainings: int = count(1)
    device: str = "auto"
    checkpoint: str | os.PathLike[str] | None = None

    extra_arrays: ClassVar[tuple[str, ...]] = ("priorities_",)
    _further_losses: ClassVar[tuple[str, ...]] = ()

    @property
    def _order_from_units(self) -> bool:  # type: ignore[override]
        return self._loss_used == "squared-error"

    @property
    def _loss_used(self) -> str:
        """Loss of training."""
        return self.loss

    def _loss_function(self) -> "Loss":
        """Loss of training, as a function of the rows of a batch and their predictions."""
        from cosmodag.model.objective import LOSSES

        return LOSSES[self._loss_used]

    @abstractmethod
    def _mechanism(self) -> "Mechanism":
        """Mechanism that predicts variables from their parents."""

    @abstractmethod
    def _steps(self, d: int) -> int:
        """Count the steps if ``epochs`` is ``"auto"``."""

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        from cosmodag.model.objective import LOSSES

        super().check_settings()
        check_choice("loss", self.loss, (*self._further_losses, *LOSSES))
        if self.epochs != "auto":
            check_count("epochs", self.epochs)

    def _solver_of_fit(self, n: int, d: int) -> "OneProblem":
        from cosmodag.solve.training.train import Checkpoint

        kept = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        return replace(self.solver_for(n, d), checkpoint=kept)

    def solver_for(self, n: int, d: int) -> "OneProblem":
        """One problem, solved with annealed temperature."""
        from cosmodag.model.objective import AnnealedObjective
        from cosmodag.model.structure import Priority
        from cosmodag.solve.methods.one_problem import OneProblem
        from cosmodag.solve.recipe import CosineAnnealing, Recipe

        objective = AnnealedObjective(self._loss_function())
        recipe = Recipe(
            Priority(), self._mechanism(), objective, CosineAnnealing(), self.batch_size
        )
        return OneProblem(recipe)

    def settings_for(self, d: int) -> dict[str, float]:
        """Every hyper-parameter as a number, for d variables."""
        settings = super().settings_for(d)
        if self.acyclicity_tolerance is not None:
            settings["temperature_end"] = self._guaranteed_temperature(settings, d)
        if settings["temperature_end"] > settings["temperature_start"]:
            raise DataError(
                f"temperature_end is {settings['temperature_end']:g}, above temperature_start, "
                f"{settings['temperature_start']:g}: the temperature can only fall."
            )
        return settings

    def _guaranteed_temperature(self, settings: dict[str, float], d: int) -> float:
        from cosmodag.model.orientation import temperature_for

        if self.temperature_end != "auto":
            raise DataError(
                "temperature_end and acyclicity_tolerance both set the last temperature: give one."
            )
        check_number("acyclicity_tolerance", self.acyclicity_tolerance, low=0.0)
        assert self.acyclicity_tolerance is not None
        highest = temperature_for(self.acyclicity_tolerance, settings["shift"], d)
        return min(highest, settings["temperature_start"])

    def _length(self, n: int, d: int) -> int:
        from cosmodag.solve.training.rows import Passes

        passes = Passes.over(n, self.batch_size)
        if isinstance(self.epochs, str):
            return passes.rounds_of(steps=self._steps(d))
        return self.epochs * passes.rounds

    def _extra(self, solution: "Solution") -> dict[str, Any]:
        return {"priorities_": np.asarray(solution.parameters["order"], np.float64)}

    def _history(self, solution: "Solution", problem: "Problem") -> list[dict[str, float]]:
        from cosmodag.model.orientation import log_acyclicity_bound

        d = problem.data.shape[1]
        rounds = np.array([record["round"] for record in solution.history], np.float32)
        temperatures = np.asarray(solution.recipe.schedule(rounds, problem.settings)["temperature"])
        return [
            {
                **record,
                "temperature": float(temperature),
                "log_acyclicity_bound": log_acyclicity_bound(
                    float(temperature), problem.settings["shift"], d
                ),
            }
            for record, temperature in zip(solution.history, temperatures, strict=True)
        ]
