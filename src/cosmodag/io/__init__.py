"""Tables and graphs in and out."""

from cosmodag.io.tables import Table, as_table, read_table

__all__ = ["Table", "as_table", "read_table"]
