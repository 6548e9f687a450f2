"""The partial ancestral graph of a fit: what its graph shows where causes may be hidden."""

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from cosmodag.errors import DataError, ResourceError
from cosmodag.fit.dag.equations import LinearEquations
from cosmodag.fit.known import Known
from cosmodag.graph.mixed.ancestral import pag_of_dag
from cosmodag.graph.mixed.pag import PartialAncestralGraph

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.order.moments import Moments

__all__ = ["pag_of_fit"]


def pag_of_fit(dag: "FittedDAG") -> PartialAncestralGraph:
    """Partial ancestral graph from the graph of a fit and its training data.

    Linear equations: the class of the ancestral graph of best score near the graph, by the normal
    likelihood of the rows in which nothing was set (`cosmodag.order.ancestral`). Other equations:
    read off the graph, which shows where hidden causes are possible, but no ↔.

    Raises
    ------
    DataError
        If the training data is not available, or variables were set in nearly all rows.
    ResourceError
        If there are more variables than dense matrices are made for.
    """
    if sparse.issparse(dag.adjacency):
        raise ResourceError(
            f"A partial ancestral graph of {dag.d:,} variables takes too much memory: fit a part "
            "of the columns."
        )
    arcs = dag.arcs.toarray().astype(np.bool_)
    if not isinstance(dag.equations, LinearEquations):
        marks, basis = pag_of_dag(arcs), "read off the graph: its equations are not linear"
    else:
        from cosmodag.order.ancestral import pag_by_score

        moments = _moments(dag)
        bounds = dag.bounds
        support, required = (None, None) if bounds is None else (bounds.support, bounds.required)
        marks = pag_by_score(moments, arcs, support=support, required=required)
        basis = f"score of ancestral graphs near the graph, {moments.rows[0]:,.0f} rows"
    return PartialAncestralGraph(tuple(dag.names), marks, basis)


def _moments(dag: "FittedDAG") -> "Moments":
    """Moments of the rows in which nothing was set."""
    known = dag.known
    if known.targets is None:
        return dag.moments
    rows = known.untouched
    if rows is None:
        raise DataError(
            "Hidden causes are searched for in rows in which nothing was set, and there are fewer "
            "than 30 of these: add observations without interventions."
        )
    absent = known.of_rows(np.flatnonzero(rows)).absent
    return Known(absent=absent).moments(dag.training_data()[rows])
