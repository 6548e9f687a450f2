"""Families that were chosen on few rows, chosen again on more rows of the same order."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.networks.families import Families, Family, SearchEffort, input_arcs
from cosmodag.order.networks.problem import Arcs, NetworkProblem
from cosmodag.order.networks.workers import Workers

STAGES = (SearchEffort(rows=500), SearchEffort(rows=1000, steps=5))
"""Rows of each stage, and steps of the fit of a kernel. Families chosen on 300 rows lack many weak
arcs: on standardised networks of 30 units (d = 20, scale-free) 26 of 70 true arcs were missing, 10
after the stage of 500 rows and 7 after that of 1,000, which takes six times as long."""


class RegrownGraph(NamedTuple):
    """A graph whose families were chosen on more rows."""

    adjacency: Arcs
    gains: NDArray[np.float64]
    """(d, d): evidence in nats lost without each arc, less its price, with the same kernel."""
    finished: bool
    """False if some families are still those of fewer rows."""


def regrow(
    problem: NetworkProblem,
    order: NDArray[np.intp],
    adjacency: Arcs,
    *,
    stages: Sequence[SearchEffort] = STAGES,
    should_stop: Callable[[], bool] | None = None,
    workers: int | None = None,
) -> RegrownGraph:
    """Choose the inputs of every variable among its predecessors, on more and more rows.

    The first stage starts from the arcs of `adjacency`. A stage with more rows than the table has
    is the last, and uses all rows. The result does not depend on the number of workers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 2] += 2 * np.tanh(x[:, 0] - x[:, 1])
    >>> problem = NetworkProblem(x, order=[1, 0, 2])
    >>> found = regrow(problem, np.array([1, 0, 2]), np.zeros((3, 3), bool), workers=1)
    >>> found.adjacency.astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    """
    places, rows = np.argsort(order), len(problem.columns.inputs)
    used = [stage for k, stage in enumerate(stages) if k == 0 or stages[k - 1].rows < rows]
    families: list[Family] = []
    gains = np.zeros((problem.d, problem.d))
    with Workers(workers, should_stop) as pool:
        for stage in used:
            on_rows = Families(problem, stage)
            before = families or on_rows.of(adjacency)
            tasks = [
                partial(on_rows.carried_over, v, before[v], places < places[v])
                for v in range(problem.d)
            ]
            families = [one or old for one, old in zip(pool.run(tasks), before, strict=True)]
        for v, family in enumerate(families):
            gains[family.inputs, v] = on_rows.losses(v, family)
        return RegrownGraph(input_arcs(families), gains, finished=not pool.was_stopped)
