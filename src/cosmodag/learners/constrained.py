"""Learners that bring acyclicity about by a solver: what NOTEARS, DAGMA and NOCURL share."""

import warnings
from abc import abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import AcyclicityWarning, DivergenceError, InterruptedWarning
from cosmodag.learners.base import Learnt, StructureLearner
from cosmodag.learners.checks import check_choice, check_count, check_number, seeds_from
from cosmodag.mechanism import Linear
from cosmodag.objective import Objective
from cosmodag.solver.many import Solver, solve_many
from cosmodag.solver.problems import Problem, Solution
from cosmodag.solver.recipe import Guard, Recipe, Strengths, from_zero
from cosmodag.solver.training.schedules import constant
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters, Structure

__all__ = ["VARIANTS", "ConstrainedLearner", "ReadableSolver", "Setting"]

Setting = float | str

VARIANTS = ("original", "paper")


class ReadableSolver(Solver, Protocol):
    """A solver that says what arcs its solutions have."""

    def read_out(self, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc of one problem."""
        ...


class ConstrainedLearner(StructureLearner):
    """Structure learning by a constraint, or a sequence of problems.

    A subclass stores the parameters named below in ``__init__``, and says which solver it uses and
    which numbers stand for ``"auto"``.
    """

    _extra_facts = ("history_", "settings_")

    lambda1: Setting
    learning_rate: Setting
    tolerance: Setting
    max_iter: int
    epochs: int
    batch_size: int
    variant: str
    device: str
    max_time: float | None
    random_state: Any
    verbose: bool

    @abstractmethod
    def solver_for(self, d: int) -> ReadableSolver:
        """How problems of d variables are solved."""

    @abstractmethod
    def _rule(self, d: int) -> dict[str, float]:
        """Numbers for the parameters that may be ``"auto"``, by name."""

    @abstractmethod
    def _fixed(self) -> dict[str, float]:
        """Give the settings of the problem that are no parameters of the learner, by name."""

    @abstractmethod
    def _length(self) -> int:
        """Epochs, or iterations, that a fit takes if all goes well."""

    @property
    def _is_original(self) -> bool:
        return self.variant == "original"

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("variant", self.variant, VARIANTS)
        for name in ("max_iter", "epochs", "batch_size"):
            check_count(name, getattr(self, name))
        if self.max_time is not None:
            check_number("max_time", self.max_time, low=0.0)

    def settings_for(self, d: int) -> dict[str, float]:
        """Every hyper-parameter as a number, for d variables."""
        settings = {
            name: rule if getattr(self, name) == "auto" else getattr(self, name)
            for name, rule in self._rule(d).items()
        }
        for name, value in settings.items():
            check_number(name, value, low=0.0, low_allowed=name != "learning_rate")
        return {name: float(value) for name, value in settings.items()}

    def problem_for(self, data: NDArray[np.floating], seed: int) -> Problem:
        """Say what is to be solved, from centred data; the originals are in float64."""
        settings = self.settings_for(data.shape[1])
        rate = settings["learning_rate"]
        common = {"epochs": float(self.epochs), "priority_learning_rate": rate}
        adam = {"beta1": 0.9, "beta2": 0.999}
        return Problem(
            data.astype(np.float64 if self._is_original else np.float32),
            {**common, **adam, **settings, **self._fixed()},
            seed,
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a graph; see :meth:`StructureLearner.fit`."""
        super().fit(X, y)
        if self.was_cyclic_:
            warnings.warn(
                f"The optimised weights hold a cycle, so that {self.dropped_arcs_} arc(s) were "
                "dropped to make a DAG: optimise longer, or raise threshold, to need no repair.",
                AcyclicityWarning,
                stacklevel=2,
            )
        return self

    def _learn(self, data: NDArray[np.float32]) -> Learnt:
        d = data.shape[1]
        solver = self.solver_for(d)
        problem = self.problem_for(data, seeds_from(self.random_state, 1)[0])
        unit = "iterations" if self._is_original else "epochs"
        device = "cpu" if self._is_original else self.device
        label = type(self).__name__
        with Watch(self._length(), label, self.max_time, self.verbose) as watch:
            [(_, solution)] = solve_many(solver, [problem], device=device, watch=watch)
        self._refuse_divergence(solution, problem)
        self._warn_if_stopped(solution, unit)
        extra = {
            "history_": solution.history,
            "settings_": self.settings_for(d),
            "n_iter_": solution.epochs,
        }
        return self._learnt(solver, solution, extra)

    def _learnt(self, solver: ReadableSolver, solution: Solution, extra: dict[str, Any]) -> Learnt:
        return Learnt(solver.read_out(solution.parameters), stopped=solution.stopped, extra=extra)

    def _refuse_divergence(self, solution: Solution, problem: Problem) -> None:
        if solution.diverged_at is not None:
            listed = ", ".join(f"{name}={value:g}" for name, value in problem.settings.items())
            raise DivergenceError(
                f"Training diverged after epoch {solution.diverged_at} with {listed}: lower "
                "learning_rate, or scale the data down."
            )

    def _warn_if_stopped(self, solution: Solution, unit: str) -> None:
        if solution.stopped is None:
            return
        cause = {"time": "max_time was reached", "interrupt": "it was interrupted"}
        warnings.warn(
            f"Training stopped after {solution.epochs} {unit} because {cause[solution.stopped]}: "
            "the graph is a DAG, but less converged.",
            InterruptedWarning,
            stacklevel=5,
        )

    def _recipe(
        self,
        structure: Structure,
        objective: Objective,
        strengths: Strengths = from_zero,
        guard: Guard | None = None,
    ) -> Recipe:
        """Put the parts of a linear learner together."""
        return Recipe(structure, Linear(), objective, constant, self.batch_size, strengths, guard)
