"""Data sets: a table with its graph, simulated or read from files."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning
from cosmodag.graph.dags import DENSE_LIMIT, is_dag
from cosmodag.io.graphs import GraphFormat, read_graph
from cosmodag.io.tables.frames import Missing
from cosmodag.io.tables.read_table import read_table


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table and the graph that it is known, or believed, to come from.

    Attributes
    ----------
    name : str
        The argument of `load`, or the stem of the table's file.
    seed : int or None
        Seed of simulated data; None for other data.
    X : ndarray of float64, shape (n, d)
        The samples, one per row, not centred.
    names : tuple of str
        The d column names.
    weights : ndarray or scipy.sparse.csr_array of float64, shape (d, d), or None
        ``weights[u, v]`` is the linear effect of u on v; None if the effects are not known or not
        linear.
    graph : ndarray or scipy.sparse.csr_array of bool, shape (d, d)
        ``graph[u, v]`` is the arc u → v.

    Notes
    -----
    `weights` and `graph` are NumPy arrays up to ``DENSE_LIMIT`` (5,000) variables and
    `scipy.sparse.csr_array` above.
    """

    name: str
    seed: int | None
    X: NDArray[np.float64]
    names: tuple[str, ...]
    weights: Any
    graph: Any


def dense_if_small(matrix: Any) -> Any:
    """Convert a sparse matrix of at most ``DENSE_LIMIT`` columns to an array."""
    return matrix.toarray() if matrix.shape[1] <= DENSE_LIMIT else matrix


def read_dataset(
    table: str | os.PathLike[str],
    graph: str | os.PathLike[str],
    *,
    format: GraphFormat | None = None,
    missing: Missing = "error",
) -> Dataset:
    r"""Read a table and the graph that goes with it, such as an edge list, from two files.

    Parameters
    ----------
    table : path-like
        The samples, in any format that `cosmodag.io.read_table` reads.
    graph : path-like
        The graph, in any format that `cosmodag.io.read_graph` reads. Its nodes are matched to the
        columns of the table by name; columns that it does not mention have no arcs.
    format : str, optional
        The format of the graph, if the file extension does not determine it.
    missing : {"error", "drop"}
        Refuse missing values in the table, or drop the rows that have one.

    Returns
    -------
    Dataset
        Named after the table's file. Its seed is None, and so are its weights if all arcs of the
        file weigh 1.

    Raises
    ------
    DataError
        If a file cannot be read, or the graph has a node that is not a column of the table.

    Warns
    -----
    DataWarning
        If the graph has a cycle, so that no DAG can match it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "rain.csv").write_text("rain,wet,cold\n1,2,0\n0,1,3\n")
    >>> _ = (folder / "arcs.csv").write_text("Cause,Effect\nrain,wet\n")
    >>> data = read_dataset(folder / "rain.csv", folder / "arcs.csv")
    >>> data.name, data.names, data.graph.astype(int).tolist()
    ('rain', ('rain', 'wet', 'cold'), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    """
    samples = read_table(table, missing=missing)
    try:
        arcs = read_graph(graph, format).aligned(samples.names).weights
    except DataError as error:
        raise DataError(f"'{graph}' does not go with '{table}': {error}") from error
    pattern = arcs.astype(bool)
    pattern.data[:] = True  # arcs of weight zero too
    if not is_dag(pattern):
        warnings.warn(
            f"The graph in '{graph}' has a cycle, so no acyclic graph can match all of it.",
            DataWarning,
            stacklevel=2,
        )
    return Dataset(
        name=Path(table).stem,
        seed=None,
        X=samples.X,
        names=tuple(samples.names),
        weights=None if np.all(arcs.data == 1) else dense_if_small(arcs),
        graph=dense_if_small(pattern),
    )
