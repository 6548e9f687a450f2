"""Finishing an answer: from an order, or fitted networks, to the arcs that the data support.

Functions on arrays: no learner is imported here, and none is trained. Linear relations are pruned
and searched on correlations (`prune`, `search_order`, `refine_linear`), with noise that is not
Gaussian on the rows (`search_non_gaussian`); networks by Gaussian processes (`prune_networks`).
"""

from cosmodag.refinement.entropy.search import search_non_gaussian
from cosmodag.refinement.graph import Graph
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.networks.pruning import prune_networks
from cosmodag.refinement.order_search import search_order
from cosmodag.refinement.prune import prune
from cosmodag.refinement.refine import refine_linear
from cosmodag.refinement.starts import equal_variance_order, variance_order

__all__ = [
    "Graph",
    "Moments",
    "equal_variance_order",
    "prune",
    "prune_networks",
    "refine_linear",
    "search_non_gaussian",
    "search_order",
    "variance_order",
]
