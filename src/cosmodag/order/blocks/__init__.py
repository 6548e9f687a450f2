"""Order search among variables that are blocks of columns: categories, curves, and plain columns.

The score of a variable has three verbs, as among single columns: start with no parent, add a block,
drop a block (`cosmodag.order.blocks.columns`). Which variables may, must or must not be parents,
how many rows count for each equation, and how wide blocks are, is data.
"""

from cosmodag.order.blocks.problem import BlockProblem, FoundBlocks
from cosmodag.order.blocks.records import ParentRecords, Record, Records
from cosmodag.order.blocks.search import choose_block_parents, search_blocks

__all__ = [
    "BlockProblem",
    "FoundBlocks",
    "ParentRecords",
    "Record",
    "Records",
    "choose_block_parents",
    "search_blocks",
]
