"""The arcs of an order on all rows: families that few rows chose are grown again on more."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.networks.families import Families, Family, SearchEffort, arcs_of
from cosmodag.order.networks.problem import Arcs, NetworkProblem
from cosmodag.order.networks.workers import Workers

STAGES = (SearchEffort(rows=500), SearchEffort(rows=1000, steps=5))
"""Rows of each stage, and steps that its kernels are fitted for. Families of 300 rows lack many
weak arcs: on standardised networks of 30 units (d = 20, scale-free) 26 of 70 true arcs were
missing, 10 after growing on 500 rows and 7 on 1,000, which takes six times as long."""


class Regrown(NamedTuple):
    """Arcs; the nats lost without each, less its price, with the same kernel; whether all is done.

    If it is not, some families are those of fewer rows.
    """

    adjacency: Arcs
    gains: NDArray[np.float64]
    finished: bool


def regrow(
    problem: NetworkProblem,
    order: NDArray[np.intp],
    adjacency: Arcs,
    *,
    stages: Sequence[SearchEffort] = STAGES,
    should_stop: Callable[[], bool] | None = None,
    workers: int | None = None,
) -> Regrown:
    """Choose the inputs of every variable among those before it, on more and more rows.

    The choice begins with the arcs of `adjacency`. A stage with more rows than the table has uses
    all of them, and is the last. The result does not depend on the number of workers.

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
    needed = [stage for k, stage in enumerate(stages) if k == 0 or stages[k - 1].rows < rows]
    families: list[Family] = []
    gains = np.zeros((problem.d, problem.d))
    with Workers(workers, should_stop) as pool:
        for stage in needed:
            on_rows = Families(problem, stage)
            before = families or on_rows.of(adjacency)
            tasks = [
                partial(on_rows.carried_over, v, before[v], places < places[v])
                for v in range(problem.d)
            ]
            families = [one or old for one, old in zip(pool.run(tasks), before, strict=True)]
        for v, family in enumerate(families):
            gains[family.inputs, v] = on_rows.losses(v, family)
        return Regrown(arcs_of(families), gains, finished=not pool.stopped)
