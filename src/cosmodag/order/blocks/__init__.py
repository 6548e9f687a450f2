"""Order search among variables that are blocks of columns: categories, curves and single columns.

Parents are chosen by growing and shrinking, as among single columns, but a change adds or drops
several columns of one block (`cosmodag.order.blocks.columns`).
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
