"""Families that were chosen on few rows, chosen again on more rows of the same order."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.networks.families import Families, Family, SearchEffort, input_arcs
from cosmodag.search.networks.network_problem import Arcs, NetworkProblem
from cosmodag.search.networks.workers import Workers
from cosmodag.search.search_run import Run

STAGES = (SearchEffort(rows=500), SearchEffort(rows=1000, steps=5))
"""Rows of each stage, and steps of the fit of a kernel. Families chosen on 300 rows lack many weak
arcs: on standardised networks of 30 units (d = 20, scale-free) 26 of 70 true arcs were missing, 10
after the stage of 500 rows and 7 after that of 1,000, which takes six times as long."""


def regrow(
    problem: NetworkProblem,
    order: NDArray[np.intp],
    adjacency: Arcs,
    run: Run,
    stages: Sequence[SearchEffort] = STAGES,
) -> tuple[Arcs, bool]:
    """Choose the inputs of every variable among its predecessors, on more and more rows.

    The first stage starts from the arcs of `adjacency`. A stage with more rows than the table has
    is the last, and uses all rows. Returns the arcs, and whether no family is still that of fewer
    rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 2] += 2 * np.tanh(x[:, 0] - x[:, 1])
    >>> problem = NetworkProblem(x, order=[1, 0, 2])
    >>> arcs, _ = regrow(problem, np.array([1, 0, 2]), np.zeros((3, 3), bool), Run())
    >>> arcs.astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    """
    places, rows = np.argsort(order), len(problem.columns.inputs)
    used = [stage for k, stage in enumerate(stages) if k == 0 or stages[k - 1].rows < rows]
    families: list[Family] = []
    with Workers(run) as pool:
        for stage in used:
            on_rows = Families(problem, stage)
            before = families or on_rows.of(adjacency)
            tasks = [
                partial(on_rows.carried_over, v, before[v], places < places[v])
                for v in range(problem.d)
            ]
            families = [one or old for one, old in zip(pool.run(tasks), before, strict=True)]
        return input_arcs(families), not pool.was_stopped
