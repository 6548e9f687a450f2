"""Reading and writing of tables and graphs, and conversion to graphs of other libraries."""

from cosmodag.io.datasets import Dataset, read_dataset
from cosmodag.io.graphs import Graph, as_graph, dump_graph, graph_suffix, read_graph, write_graph
from cosmodag.io.graphs.convert import to_causallearn, to_dowhy, to_lingam, to_networkx, to_pgmpy
from cosmodag.io.graphs.digraph import from_networkx
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables import Table, as_table, read_table

__all__ = [
    "ColumnKind",
    "Dataset",
    "Graph",
    "Table",
    "as_graph",
    "as_table",
    "dump_graph",
    "from_networkx",
    "graph_suffix",
    "read_dataset",
    "read_graph",
    "read_table",
    "to_causallearn",
    "to_dowhy",
    "to_lingam",
    "to_networkx",
    "to_pgmpy",
    "write_graph",
]
