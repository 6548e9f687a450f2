"""A weighted directed graph with named nodes, as plain data."""

import math
import reprlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError, name_list
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class Graph:
    """Named nodes and the matrix of arc weights between them.

    ``weights[u, v]`` belongs to the arc u → v: rows are causes, columns are effects. A dense
    matrix has an arc at every non-zero entry. A SciPy sparse matrix has an arc at every stored
    entry, so an arc may weigh exactly zero; it is never converted to a dense array. Cycles and
    loops are allowed.

    Parameters
    ----------
    names : sequence of str
        One distinct, non-empty name per node.
    weights : ndarray or scipy.sparse matrix of shape (d, d)
        Finite arc weights; Booleans count as weight 1.

    Examples
    --------
    >>> graph = Graph(["rain", "wet"], [[0, 0.5], [0, 0]])
    >>> graph.number_of_arcs
    1
    >>> graph.named_arcs()
    [('rain', 'wet', 0.5)]
    """

    names: Sequence[str]
    weights: Any

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.names)
        if not sparse.issparse(self.weights):
            object.__setattr__(self, "weights", np.asarray(self.weights))
        object.__setattr__(self, "names", names)
        _check_names(names)
        if self.weights.shape != (len(names), len(names)):
            raise DataError(
                f"a graph of {counted(len(names), 'node')} needs weights of shape ({len(names)}, "
                f"{len(names)}), not {self.weights.shape}."
            )
        if self.weights.dtype.kind not in "fiub":
            raise DataError(f"arc weights must be real numbers, not {self.weights.dtype}.")
        sources, targets, values = self.arcs()
        if not np.isfinite(values).all():
            wrong = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(
                f"the arc from {names[sources[wrong]]!r} to {names[targets[wrong]]!r} has the "
                f"weight {values[wrong]}: give every arc a finite weight."
            )

    @classmethod
    def from_arcs(
        cls,
        names: Sequence[str],
        sources: Sequence[int] | NDArray[np.integer],
        targets: Sequence[int] | NDArray[np.integer],
        values: Sequence[float] | NDArray[np.floating] | None = None,
    ) -> "Graph":
        """Make a graph from the indices of sources and targets, and the weights (1 by default)."""
        names = tuple(names)
        if values is None:
            values = np.ones(len(sources))
        shape = (len(names), len(names))
        rows, columns = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
        keys, times = np.unique(rows * len(names) + columns, return_counts=True)
        if (times > 1).any():
            source, target = divmod(int(keys[times > 1][0]), len(names))
            raise DataError(
                f"the arc from {names[source]!r} to {names[target]!r} is given more than once: "
                "keep one."
            )
        data = np.asarray(values, dtype=np.float64)
        return cls(names, sparse.coo_array((data, (rows, columns)), shape=shape).tocsr())

    def arcs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the sources, targets and weights of the arcs, row by row of the matrix."""
        if sparse.issparse(self.weights):
            matrix = sparse.csr_array(self.weights)
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            matrix = matrix.tocoo()
            rows, columns, values = matrix.row, matrix.col, matrix.data
        else:
            rows, columns = np.nonzero(self.weights)
            values = self.weights[rows, columns]
        return rows.astype(np.int64), columns.astype(np.int64), values.astype(np.float64)

    def named_arcs(self) -> list[tuple[str, str, float]]:
        """Return each arc as (cause, effect, weight)."""
        rows, columns, values = (part.tolist() for part in self.arcs())
        return [
            (self.names[row], self.names[column], value)
            for row, column, value in zip(rows, columns, values, strict=True)
        ]

    @property
    def number_of_arcs(self) -> int:
        """Number of arcs."""
        return len(self.arcs()[0])

    def dense(self) -> NDArray[np.float64]:
        """Return the weights as a dense (d, d) array, in which arcs of weight zero are lost."""
        if sparse.issparse(self.weights):
            return np.asarray(self.weights.toarray(), dtype=np.float64)
        return self.weights.astype(np.float64)

    def mask(self) -> NDArray[np.bool_]:
        """Return a dense (d, d) Boolean array that is true at each arc."""
        mask = np.zeros((len(self.names), len(self.names)), dtype=bool)
        rows, columns, _ = self.arcs()
        mask[rows, columns] = True
        return mask

    def aligned(self, names: Sequence[str]) -> "Graph":
        """Return the same graph with its nodes in the order of ``names``.

        Names that the graph does not have become isolated nodes, because an edge list may omit
        such nodes. A node of the graph that is not among ``names`` is refused.

        Examples
        --------
        >>> Graph(["a", "b"], [[0, 2.0], [0, 0]]).aligned(["b", "c", "a"]).named_arcs()
        [('a', 'b', 2.0)]
        """
        position = {name: index for index, name in enumerate(names)}
        unknown = [name for name in self.names if name not in position]
        if unknown:
            raise DataError(
                f"the graph has nodes that are not among the {len(position)} variables: "
                f"{name_list(unknown)}; make the names agree."
            )
        indices = np.array([position[name] for name in self.names], dtype=np.int64)
        sources, targets, values = self.arcs()
        return Graph.from_arcs(list(names), indices[sources], indices[targets], values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.names == other.names and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self.arcs(), other.arcs(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


def _check_names(names: tuple[str, ...]) -> None:
    if not names:
        raise DataError("a graph needs at least one node.")
    if "" in names:
        raise DataError(f"node {names.index('') + 1} of the graph has no name: give it one.")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"more than one node is named {name_list(repeated)}: give every node a unique name."
        )
    odd = next((name for name in names if name.encode("utf-8", "ignore").decode() != name), None)
    if odd is not None:
        raise DataError(f"the node name {odd!r} is not valid Unicode text: rename it.")


def graph_from_names(
    nodes: Sequence[str],
    arcs: Sequence[tuple[str, str, float]],
    source: str,
    names: Sequence[str] | None = None,
) -> Graph:
    """Make a graph from ``nodes`` and arcs (source, target, weight); errors name the file.

    ``names`` are the names of the nodes, if ``nodes`` and ``arcs`` identify them otherwise.
    """
    position = {node: index for index, node in enumerate(nodes)}
    if len(position) < len(nodes):
        repeated = next(node for index, node in enumerate(nodes) if position[node] != index)
        raise DataError(f"{source} lists the node {repeated!r} more than once: keep one.")
    try:
        rows = [position[start] for start, _, _ in arcs]
        columns = [position[end] for _, end, _ in arcs]
    except KeyError as error:
        raise DataError(
            f"{source} has an arc at {error.args[0]!r}, which is not among its nodes: add the node."
        ) from error
    try:
        values = [weight for _, _, weight in arcs]
        return Graph.from_arcs(nodes if names is None else names, rows, columns, values)
    except DataError as error:
        raise DataError(f"{source} cannot be used as a graph: {error}") from error


def number(text: str, source: str) -> float:
    """Read an arc weight, a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        shown = reprlib.repr(text)
        raise DataError(f"{source} gives an arc the weight {shown}: weights are finite numbers.")
    return value


def networkx_of(graph: Graph) -> "nx.DiGraph":
    """Make a ``networkx.DiGraph``: names as nodes, in order, and ``weight`` on each edge."""
    import networkx as nx

    digraph = nx.DiGraph()
    digraph.add_nodes_from(graph.names)
    digraph.add_weighted_edges_from(graph.named_arcs())
    return digraph


def from_networkx(graph: "nx.DiGraph") -> Graph:
    """Convert a ``networkx.DiGraph`` to a `Graph`; an edge without ``weight`` weighs 1.

    Nodes that are not strings are converted by ``str``.
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise DataError(f"a networkx.DiGraph is needed, not a {type(graph).__name__}.")
    arcs = list(graph.edges(data="weight", default=1.0))
    return graph_from_names(list(graph), arcs, "the graph", [str(node) for node in graph])
