"""Background knowledge about a graph: stated by column names, converted to masks and an order."""

from cosmodag.data.knowledge.bounds import Bounds
from cosmodag.data.knowledge.files import read_knowledge
from cosmodag.data.knowledge.statement import Knowledge, as_knowledge, bounds_of

__all__ = ["Bounds", "Knowledge", "as_knowledge", "bounds_of", "read_knowledge"]
