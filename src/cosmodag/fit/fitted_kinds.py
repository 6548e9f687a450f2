"""Kinds of columns that a learner can use; warnings and errors about the others."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cosmodag.data.diagnose.column_findings import inferred_kinds, levels_as_numbers
from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.kinds import declared_names
from cosmodag.data.kinds.inferred import FEWEST_ROWS
from cosmodag.errors import DataError
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables.frames import Table

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner


# Maximum number of levels of a category. With 100 levels, a fit of 8 columns took 7 s (1,000 rows)
# and 20 s (20,000 rows); with 300 levels in 300 rows, a fit of 4 columns took more than a minute.
_MOST_LEVELS = 1_000


def is_block(kind: ColumnKind) -> bool:
    """Whether a column is a category of three levels or more, or a count."""
    return not kind.is_number or kind.kind == "count"


def needs_blocks(kinds: Sequence[ColumnKind]) -> bool:
    """Whether a table has categories of three levels or more, or counts.

    Every other kind is one plain column; a binary variable is its indicator.
    """
    return any(map(is_block, kinds))


def are_categories(kinds: Sequence[ColumnKind]) -> bool:
    """Whether all columns of a table are categories, which may have two levels."""
    return bool(kinds) and all(kind.kind in ("binary", "categorical") for kind in kinds)


def check_levels(learner: "StructureLearner", table: Table) -> None:
    """Refuse unordered categories that the learner cannot use.

    Learners that take numbers only can use none of three levels or more; all other learners can use
    those that do not have too many levels.
    """
    kinds = zip(table.names, table.kinds or (), strict=bool(table.kinds))
    unordered = {name: len(kind.levels) for name, kind in kinds if not kind.is_number}
    how = learner.why_no_levels(len(table.names))
    if how is None:
        _check_frequent(table, list(unordered))
        return
    if not unordered:
        return
    listed = ", ".join(f"{name!r} ({levels} levels)" for name, levels in unordered.items())
    one = len(unordered) == 1
    raise DataError(
        f"{how} takes numbers only, but {listed} "
        f"{'is a category' if one else 'are categories'}: use OrderSearch (--method order-search), "
        f"or leave {'it' if one else 'them'} out (--drop {shlex.quote(','.join(unordered))})."
    )


def _check_frequent(table: Table, unordered: list[str]) -> None:
    """Refuse categories with more than 1,000 levels, or with more levels than half of the rows.

    Such levels are too rare to be learnt from, and a fit with hundreds of them takes long. The
    second limit is also that of text that is not declared.
    """
    for name in unordered:
        column = table.X[:, table.names.index(name)]
        present = column[~np.isnan(column)]
        levels = len(np.unique(present))
        if len(present) >= FEWEST_ROWS and levels > min(len(present) / 2, _MOST_LEVELS):
            raise DataError(
                f"The category {name!r} has {levels:,} levels in {len(present):,} rows, too many "
                "to learn from: merge its levels, declare another kind (kinds=), or leave it out "
                f"(--drop {shlex.quote(name)})."
            )


def models_kinds(learner: "StructureLearner", table: Table) -> bool:
    """Whether the learner fits the categories and counts of a table by equations of their kind."""
    takes_levels = learner.why_no_levels(len(table.names)) is None
    return takes_levels and needs_blocks(table.kinds or ())


def kinds_findings(learner: "StructureLearner", table: Table) -> list[Finding]:
    """List the kinds that were inferred from text, and the levels that are used as numbers."""
    kinds = table.kinds or ()
    declared = declared_names(learner.kinds, table)
    found = list(inferred_kinds(kinds, table.names, declared))
    if learner.why_no_levels(len(table.names)) is not None:
        found += levels_as_numbers(kinds, table.names, type(learner).__name__)
    return found
