"""The graph of the user as a learner that learns nothing, for effects and tests."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge import Knowledge, as_knowledge
from cosmodag.errors import CosmodagWarning, DataError, name_list
from cosmodag.fit.dag.block_equations import BlockEquations
from cosmodag.io.graphs.read_graph import GraphLike, as_graph
from cosmodag.io.tables.foreign import column_names, with_columns
from cosmodag.learners.baselines import EmptyGraph
from cosmodag.learners.structure_learner import Learnt, Prepared
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.search import FoundBlocks
from cosmodag.search.mixed.table import BlockTable
from cosmodag.solve.watch import Watch


@dataclass(kw_only=True, eq=False, repr=False)
class GivenGraph(EmptyGraph):
    """Fit the equations of the graph that `knowledge` states; nothing about it is learnt.

    :func:`cosmodag.given` makes one from a graph. Effects are regressions, adjusted for the set of
    smallest variance. A number acts as it is, also if it is a count, and a category by one
    coefficient for each level but the first.

    Examples
    --------
    >>> from cosmodag import GivenGraph, Knowledge, simulate
    >>> X = simulate.load("n200_d5_ER1_gauss", seed=0).X
    >>> known = Knowledge(required_edges=[(0, 1)], search_space=[(0, 1)])
    >>> GivenGraph(knowledge=known).fit(X).arrow_basis_
    ['stated']
    """

    takes_levels: ClassVar[bool] = True

    def why_no_levels(self, d: int) -> str | None:
        """Name the learner if it cannot use categories; None, since it can."""
        return None

    def fit(self, X: Any, y: Any = None, **described: Any) -> Self:
        """Fit the equations; other columns of a table with names are left out.

        The arguments are those of :meth:`StructureLearner.fit`.
        """
        labels = [value for value in described.values() if isinstance(value, str)]
        # Warnings are about what can be learnt, which is nothing if the whole graph is stated.
        with nullcontext() if self.knowledge is None else ignoring(CosmodagWarning):
            return super().fit(self._of_graph(X, labels), y, **described)

    def _of_graph(self, X: Any, labels: list[str]) -> Any:
        """Select the columns of the graph, and those that describe the rows."""
        columns, known = set(map(str, column_names(X))), as_knowledge(self.knowledge)
        if not columns or known is None or not all(isinstance(name, str) for name in known.names):
            return X
        nodes = [str(name) for name in known.names]
        if lacking := [name for name in nodes if name not in columns]:
            raise DataError(
                f"The graph has {name_list(lacking)}, but the table has no such column: rename "
                "the nodes or the columns so that they agree."
            )
        return with_columns(X, {*nodes, *labels})

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        if all(kind.is_number for kind in given.kinds):
            return super()._learn(given, watch)
        return _with_levels(given)


def _with_levels(given: Prepared) -> Learnt:
    """Fit the equations of a table with categories; numbers act as they are."""
    known, d = given.known, len(given.names)
    arcs = np.zeros((d, d), np.bool_) if known.required is None else known.required
    order: NDArray[np.intp] = known.ordered(np.arange(d))
    kinds = [replace(one, kind="continuous") if one.kind == "count" else one for one in given.kinds]
    table = BlockTable.of(given.in_own_units, kinds, curves=False, counted=known.counted)
    widths = arcs * table.embedding.widths[:, None]
    found = FoundBlocks(order, widths, np.zeros(d), 0.0, 0.0)
    equations = BlockEquations.of(table, found, given.preparation)
    factors = given.preparation.factors
    sizes = equations.sizes(table) / factors * factors[:, None]
    return Learnt(sizes, order, equations=equations)


def given(graph: GraphLike) -> GivenGraph:
    """Make a learner of the user's own graph: its ``fit`` only estimates the equations.

    The fitted model answers :meth:`~GivenGraph.effect`, :meth:`~GivenGraph.adjustment_set` and
    :meth:`~GivenGraph.validate`; the basis of each arc is ``"stated"``.

    Parameters
    ----------
    graph : object
        A ``networkx.DiGraph``; a mapping of nodes to lists of their parents; a text of DAGitty or
        another format; the path of a file that ``cosmodag convert`` reads; a square matrix; a
        fitted model. It must be acyclic.

    Returns
    -------
    GivenGraph
        Not yet fitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from cosmodag import given
    >>> random = np.random.default_rng(0)
    >>> age, noise = random.normal(size=(2, 400))
    >>> dose = age + random.normal(size=400)
    >>> table = pd.DataFrame({"age": age, "dose": dose, "weight": dose - 2 * age + noise})
    >>> model = given("dag { age -> dose; age -> weight; dose -> weight }").fit(table)
    >>> print(model.effect("dose", "weight"))
    Raising dose by 1 raises weight by 0.986. The 95 % interval is 0.88 to 1.09 (standard errors,
    the graph is given). It is adjusted for age. The directions rest on: stated
    (determined).
    """
    found = as_graph(graph)
    arcs = tuple((cause, effect) for cause, effect, _ in found.named_arcs())
    joined = {name for arc in arcs for name in arc}
    alone = tuple(name for name in found.names if name not in joined)
    known = Knowledge(required_edges=arcs, search_space=arcs, exogenous=alone)
    return GivenGraph(knowledge=known)
