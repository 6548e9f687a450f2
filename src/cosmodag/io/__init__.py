"""Tables and graphs in and out."""

from cosmodag.io.graphs import Graph, read_graph, write_graph
from cosmodag.io.tables import Table, as_table, read_table

__all__ = ["Graph", "Table", "as_table", "read_graph", "read_table", "write_graph"]
