"""Order search: the order, and on it the graph, of best score.

`choose_parents` chooses the parents of each variable on a given order, `search` looks for the order
on which they score best. Both work on correlations (`cosmodag.refinement.moments.Moments`).
"""

from cosmodag.order.parents import choose_parents
from cosmodag.order.restarts import Memory
from cosmodag.order.search import Found, default_restarts, search

__all__ = ["Found", "Memory", "choose_parents", "default_restarts", "search"]
