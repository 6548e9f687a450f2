"""The base class of learners that are trained: parameters to problems, solutions to weights."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from cosmodag.errors import ConvergenceWarning, DivergenceError, InterruptedWarning
from cosmodag.fit.dag.known import NOTHING, Known
from cosmodag.fit.dag.linear_equations import FittedEquations, FunctionEquations, LinearEquations
from cosmodag.fit.input_checks import seeds_from
from cosmodag.fit.prepare import Prepared, prepare
from cosmodag.fit.steps import FitTask, Learning, Learnt
from cosmodag.fit.time.unroll import InTime
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.solve.watch import Watch

# Constructing a learner does not need these modules. With Numba, they take .4 s to import.
if TYPE_CHECKING:
    from cosmodag.solve.methods.solver import Solver
    from cosmodag.solve.plan import Cost, Solved
    from cosmodag.solve.problems import Problem, Solution
    from cosmodag.solve.readout import ReadOut

__all__ = ["TrainedLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class TrainedLearner(StructureLearner):
    """Base class of learners that minimise an objective by a solver.

    A subclass adds parameters and defines the solver (`solver_for`), the values that ``"auto"``
    stands for, and the settings of its problems that are not parameters.

    Attributes
    ----------
    history_ : list of dict
        Records of the training.
    n_iter_ : int
        Number of rounds, iterations or epochs, of all problems of the solver together.
    converged_ : bool
        Whether the solver met its stopping rule before a limit.
    settings_ : dict
        The value that was used for every hyper-parameter.
    backend_ : str
        Implementation of the training that was used.
    """

    extra_facts: ClassVar[tuple[str, ...]] = (
        "history_",
        "settings_",
        "n_iter_",
        "converged_",
        "backend_",
    )

    # Values that "auto" stands for, if they do not depend on the number of variables.
    automatic: ClassVar[dict[str, float]] = {}

    # Cache of `is_linear`, cleared at the beginning of a fit.
    _is_linear: bool | None = field(default=None, init=False)

    # Settings that take the value of another one if they are None or absent.
    _same_as: ClassVar[dict[str, str]] = {"priority_learning_rate": "learning_rate"}
    _precision: ClassVar[type[np.floating[Any]]] = np.float32

    @abstractmethod
    def solver_for(self, n: int, d: int) -> "Solver":
        """Return the solver for problems of n rows and d variables."""

    def _rule(self, d: int) -> dict[str, float]:
        """Return the values that ``"auto"`` stands for, by parameter."""
        return self.automatic

    def _constants(self, n: int, d: int) -> dict[str, float]:
        """Return the settings of a problem that are not parameters of the learner."""
        return {"rounds": float(self._length(n, d)), "beta1": 0.9, "beta2": 0.999}

    @abstractmethod
    def _length(self, n: int, d: int) -> int:
        """Return the usual number of rounds or iterations of a fit."""

    @property
    def _device(self) -> str:
        return str(getattr(self, "device", "cpu"))

    def settings_for(self, d: int) -> dict[str, float]:
        """Return every hyper-parameter as a number, for d variables."""
        for name in self._rule(d):
            self.parameters[name].check(getattr(self, name))
        settings = {
            name: rule if getattr(self, name) == "auto" else getattr(self, name)
            for name, rule in self._rule(d).items()
        }
        return {name: float(value) for name, value in self._completed(settings).items()}

    def _completed(self, settings: dict[str, Any]) -> dict[str, Any]:
        same = {name: settings[other] for name, other in self._same_as.items() if other in settings}
        return same | {name: value for name, value in settings.items() if value is not None}

    def problems_for(
        self,
        data: NDArray[np.floating[Any]],
        known: Known = NOTHING,
        numbers: dict[str, float] | None = None,
        solver: "Solver | None" = None,
    ) -> "list[Problem]":
        """Create the problems of a fit to prepared data, one per starting point.

        Knowledge restricts the arcs of every problem, and values that were set by intervention have
        no weight in the loss. By default, ``numbers`` are the settings of `settings_for` and
        ``solver`` is that of `solver_for`.
        """
        from cosmodag.solve.problems import Problem

        n, d = data.shape
        numbers = self.settings_for(d) if numbers is None else numbers
        numbers = self._completed({**numbers, **self._constants(n, d)})
        needs = (self.solver_for(n, d) if solver is None else solver).needs
        settings = {name: value for name, value in numbers.items() if name in needs}
        data = data.astype(self._precision, copy=False)
        optional: dict[str, Any] = {
            "support": known.support,
            "required": known.required,
            "gaps": known.gaps,
            "counted": known.counted,
        }
        seeds = seeds_from(self.random_state, int(getattr(self, "trainings", 1)))
        return [Problem(data, settings, seed, **optional) for seed in seeds]

    def estimate(
        self,
        X: Any,
        *,
        interventions: Any = None,
        series: Any = None,
        time: Any = None,
        regimes: Any = None,
        find_targets: bool = True,
    ) -> "Cost":
        """Estimate the memory and time of the training of a fit, from a few timed rounds.

        Parameters
        ----------
        X : table
        interventions, series, time, regimes, find_targets : optional
            As for :meth:`fit`.

        Returns
        -------
        Cost
            Of training alone: refinement is not included.

        Raises
        ------
        ResourceError
            If the fit would need more memory than is available. Nothing is allocated.
        """
        from cosmodag.solve.plan import Cost, estimate, plan_many

        other = clone(self)  # leaves a fitted model, and a generator given as its seed, unchanged
        given = prepare(other, X, interventions, regimes, find_targets, InTime(series, time))
        problems = other.problems_for(given.data, given.known)
        solver = other.solver_for(*given.data.shape)
        if other._without_training(given) is not None:
            (plan,) = plan_many(solver, problems, other._device)
            return Cost(plan, trains=False)
        return estimate(solver, problems, other._device)

    @classmethod
    def learn_many(cls, tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
        """Learn from many prepared tables; all problems of one solver are solved as one batch."""
        from cosmodag.learners.trained.training import train_many

        return train_many(tasks, watch)

    def _without_training(self, given: Prepared) -> "Callable[[Prepared], Learnt] | None":
        """Return a function that learns from rows without training; None to train.

        It is returned if training would not improve the result.
        """
        return None

    def _solver_of_fit(self, n: int, d: int) -> "Solver":
        """Return the solver of a fit, with its checkpoint if it has one."""
        return self.solver_for(n, d)

    def _learnt(
        self, solved: "list[Solved]", problems: "list[Problem]", settings: dict[str, float]
    ) -> Learnt:
        """Read out weights and order from the solution of the best starting point."""
        from cosmodag.learners.trained.training import best_start, other_orders
        from cosmodag.solve.readout import read_out

        best = best_start(solved, problems)
        self._warn_of_limits(best.solution)
        problem = problems[best.place]
        final = self._read_out_settings(problem.settings, problem.data.shape[1])
        changed = {name: final[name] for name in final if final[name] != problem.settings[name]}
        problem = replace(problem, settings=final)
        found = read_out(best.solution, problem, self.raw_threshold, best.plan.device)
        equations = self._equations(found, best.solution)
        strengths = self._strengths(found, equations)
        values = strengths.data if sparse.issparse(strengths) else strengths
        if not np.isfinite(values).all():
            raise DivergenceError(
                "The weights at the end of training are not finite: bring the columns to similar "
                "units, or lower learning_rate if the learner has it."
            )
        return Learnt(
            raw_weights=strengths,
            order=found.order,
            stopped=best.solution.stopped,
            extra={
                "history_": self._history(best.solution, problems[0]),
                "settings_": {**settings, **{f"read_out_{k}": v for k, v in changed.items()}},
                "n_iter_": best.solution.iterations,
                "converged_": best.solution.converged and best.solution.stopped is None,
                "backend_": best.plan.backend,
                **self._extra(best.solution),
            },
            orders=other_orders(solved, best),
            equations=equations,
        )

    def _read_out_settings(self, settings: Mapping[str, float], d: int) -> Mapping[str, float]:
        """Return the settings at which a solution is read out."""
        return settings

    def _strengths(self, found: "ReadOut", equations: FittedEquations) -> Any:
        """Return the (d, d) strengths of all arcs."""
        return found.strengths

    def _equations(self, found: "ReadOut", solution: "Solution") -> FittedEquations:
        """Return the equations as optimised."""
        from cosmodag.model.mechanism import FittedMechanism, Linear

        mechanism = solution.recipe.mechanism
        if mechanism == Linear():
            return LinearEquations()
        assert found.weights is not None
        functions = solution.parameters["functions"]
        fitted = FittedMechanism(mechanism, found.weights, functions)
        return FunctionEquations(fitted, np.zeros(len(found.weights)))

    @property
    def is_linear(self) -> bool:
        """Whether the equations of variables are linear, so that regressions may replace them."""
        from cosmodag.model.mechanism import Linear

        if self._is_linear is None:
            self._is_linear = self.solver_for(2, 2).recipe.mechanism == Linear()
        return self._is_linear

    def forget(self) -> None:
        """Delete all fitted attributes."""
        super().forget()
        self._is_linear = None  # parameters may have changed

    def equations_from(self, arrays: dict[str, NDArray[Any]]) -> FittedEquations:
        """Rebuild the equations of a saved fit."""
        from cosmodag.model.mechanism import Linear

        d = len(arrays["order"])
        mechanism = self.solver_for(2, d).recipe.mechanism
        if mechanism == Linear():
            return super().equations_from(arrays)
        return FunctionEquations.from_arrays(mechanism, arrays, d)

    def _extra(self, solution: "Solution") -> dict[str, Any]:
        """Return further fitted attributes, by name."""
        return {}

    def _history(self, solution: "Solution", problem: "Problem") -> list[dict[str, float]]:
        return solution.history

    def _warn_of_limits(self, solution: "Solution") -> None:
        if solution.stopped is not None:
            reason = {"time": "max_time was reached", "interrupt": "it was interrupted"}
            warnings.warn(
                f"Training stopped after {solution.iterations} rounds or iterations because "
                f"{reason[solution.stopped]}: the graph is a DAG, but less converged.",
                InterruptedWarning,
                stacklevel=4,
            )
        elif not solution.converged:
            warnings.warn(
                f"{type(self).__name__} stopped at a limit after {solution.iterations} iterations, "
                "before it converged: the graph is a DAG, but may be worse.",
                ConvergenceWarning,
                stacklevel=4,
            )
