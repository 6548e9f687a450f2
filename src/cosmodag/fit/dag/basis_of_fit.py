"""What the arrows of a fit rest on, from what is known of it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.basis import arrow_basis
from cosmodag.graph.equivalence import separated

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["basis_of_fit", "known_directions"]

_NOISE_BASES = {"non-gaussian": "non-Gaussianity", "equal-variance": "equal variances"}


def basis_of_fit(dag: "FittedDAG") -> list[str]:
    """Name what the direction of each arc of a fit rests on, in the order of its ``edges``."""
    edges = dag.edges
    otherwise = _NOISE_BASES.get(dag.noise or "", "free choice")
    otherwise = "scale of the columns" if dag.follows_units else otherwise
    losses = dag.turning_losses
    by_knowledge, by_interventions = known_directions(dag)
    by_found = None
    if dag.regimes is not None:
        by_found = dag.regimes.separate(edges.row, edges.col, stated=False)
        by_interventions = dag.regimes.separate(edges.row, edges.col, stated=True)
    return arrow_basis(
        dag.arcs,
        edges.row,
        edges.col,
        by_knowledge,
        by_interventions,
        otherwise,
        None if losses is None else losses[edges.row, edges.col],
        dag.equations.tells(edges.row, edges.col),
        by_found,
        None if dag.window is None else dag.window.past[edges.row],
    )


def known_directions(dag: "FittedDAG") -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether knowledge, and whether interventions, exclude the reverse of each arc."""
    edges, bounds, sets = dag.edges, dag.bounds, dag.target_sets
    nothing = np.zeros(edges.nnz, np.bool_)
    return (
        nothing if bounds is None else bounds.directs(edges.row, edges.col),
        nothing if sets is None else separated(edges.row, edges.col, sets),
    )
