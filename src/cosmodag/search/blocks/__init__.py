"""Order search among variables that are blocks of columns: categories, curves and single columns.

Parents are chosen by growing and shrinking, as among single columns, but a change adds or drops
several columns of one block (`cosmodag.search.blocks.block_columns`).
"""

from cosmodag.search.blocks.block_climb import choose_block_parents, search_blocks
from cosmodag.search.blocks.block_problem import BlockProblem
from cosmodag.search.blocks.block_score import BlockScore
from cosmodag.search.local_scores import FoundBlocks

__all__ = [
    "BlockProblem",
    "BlockScore",
    "FoundBlocks",
    "choose_block_parents",
    "search_blocks",
]
