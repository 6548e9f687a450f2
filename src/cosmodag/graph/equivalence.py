"""Markov equivalence: which arrows of a DAG the distribution determines.

DAGs that imply the same conditional independences form a Markov equivalence class. Without
interventions or assumptions about the mechanisms, data can distinguish classes but not the DAGs
within one. Arrows known from other sources (background knowledge or interventions) narrow the class
and may direct further arrows. Matrices are dense or SciPy sparse; results are dense for dense and
CSR for sparse input.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import Matrix, topological_order
from cosmodag.graph.texts import counted, dot_text, tetrad_text

if TYPE_CHECKING:
    import networkx as nx

BoolMatrix: TypeAlias = NDArray[np.bool_] | sparse.csr_array


@dataclass(frozen=True)
class EquivalenceClass:
    """The DAGs that a table cannot distinguish, as one graph of arrows and lines.

    Attributes
    ----------
    names : tuple
        Names of the variables.
    directed : tuple of (cause, effect)
        Arrows that all DAGs of the class have.
    undirected : tuple of (name, name)
        Edges that all DAGs of the class have, but not all in the same direction.

    Examples
    --------
    >>> collider = essential_graph([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    >>> EquivalenceClass.of(["a", "b", "c", "d"], collider)
    <EquivalenceClass of 4 variables: 2 arrows, 1 line>
    >>> _.directed, _.undirected
    ((('a', 'c'), ('b', 'c')), (('a', 'd'),))
    """

    names: tuple[Any, ...]
    directed: tuple[tuple[Any, Any], ...]
    undirected: tuple[tuple[Any, Any], ...]

    @classmethod
    def of(cls, names: Any, marks: Matrix) -> "EquivalenceClass":
        """Convert the matrix that :func:`essential_graph` returns."""
        names = tuple(names)
        joined = sparse.csr_array(marks) != 0
        lines = joined.multiply(joined.T)

        def pairs(matrix: Any) -> tuple[tuple[Any, Any], ...]:
            tails, heads = matrix.nonzero()
            return tuple((names[u], names[v]) for u, v in zip(tails, heads, strict=True))

        return cls(names, pairs(joined > lines), pairs(sparse.triu(lines)))

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """Convert to networkx; an undirected edge becomes two arcs with ``directed=False``."""
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.directed, directed=True)
        both = [pair for u, v in self.undirected for pair in ((u, v), (v, u))]
        graph.add_edges_from(both, directed=False)
        return graph

    def text(self) -> str:
        """Write the class as Tetrad's graph text, one edge per line: ``a --> b`` or ``a --- b``."""
        arrows = [(u, "-->", v) for u, v in self.directed]
        return tetrad_text(self.names, [*arrows, *((u, "---", v) for u, v in self.undirected)])

    def to_dot(self) -> str:
        """Write the class for Graphviz, with lines for undirected edges."""
        lines = [(u, v, "dir=none") for u, v in self.undirected]
        return dot_text(self.names, [*((u, v, "") for u, v in self.directed), *lines])

    def __repr__(self) -> str:
        arrows, lines = len(self.directed), len(self.undirected)
        return (
            f"<EquivalenceClass of {counted(len(self.names), 'variable')}: "
            f"{counted(arrows, 'arrow')}, {counted(lines, 'line')}>"
        )


def essential_graph(adjacency: Matrix, fixed: Matrix | None = None) -> BoolMatrix:
    """Essential graph (CPDAG) of a DAG, which represents its Markov equivalence class.

    An arc of the DAG is *compelled* if every equivalent DAG has it, and *reversible* otherwise. The
    (d, d) result is true at [u, v] only for a compelled arc u → v, and at both [u, v] and [v, u]
    for a reversible one. The class contains only equivalent DAGs with all `fixed` arcs, whose
    directions are known; fixed arcs that the DAG does not have are ignored.

    A collider is compelled; a chain is compelled only if its first arrow is known:

    >>> essential_graph(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> essential_graph(chain).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> known = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> essential_graph(chain, known).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    arcs = _by_head(adjacency)
    reversible = _pattern(arcs, ~_directed(arcs, fixed))
    return _like(adjacency, _pattern(arcs, np.ones(arcs.nnz, np.bool_)) + reversible.T)


def compelled(adjacency: Matrix, fixed: Matrix | None = None) -> BoolMatrix:
    """Mark the arcs that every equivalent DAG has; `fixed` is as for `essential_graph`.

    The collider 0 → 2 ← 1 compels its own arcs and the next one, 2 → 3.

    >>> int(compelled([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]).sum())
    3
    >>> bool(compelled([[0, 1], [0, 0]]).any())
    False
    """
    arcs = _by_head(adjacency)
    return _like(adjacency, _pattern(arcs, _directed(arcs, fixed)))


def separated(
    tails: NDArray[Any], heads: NDArray[Any], target_sets: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mark arcs with exactly one end in at least one target set, a row of `target_sets` (k, d).

    A perfect intervention on such a set cuts the arc if the set contains its head, and keeps it if
    the set contains its tail, which identifies the direction (Hauser and Bühlmann 2012). With these
    arcs as ``fixed``, :func:`essential_graph` returns the interventional essential graph.

    >>> sets = np.array([[False, False, False], [True, True, False]])
    >>> separated(np.array([0, 1]), np.array([1, 2]), sets).tolist()
    [False, True]
    """
    return (target_sets[:, tails] != target_sets[:, heads]).any(axis=0)


def class_distance(first: Matrix, second: Matrix) -> int:
    """Structural Hamming distance between the essential graphs of two DAGs.

    It counts the pairs of nodes between which the graphs differ: no arc, a reversible arc, or a
    compelled arc in one or the other direction. It is zero if and only if the DAGs are equivalent.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> class_distance(chain, chain.T)
    0
    >>> class_distance(chain, [[0, 1, 0], [0, 0, 0], [0, 1, 0]])  # a collider
    2
    """
    classes = [sparse.csr_array(essential_graph(graph)) for graph in (first, second)]
    if classes[0].shape != classes[1].shape:
        raise DataError(
            f"The graphs have shapes {classes[0].shape} and {classes[1].shape}: compare graphs of "
            "the same variables."
        )
    differs = classes[0] != classes[1]
    return int((differs + differs.T).nnz) // 2


def _by_head(adjacency: Matrix) -> sparse.csc_array:
    """Arcs grouped by head: the parents of v are ``indices[indptr[v]:indptr[v + 1]]``."""
    arcs = adjacency if sparse.issparse(adjacency) else np.asarray(adjacency)
    arcs = sparse.csc_array(arcs, copy=True)
    arcs.sum_duplicates()
    arcs.eliminate_zeros()
    return arcs


def _directed(arcs: sparse.csc_array, fixed: Matrix | None) -> NDArray[np.bool_]:
    """Mark the arcs that all DAGs of the class have: colliders, fixed arcs and what they imply.

    The DAG itself is in the class, so a directed arc has the DAG's direction: Meek's rules (1995)
    only decide whether an arc is directed. Arcs are visited from causes to effects, until no rule
    applies: a chain takes one sweep.
    """
    order = topological_order(arcs)
    place = np.argsort(order)
    heads = _heads_of(arcs)
    ends = list(zip(arcs.indices.tolist(), heads.tolist(), strict=True))
    parents: list[set[int]] = [set() for _ in order]
    near: list[set[int]] = [{vertex} for vertex in range(len(order))]
    for tail, head in ends:
        parents[head].add(tail)
        near[tail].add(head)
        near[head].add(tail)
    found = np.array([not parents[head] <= near[tail] for tail, head in ends], np.bool_)
    if fixed is not None:
        found |= _are_in(arcs, fixed)
    into: list[set[int]] = [set() for _ in order]
    for arc in np.flatnonzero(found).tolist():
        tail, head = ends[arc]
        into[head].add(tail)
    undirected = np.flatnonzero(~found)
    by_head = np.lexsort((place[arcs.indices[undirected]], place[heads[undirected]]))
    waiting = undirected[by_head].tolist()
    before = -1
    while len(waiting) != before:
        before = len(waiting)
        for arc in waiting:
            tail, head = ends[arc]
            found[arc] = _follows(tail, head, near, into)
            if found[arc]:
                into[head].add(tail)
        waiting = [arc for arc in waiting if not found[arc]]
    return found


def _are_in(arcs: sparse.csc_array, others: Matrix) -> NDArray[np.bool_]:
    """Mark the arcs that another graph has too."""
    other = _by_head(others)
    keys, other_keys = (
        _heads_of(one).astype(np.int64) * arcs.shape[0] + one.indices for one in (arcs, other)
    )
    return np.isin(keys, other_keys)


def _pattern(arcs: sparse.csc_array, keep: NDArray[np.bool_]) -> sparse.csr_array:
    """Convert the arcs to keep to a Boolean matrix."""
    heads = _heads_of(arcs)
    return sparse.csr_array((keep[keep], (arcs.indices[keep], heads[keep])), shape=arcs.shape)


def _like(adjacency: Matrix, found: sparse.csr_array) -> BoolMatrix:
    return found if sparse.issparse(adjacency) else found.toarray()


def _follows(u: int, v: int, near: list[set[int]], into: list[set[int]]) -> bool:
    """Whether u → v follows by one of Meek's rules.

    ====  ==================================  ===============================================
    rule  premise                             v → u would create
    ====  ==================================  ===============================================
    R1    w → u; w, v not joined              a new collider w → u ← v
    R2    u → w → v                           a cycle
    R3    b → v ← c, b and c joined to u;     a cycle, or the new collider b → u ← c
          b, c not joined
    R4    e → c → v, e and c joined to u;     a cycle, or the new collider e → u ← v
          e, v not joined
    ====  ==================================  ===============================================

    `near` are the joined vertices and the vertex itself, `into` the tails of directed arcs.
    """
    if not into[u] <= near[v]:
        return True
    shared = into[v] & near[u]
    if any(u in into[c] or not (into[c] & near[u]) <= near[v] for c in shared):
        return True
    sides = shared - into[u]
    return any(not sides <= near[c] for c in sides)


def _heads_of(arcs: sparse.csc_array) -> NDArray[Any]:
    """Heads of the stored arcs."""
    return np.repeat(np.arange(arcs.shape[1]), np.diff(arcs.indptr))
