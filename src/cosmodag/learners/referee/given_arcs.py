"""Equations of the kind of a fitted graph on other arcs of the same variables."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.dag.block_equations import BlockEquations
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.prepare import Prepared
from cosmodag.graph.dags import topological_order
from cosmodag.search import FoundBlocks
from cosmodag.search.mixed.table import BlockTable

Bools = NDArray[np.bool_]


def on_arcs(dag: FittedDAG, arcs: Bools, given: Prepared, *, noise: str) -> FittedDAG:
    """Fit the equations of `dag`, lines or curves, to a prepared table on other arcs."""
    before, d = given.known.before, len(arcs)
    order = topological_order(arcs if before is None else arcs | before)
    equations = dag.equations
    if isinstance(equations, BlockEquations):
        table = BlockTable.of(
            given.in_own_units, given.kinds, curves=True, counted=given.known.counted
        )
        widest = np.maximum(equations.widths, equations.embedding.shortest[:, None])
        new = arcs & (equations.widths == 0)
        widths = np.where(new, equations.embedding.widths[:, None], np.where(arcs, widest, 0))
        blocks = FoundBlocks(order, widths, np.zeros(d), 0.0, 0.0, 0)
        equations = BlockEquations.of(table, blocks, given.preparation)
        factors = given.preparation.factors
        weights = equations.sizes(table) * factors[:, None] / factors
    else:
        weights = _regressed(arcs, given)
    return replace(
        dag,
        order=np.asarray(order, np.intp),
        adjacency=weights,
        weights=weights,
        equations=equations,
        noise=noise,
        noise_reason="The size of the noise depends on the causes.",
        residuals=None,
        turning_losses=None,
    )


def _regressed(arcs: Bools, given: Prepared) -> NDArray[np.float64]:
    """(d, d): weights of regressions on the parents, in prepared units."""
    weights, counted = np.zeros(arcs.shape), given.known.counted
    for v in np.flatnonzero(arcs.any(axis=0)).tolist():
        parents = np.flatnonzero(arcs[:, v])
        rows = slice(None) if counted is None else counted[:, v] > 0
        columns, y = given.X[rows][:, parents], given.X[rows, v]
        weights[parents, v] = np.linalg.lstsq(columns, y, rcond=None)[0]
    return weights
