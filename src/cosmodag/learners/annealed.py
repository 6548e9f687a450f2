"""Learners that anneal: what linear and non-linear COSMO share."""

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.dags import DENSE_LIMIT, order_of
from cosmodag.errors import DataError, DivergenceError, InterruptedWarning
from cosmodag.io.frames import as_table
from cosmodag.learners.base import Learnt, StructureLearner
from cosmodag.learners.checks import check_count, check_number, seeds_from
from cosmodag.learners.preparation import Preparation
from cosmodag.mechanism import Linear, Mechanism
from cosmodag.orientation import log_acyclicity_bound, temperature_for
from cosmodag.solver.estimate import Estimate, estimate
from cosmodag.solver.many import solve_many
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Problem, Solution
from cosmodag.solver.readout import strong_arcs
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.schedules import anneal_temperature
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters, Priority, Settings

__all__ = ["AnnealedLearner", "Setting"]

Setting = float | str


class AnnealedLearner(StructureLearner):
    """Structure learning by annealed priorities, whatever the mechanism.

    A subclass stores the parameters named below in ``__init__``, and says which mechanism it uses
    and which rule gives the settings that are ``"auto"``.
    """

    _extra_arrays = ("priorities_",)
    _extra_facts = ("history_", "settings_")

    acyclicity_tolerance: float | None
    temperature_end: Setting
    epochs: int
    batch_size: int
    restarts: int
    device: str
    max_time: float | None
    random_state: Any
    verbose: bool

    @abstractmethod
    def _mechanism(self) -> Mechanism:
        """How variables are predicted from their parents."""

    @abstractmethod
    def _rule(self, d: int) -> dict[str, float]:
        """Give the settings for d variables where a parameter is ``"auto"``."""

    def _check_settings(self) -> None:
        super()._check_settings()
        check_count("epochs", self.epochs)
        check_count("batch_size", self.batch_size)
        check_count("restarts", self.restarts)
        if self.max_time is not None:
            check_number("max_time", self.max_time, low=0.0)

    def settings_for(self, d: int) -> dict[str, float]:
        """Every hyper-parameter as a number, for d variables."""
        settings = {
            name: rule if getattr(self, name) == "auto" else getattr(self, name)
            for name, rule in self._rule(d).items()
        }
        if settings["priority_learning_rate"] is None:
            settings["priority_learning_rate"] = settings["learning_rate"]
        for name, value in settings.items():
            check_number(name, value, low=0.0, low_allowed=name.startswith("lambda"))
        if self.acyclicity_tolerance is not None:
            settings["temperature_end"] = self._guaranteed_temperature(settings, d)
        if settings["temperature_end"] > settings["temperature_start"]:
            raise DataError(
                f"temperature_end is {settings['temperature_end']:g}, above temperature_start, "
                f"{settings['temperature_start']:g}: the temperature can only fall."
            )
        return {name: float(value) for name, value in settings.items()}

    def _guaranteed_temperature(self, settings: dict[str, float], d: int) -> float:
        if self.temperature_end != "auto":
            raise DataError(
                "temperature_end and acyclicity_tolerance both set the last temperature: give one."
            )
        check_number("acyclicity_tolerance", self.acyclicity_tolerance, low=0.0)
        assert self.acyclicity_tolerance is not None
        highest = temperature_for(self.acyclicity_tolerance, settings["shift"], d)
        return min(highest, settings["temperature_start"])

    def estimate(self, X: Any) -> Estimate:
        """Say what fitting a table would cost: memory, and time from a few timed epochs.

        Raises
        ------
        ResourceError
            When the fit would need more memory than there is; nothing is allocated then.
        """
        self._check_settings()
        table = as_table(X)
        data = Preparation.of(table.X, self.scale).apply(table.X)
        return estimate(self._solver(), self._problems(data), self.device)

    def _solver(self) -> Anneal:
        return Anneal(self._mechanism(), self.batch_size)

    def _problems(self, data: NDArray[np.float32]) -> list[Problem]:
        """One problem a start."""
        settings = self.settings_for(data.shape[1])
        numbers = {**settings, "epochs": float(self.epochs), "beta1": 0.9, "beta2": 0.999}
        seeds = seeds_from(self.random_state, self.restarts)
        return [Problem(data, numbers, seed) for seed in seeds]

    def _learn(self, data: NDArray[np.float32]) -> Learnt:
        d = data.shape[1]
        problems = self._problems(data)
        settings = dict(problems[0].settings)
        solver = self._solver()
        with Watch(
            self.epochs * self.restarts, type(self).__name__, self.max_time, self.verbose
        ) as watch:
            found = [s for _, s in solve_many(solver, problems, device=self.device, watch=watch)]
        best = self._best(solver, problems[0], found)
        self._warn_if_stopped(best)
        final = anneal_temperature(self.epochs, settings)
        priorities = np.asarray(best.parameters["order"], np.float64)
        return Learnt(
            raw_weights=self._strengths(solver.recipe, best.parameters, final),
            order=order_of(priorities),
            stopped=best.stopped,
            extra={
                "priorities_": priorities,
                "history_": self._history(best, settings, d),
                "settings_": self.settings_for(d),
            },
        )

    def _strengths(self, recipe: Recipe, parameters: Parameters, settings: Settings) -> Any:
        """Strength of all arcs, or of very many variables' those above the threshold."""
        structure = recipe.structure
        d = len(parameters["order"])
        if d > DENSE_LIMIT and isinstance(structure, Priority) and recipe.mechanism == Linear():
            return strong_arcs(structure, parameters, settings, self.threshold)
        return np.asarray(recipe.read_out(parameters, settings))

    def _best(self, solver: Anneal, problem: Problem, found: list[Solution]) -> Solution:
        """Solution with the best penalised objective on all data, of those that stayed finite."""
        finite = [solution for solution in found if solution.diverged_at is None]
        if not finite:
            listed = ", ".join(f"{name}={value:g}" for name, value in problem.settings.items())
            raise DivergenceError(
                f"Training diverged in epoch {found[0].diverged_at} of {self.epochs} with "
                f"{listed}: lower learning_rate, or scale the data down."
            )
        if len(finite) == 1:
            return finite[0]
        return min(
            finite,
            key=lambda solution: float(
                solver.recipe.full_loss(solution.parameters, problem.data, problem.settings)
            ),
        )

    def _warn_if_stopped(self, solution: Solution) -> None:
        if solution.stopped is None:
            return
        cause = {"time": "max_time was reached", "interrupt": "it was interrupted"}
        warnings.warn(
            f"Training stopped after {solution.epochs} of {self.epochs} epochs because "
            f"{cause[solution.stopped]}: the graph is a DAG, but less converged.",
            InterruptedWarning,
            stacklevel=4,
        )

    def _history(
        self, solution: Solution, settings: dict[str, float], d: int
    ) -> list[dict[str, float]]:
        history = []
        for record in solution.history:
            temperature = float(anneal_temperature(record["epoch"], settings)["temperature"])
            bound = log_acyclicity_bound(temperature, settings["shift"], d)
            history.append({**record, "temperature": temperature, "log_acyclicity_bound": bound})
        return history
