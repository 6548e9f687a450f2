"""Detection of hidden common causes from dense groups of arcs in a learnt graph."""

from cosmodag.data.diagnose.graph.hidden.finding import hidden_causes
from cosmodag.data.diagnose.graph.hidden.search import HiddenCauses, find_hidden_causes

__all__ = ["HiddenCauses", "find_hidden_causes", "hidden_causes"]
