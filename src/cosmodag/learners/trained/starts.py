"""Several starts of one problem: the best of their solutions, and the orders of the others."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DivergenceError

if TYPE_CHECKING:
    from cosmodag.solve.plan import Solved
    from cosmodag.solve.problems import Problem

__all__ = ["best_start", "other_orders"]


def best_start(solved: "list[Solved]", problems: "list[Problem]") -> "Solved":
    """Take the start with the best penalised objective on all data.

    Those that diverged are left out, and so are those that were stopped early unless all were.
    """
    finite = [one for one in solved if one.solution.diverged_at is None]
    if not finite:
        listed = ", ".join(f"{name}={value:g}" for name, value in problems[0].settings.items())
        raise DivergenceError(
            f"Training diverged in round {solved[0].solution.diverged_at} with {listed}: bring "
            "the columns to similar units, or lower learning_rate where it is used."
        )
    whole = [one for one in finite if one.solution.stopped is None] or finite
    return whole[0] if len(whole) == 1 else min(whole, key=lambda one: _loss(one, problems))


def _loss(one: "Solved", problems: "list[Problem]") -> float:
    """Objective of a solution on all rows of its problem, at the settings with which it ended."""
    from cosmodag.solve.recipe import full_loss

    problem, solution = problems[one.place], one.solution
    loss = full_loss(
        solution.recipe,
        solution.parameters,
        problem.data,
        problem.settings,
        problem.counted,
        1.0 if problem.support is None else problem.support,
        1.0 if problem.required is None else 1.0 - problem.required,
    )
    return float(loss)


def other_orders(solved: "list[Solved]", best: "Solved") -> dict[str, NDArray[np.intp]]:
    """Orders of the other starts, as further starts of refinement."""
    orders = {}
    for one in solved:
        solution = one.solution
        order = solution.recipe.structure.order_of(solution.parameters)
        if one is not best and solution.diverged_at is None and order is not None:
            orders[f"training {one.place + 1}"] = order
    return orders
