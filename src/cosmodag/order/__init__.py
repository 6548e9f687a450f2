"""Order search: the order, and on it the graph, of best score.

`choose_parents` chooses the parents of each variable on a given order, `search` looks for the order
on which they score best. Both work on correlations (`cosmodag.refinement.moments.Moments`).
`choose_block_parents` and `search_blocks` do the same where a variable is several columns.
"""

from cosmodag.order.blocks import (
    BlockProblem,
    FoundBlocks,
    choose_block_parents,
    search_blocks,
)
from cosmodag.order.parents import choose_parents
from cosmodag.order.restarts import Memory
from cosmodag.order.search import Found, default_restarts, search

__all__ = [
    "BlockProblem",
    "Found",
    "FoundBlocks",
    "Memory",
    "choose_block_parents",
    "choose_parents",
    "default_restarts",
    "search",
    "search_blocks",
]
