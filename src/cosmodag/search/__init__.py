"""Order search: find the order of the variables, and the graph on it, with the best score.

`choose_parents` chooses the parents of each variable for a given order; `search` finds the order
whose parents score best. Both work on correlations (`Moments`). `choose_block_parents` and
`search_blocks` do the same for variables of several columns, `prune_networks` for variables that
are networks of their parents. All of these are functions on arrays and import no learner.

The names are imported on first use, because most of the modules import Numba.
"""

from typing import TYPE_CHECKING

from cosmodag.runtime.later import names_from

if TYPE_CHECKING:
    from cosmodag.search.best_graph import refine_linear
    from cosmodag.search.blocks import (
        BlockProblem,
        FoundBlocks,
        choose_block_parents,
        search_blocks,
    )
    from cosmodag.search.column_score import ColumnScore
    from cosmodag.search.column_search import Found, search
    from cosmodag.search.constraints import Constraints
    from cosmodag.search.gaussian_scores import default_restarts
    from cosmodag.search.moments import Moments
    from cosmodag.search.networks.network_pruning import prune_networks
    from cosmodag.search.non_gaussian import search_non_gaussian
    from cosmodag.search.parents import choose_parents
    from cosmodag.search.regression_graph import RegressionGraph
    from cosmodag.search.restarts import Memory
    from cosmodag.search.search_run import Run
    from cosmodag.search.starts.conditional_variances import equal_variance_order
    from cosmodag.search.starts.orders import variance_order

__all__ = [
    "BlockProblem",
    "ColumnScore",
    "Constraints",
    "Found",
    "FoundBlocks",
    "Memory",
    "Moments",
    "RegressionGraph",
    "Run",
    "choose_block_parents",
    "choose_parents",
    "default_restarts",
    "equal_variance_order",
    "prune_networks",
    "refine_linear",
    "search",
    "search_blocks",
    "search_non_gaussian",
    "variance_order",
]

_HOMES = {
    "BlockProblem": "blocks",
    "ColumnScore": "column_score",
    "Constraints": "constraints",
    "Run": "search_run",
    "Found": "column_search",
    "FoundBlocks": "blocks",
    "Memory": "restarts",
    "Moments": "moments",
    "RegressionGraph": "regression_graph",
    "choose_block_parents": "blocks",
    "choose_parents": "parents",
    "default_restarts": "gaussian_scores",
    "equal_variance_order": "starts.conditional_variances",
    "prune_networks": "networks.network_pruning",
    "refine_linear": "best_graph",
    "search": "column_search",
    "search_blocks": "blocks",
    "search_non_gaussian": "non_gaussian",
    "variance_order": "starts.orders",
}

__getattr__ = names_from(__name__, {name: f"search.{home}" for name, home in _HOMES.items()})
