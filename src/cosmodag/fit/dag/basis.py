"""Evidence for directions: the basis of each arc, the equivalence class, hidden causes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError, ResourceError
from cosmodag.fit.dag.known import Known
from cosmodag.fit.dag.linear_equations import LinearEquations
from cosmodag.graph.equivalence import compelled, essential_graph, separated
from cosmodag.graph.mixed.ancestral import pag_of_dag
from cosmodag.graph.mixed.pag import PartialAncestralGraph

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.search.moments import Moments

Bools = NDArray[np.bool_]

SHAPE = "shape of the graph"
WEAK = "weak evidence"
TIME = "time"
STATED = "stated"
KNOWLEDGE = "knowledge"
INTERVENTIONS = "interventions"
FOUND = "intervention (found target)"
SCALE = "scale of the columns"
CURVES = "curves"
FREE = "free choice"

FIRM = 5.0
"""Smallest loss of log-likelihood that makes the evidence for an arrow very strong (twice the
logarithm of the odds above 10, Kass and Raftery 1995). On standardised tables with weights of .1 to
.5, the fraction of wrong arrows among those fixed by the shape of the graph was .25, .25, .13 and
.12 (d = 10 and 20 with 200 rows, 20 and 50 with 500). Among those with a larger loss it was .13,
.10, .02 and .02, before the search for the best graph with the arrow turned (`turning_losses`)
lowered these fractions further. Turning an arrow seldom costs more than one arc, log n, so that
with fewer than 150 rows hardly any arrow reaches this loss."""

BASES = {
    TIME: "the cause comes before the effect in time",
    STATED: "the whole graph was given, and nothing in it was learnt",
    KNOWLEDGE: "knowledge excludes the reverse, directly or by what follows from it",
    INTERVENTIONS: "interventions exclude the reverse, directly or by what follows from them",
    FOUND: "a regime changed one end and not the other; that it did was found in the data",
    SHAPE: "fixed by the shape of this graph: it is as sure as the arcs around it",
    WEAK: "the shape of this graph fixes it, but graphs without this arrow score nearly as well",
    "non-Gaussianity": "the shape of the noise distinguishes it from the reverse",
    "uneven noise": "the size of the noise depends on the causes in this direction only",
    CURVES: "curves with independent noise fit in this direction only",
    "equal variances": "only the assumption of equal noise variances decides it; units matter",
    SCALE: "it follows the units of the columns, which may be an accident",
    FREE: "nothing in the data decides it: the reverse fits as well",
}
"""Bases of the direction of an arc, the strongest first, and the meaning of each."""

_NOISE_BASES = {
    "gaussian": FREE,
    "non-gaussian": "non-Gaussianity",
    "uneven": "uneven noise",
    "equal-variance": "equal variances",
}


def basis_of_fit(dag: "FittedDAG") -> list[str]:
    """Name the basis of the direction of each arc of a fit, in the order of its ``edges``."""
    edges = dag.edges
    if dag.is_stated:
        return [STATED] * edges.nnz
    otherwise = _NOISE_BASES.get(dag.noise or "gaussian", f"score {dag.noise!r}")
    otherwise = SCALE if dag.follows_units else otherwise
    losses = dag.turning_losses
    by_knowledge, by_interventions = _known_directions(dag)
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
        dag.equations.may_direct(edges.row, edges.col),
        by_found,
        None if dag.window is None else dag.window.past[edges.row],
    )


def class_of_fit(dag: "FittedDAG") -> Any:
    """Equivalence class of a fit as a (d, d) matrix, sparse if its ``adjacency`` is."""
    by_knowledge, by_interventions = _known_directions(dag)
    fixed = by_knowledge | by_interventions
    known = mask_of(dag.edges.row[fixed], dag.edges.col[fixed], dag.d)
    found: Any = essential_graph(dag.arcs, known if fixed.any() else None)
    return found if sparse.issparse(dag.adjacency) else found.toarray()


def stated_directions(dag: "FittedDAG") -> Bools:
    """(m,): whether time, knowledge or stated interventions exclude the reverse of each arc."""
    by_knowledge, by_interventions = _known_directions(dag)
    edges = dag.edges
    if dag.regimes is not None:
        by_interventions = dag.regimes.separate(edges.row, edges.col, stated=True)
    by_time = False if dag.window is None else dag.window.past[edges.row]
    return np.asarray(by_knowledge | by_interventions | by_time)


def _known_directions(dag: "FittedDAG") -> tuple[Bools, Bools]:
    """(m,) twice: whether knowledge, and interventions, exclude the reverse of each arc."""
    edges, bounds, sets = dag.edges, dag.bounds, dag.target_sets
    nothing = np.zeros(edges.nnz, np.bool_)
    return (
        nothing if bounds is None else bounds.directs(edges.row, edges.col),
        nothing if sets is None else separated(edges.row, edges.col, sets),
    )


def arrow_basis(
    arcs: sparse.csr_array,
    tails: NDArray[Any],
    heads: NDArray[Any],
    by_knowledge: Bools,
    by_interventions: Bools,
    otherwise: str,
    losses: NDArray[np.float64] | None = None,
    curved: Bools | None = None,
    by_found: Bools | None = None,
    by_time: Bools | None = None,
) -> list[str]:
    """Name the basis of the direction of each arc.

    It is ``time`` for arcs that time directs, and otherwise the first of these that applies:

    1. ``knowledge``: knowledge excludes the reverse. The search could not choose the direction, so
       that the data do not support it, even if the shape of the graph agrees.
    2. ``interventions``: some set of targets contains one end and not the other. This holds whether
       or not other arcs are right, and is named even if the shape of the graph agrees.
       ``intervention (found target)`` if only targets that were found separate the ends.
    3. ``shape of the graph``: every graph with the same conditional independences has the arrow;
       ``scale of the columns`` instead if the order, and with it the shape, follows the units;
       ``weak evidence`` if turning the arrow hardly changes the score.
    4. ``knowledge``: the arrow follows from 1 and 3 by Meek's rules.
    5. ``interventions``, stated or found: the arrow follows from 1, 2 and 3 by Meek's rules.
    6. ``curves``: the equation may be a curve, and turning the arrow reduces the score much.
    7. `otherwise`: the assumption about the noise, or a free choice.

    `tails` and `heads` (m,) are the arcs in the order of the result, and all masks are (m,).
    `losses` are the reductions of the score when each arc is turned (NaN if unknown); `curved`
    marks arcs whose equations may be curves, so that the score may prefer one direction. Arcs that
    time directs count as part of the shape.
    """
    nothing = np.zeros(len(tails), np.bool_)
    by_found = nothing if by_found is None else by_found
    by_time = nothing if by_time is None else by_time
    by_knowledge, by_interventions = by_knowledge | by_time, by_interventions | by_time
    fixed = [by_time, by_knowledge, by_knowledge | by_interventions]
    shape, known, stated, found = _directed(arcs, tails, heads, [*fixed, fixed[-1] | by_found])
    bases = np.full(len(tails), otherwise, object)
    if losses is not None and curved is not None:
        bases[curved & (losses >= FIRM)] = CURVES
    bases[found] = FOUND
    bases[stated] = INTERVENTIONS
    bases[known] = KNOWLEDGE
    bases[shape] = SCALE if otherwise == SCALE else SHAPE
    if losses is not None and otherwise == FREE:
        bases[shape & (losses < FIRM)] = WEAK
    bases[by_found] = FOUND
    bases[by_interventions] = INTERVENTIONS
    bases[by_knowledge] = KNOWLEDGE
    bases[by_time] = TIME
    return list(bases.tolist())


def _directed(
    arcs: sparse.csr_array, tails: NDArray[Any], heads: NDArray[Any], fixed: list[Bools]
) -> list[Bools]:
    """(m,) for each mask of fixed arcs: whether the class, given these, directs each arc."""
    found: dict[bytes, Bools] = {}
    for mask in fixed:
        if mask.tobytes() not in found:  # often all masks are empty
            known = mask_of(tails[mask], heads[mask], arcs.shape[0]) if mask.any() else None
            found[mask.tobytes()] = contains_arcs(compelled(arcs, known), tails, heads)
    return [found[mask.tobytes()] for mask in fixed]


def contains_arcs(matrix: Any, tails: NDArray[Any], heads: NDArray[Any]) -> Bools:
    """(m,): whether a matrix, dense or sparse, contains each arc."""
    found = sparse.coo_array(matrix)
    d = found.shape[0]
    keys = found.row.astype(np.int64) * d + found.col
    return np.isin(tails.astype(np.int64) * d + heads, keys)


def mask_of(tails: NDArray[Any], heads: NDArray[Any], d: int) -> sparse.csr_array:
    """Arcs as a sparse Boolean matrix."""
    return sparse.csr_array((np.ones(len(tails), bool), (tails, heads)), shape=(d, d))


def pag_of_fit(dag: "FittedDAG") -> PartialAncestralGraph:
    """Partial ancestral graph from the graph of a fit and its training data.

    For linear equations it is the class of the ancestral graph of best score near the graph, by the
    normal likelihood of the rows in which nothing was set (`cosmodag.search.ancestral`). For other
    equations it is read off the graph: this shows where hidden causes are possible, but no ↔.
    """
    if sparse.issparse(dag.adjacency):
        raise ResourceError(
            f"A partial ancestral graph of {dag.d:,} variables takes too much memory: fit fewer "
            "columns."
        )
    arcs = dag.arcs.toarray().astype(np.bool_)
    if not isinstance(dag.equations, LinearEquations):
        marks, basis = pag_of_dag(arcs), "the graph alone, since its equations are not linear"
    else:
        from cosmodag.search.ancestral import pag_by_score
        from cosmodag.search.constraints import Constraints

        moments = _moments(dag)
        bounds = dag.bounds
        given = Constraints() if bounds is None else Constraints(bounds.support, bounds.required)
        marks = pag_by_score(moments, arcs, given)
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
            "The search for hidden causes uses rows without interventions, of which there are "
            "fewer than 30: add observations without interventions."
        )
    absent = known.of_rows(np.flatnonzero(rows)).absent
    return Known(absent=absent).moments(dag.training_data()[rows])
