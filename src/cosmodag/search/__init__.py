"""Order search: find the order of the variables, and the graph on it, with the best score.

`choose_parents` chooses the parents of each variable for a given order; `search` finds the order
whose parents score best. Both work on correlations (`Moments`, `ColumnScore`). `climb` is the
search for a `Score` in Python, and `search_blocks` that for variables of several columns;
`prune_networks` chooses parents of networks. `Constraints` says what is known of the graph, and
`Run` how a search runs: both are made once in `cosmodag.fit` and passed through. Nothing here
imports a learner.

The names are imported on first use, because most of the modules import Numba.
"""

from typing import TYPE_CHECKING

from cosmodag.runtime.later import names_from

if TYPE_CHECKING:
    from cosmodag.search.best_graph import refine_linear
    from cosmodag.search.blocks import BlockProblem, choose_block_parents, search_blocks
    from cosmodag.search.column_score import ColumnScore
    from cosmodag.search.column_search import Found, search
    from cosmodag.search.constraints import Constraints
    from cosmodag.search.gaussian_scores import default_restarts
    from cosmodag.search.local_scores import LOCAL_SCORES, FoundBlocks, Score, SetScore
    from cosmodag.search.moments import Moments
    from cosmodag.search.networks.network_pruning import prune_networks
    from cosmodag.search.non_gaussian import search_non_gaussian
    from cosmodag.search.order_climb import climb
    from cosmodag.search.parents import choose_parents
    from cosmodag.search.regression_graph import RegressionGraph
    from cosmodag.search.search_run import Run
    from cosmodag.search.starts.conditional_variances import equal_variance_order
    from cosmodag.search.starts.orders import variance_order

__all__ = [
    "LOCAL_SCORES",
    "BlockProblem",
    "ColumnScore",
    "Constraints",
    "Found",
    "FoundBlocks",
    "Moments",
    "RegressionGraph",
    "Run",
    "Score",
    "SetScore",
    "choose_block_parents",
    "choose_parents",
    "climb",
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
    "Found": "column_search",
    "FoundBlocks": "local_scores",
    "LOCAL_SCORES": "local_scores",
    "Moments": "moments",
    "RegressionGraph": "regression_graph",
    "Run": "search_run",
    "Score": "local_scores",
    "SetScore": "local_scores",
    "choose_block_parents": "blocks",
    "choose_parents": "parents",
    "climb": "order_climb",
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
