"""Finishing an answer: from an order, or fitted networks, to the arcs that the data support.

Functions on arrays: no learner is imported here, and none is trained. Linear relations are pruned
and searched on correlations (`refine_linear`, by `cosmodag.order`), with noise that is not Gaussian
on the rows (`search_non_gaussian`); networks by Gaussian processes (`prune_networks`).
The names are imported when first used, since most of them import Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosmodag.refinement.conditional_variances import equal_variance_order
    from cosmodag.refinement.entropy.search import search_non_gaussian
    from cosmodag.refinement.graph import RegressionGraph
    from cosmodag.refinement.moments import Moments
    from cosmodag.refinement.networks.pruning import prune_networks
    from cosmodag.refinement.refine import refine_linear
    from cosmodag.refinement.starts import variance_order

__all__ = [
    "Moments",
    "RegressionGraph",
    "equal_variance_order",
    "prune_networks",
    "refine_linear",
    "search_non_gaussian",
    "variance_order",
]

_HOMES = {
    "RegressionGraph": "graph",
    "Moments": "moments",
    "equal_variance_order": "conditional_variances",
    "prune_networks": "networks.pruning",
    "refine_linear": "refine",
    "search_non_gaussian": "entropy.search",
    "variance_order": "starts",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"cosmodag.refinement.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'cosmodag.refinement' has no attribute {name!r}")
