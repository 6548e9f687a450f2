"""Tables from memory and from files, as checked matrices of numbers."""

from cosmodag.io.tables.frames import Missing, Table, as_table
from cosmodag.io.tables.read_table import read_table
from cosmodag.io.tables.text import Decimal

__all__ = ["Decimal", "Missing", "Table", "as_table", "read_table"]
