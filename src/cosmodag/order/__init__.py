"""Order search: find the order of the variables, and the graph on it, with the best score.

`choose_parents` chooses the parents of each variable for a given order; `search` finds the order
whose parents score best. Both work on correlations (`Moments`). `choose_block_parents` and
`search_blocks` do the same for variables of several columns, `prune_networks` for variables that
are networks of their parents. All of these are functions on arrays and import no learner.

The names are imported on first use, because most of the modules import Numba.
"""

from typing import TYPE_CHECKING

from cosmodag.later import names_from

if TYPE_CHECKING:
    from cosmodag.order.blocks import BlockProblem, FoundBlocks, choose_block_parents, search_blocks
    from cosmodag.order.moments import Moments
    from cosmodag.order.networks.pruning import prune_networks
    from cosmodag.order.order_search import Found, search
    from cosmodag.order.parents import choose_parents
    from cosmodag.order.regression_graph import RegressionGraph
    from cosmodag.order.restarts import Memory
    from cosmodag.order.scores import default_restarts
    from cosmodag.order.starts.conditional_variances import equal_variance_order
    from cosmodag.order.starts.orders import variance_order

__all__ = [
    "BlockProblem",
    "Found",
    "FoundBlocks",
    "Memory",
    "Moments",
    "RegressionGraph",
    "choose_block_parents",
    "choose_parents",
    "default_restarts",
    "equal_variance_order",
    "prune_networks",
    "search",
    "search_blocks",
    "variance_order",
]

_HOMES = {
    "BlockProblem": "blocks",
    "Found": "order_search",
    "FoundBlocks": "blocks",
    "Memory": "restarts",
    "Moments": "moments",
    "RegressionGraph": "regression_graph",
    "choose_block_parents": "blocks",
    "choose_parents": "parents",
    "default_restarts": "scores",
    "equal_variance_order": "starts.conditional_variances",
    "prune_networks": "networks.pruning",
    "search": "order_search",
    "search_blocks": "blocks",
    "variance_order": "starts.orders",
}

__getattr__ = names_from(__name__, {name: f"order.{home}" for name, home in _HOMES.items()})
