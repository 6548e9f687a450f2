"""Kinds of columns: what the numbers of a column mean, inferred from the values or declared."""

from cosmodag.data.kinds.declared import check_kinds, declared_names, plain_kinds
from cosmodag.data.kinds.kind_choice import with_kinds
from cosmodag.data.kinds.levels import matched
from cosmodag.io.kind_names import ColumnKind

__all__ = ["ColumnKind", "check_kinds", "declared_names", "matched", "plain_kinds", "with_kinds"]
