"""Signs of hidden common causes in what a learnt graph needs to explain the columns."""

from cosmodag.data.diagnose.hidden.finding import hidden_causes
from cosmodag.data.diagnose.hidden.search import HiddenCauses, find_hidden_causes

__all__ = ["HiddenCauses", "find_hidden_causes", "hidden_causes"]
