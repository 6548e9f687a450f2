"""Total effects of all pairs of variables at once."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.assess.effects.class_view import ClassView
from cosmodag.assess.effects.covariance import Covariance
from cosmodag.assess.effects.possible import total_effects
from cosmodag.assess.effects.simulation import contrasts
from cosmodag.assess.names import compared_values, kind_of

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["effect_matrix"]

MOST_REGRESSED = 1_000
"""Variables up to which all effects are regressions of their own."""


def effect_matrix(
    dag: "FittedDAG", view: ClassView, covariance: Covariance | None
) -> "pd.DataFrame":
    """Give the total effect of every variable on every other; see `FittedGraph.effects_`."""
    import pandas as pd

    names = dag.names
    if dag.is_linear and dag.d > MOST_REGRESSED:
        products = _products(dag).tocsc()
        # Column by column: pandas 3.0 takes the zeros of a whole sparse matrix for gaps.
        array: Any = pd.arrays.SparseArray
        columns = {y: array.from_spmatrix(products[:, [y]]) for y in range(dag.d)}
        made = pd.DataFrame(columns)
        made.index = made.columns = pd.Index(names)
        return made
    found = _simulated(dag, view) if covariance is None else _regressed(view, covariance)
    return pd.DataFrame(found, index=names, columns=names)


def _regressed(view: ClassView, covariance: Covariance) -> NDArray[np.float64]:
    found = np.eye(len(view.dag.parents))
    for x in range(len(found)):
        options = view.options(x)
        for y in set().union(*(option.graph.descendants(x) for option in options)):
            one = total_effects(view, covariance, x, y)
            found[x, y] = one.slopes[0].value if one.identified else np.nan
    return found


def _simulated(dag: "FittedDAG", view: ClassView) -> NDArray[np.float64]:
    found = np.array([contrasts(dag, x, compared_values(dag, x, None))[0] for x in range(dag.d)])
    is_path = np.zeros((dag.d, dag.d), np.bool_)
    for x in range(dag.d):
        is_path[x, list(view.dag.reached_from({x}))] = True
    named = np.array([not kind_of(dag, v).is_number for v in range(dag.d)])
    found[~is_path] = 0.0
    found[is_path & (named[:, None] | named) & ~np.eye(dag.d, dtype=bool)] = np.nan
    return found


def _products(dag: "FittedDAG") -> sparse.csr_array:
    """Sum the products of weights over all directed paths, for very many variables."""
    scales = dag.preparation.scales
    edges = dag.edges
    weights = edges.data * scales[edges.col] / scales[edges.row]
    step = sparse.csr_array((weights, (edges.row, edges.col)), shape=edges.shape)
    totals = term = sparse.eye_array(dag.d, format="csr")
    while term.nnz:
        term = sparse.csr_array(term @ step)
        totals = totals + term
    return sparse.csr_array(totals)
