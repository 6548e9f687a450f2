"""The finding about hidden common causes."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.diagnose.graph.hidden.search import find_hidden_causes
from cosmodag.errors import name_list

__all__ = ["MOST_COLUMNS", "hidden_causes"]

MOST_COLUMNS = 60
"""Above this many columns, hidden causes are not searched for."""

# Gains, in units of log-likelihood, above which hidden causes are reported, called likely, and
# called very likely; benchmarks/trust.md shows how often each is right.
_REPORTED, _LIKELY, _VERY_LIKELY = 8.0, 15.0, 30.0
_FEWEST = 4  # columns: a group that one factor may explain
_FEWEST_ROWS = 100
_SINGULAR = 1e-7


def hidden_causes(
    correlations: NDArray[np.float64],
    arcs: NDArray[np.bool_],
    rows: int,
    order: NDArray[np.integer],
    names: Sequence[str],
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Finding]:
    """Search for hidden causes that explain groups of columns better than the arcs among them.

    Parameters are those of `find_hidden_causes`, with one name for each column.
    """
    if rows < max(_FEWEST_ROWS, 2 * len(names)) or not _FEWEST <= len(names) <= MOST_COLUMNS:
        return []
    if np.linalg.eigvalsh(correlations)[0] < _SINGULAR:
        return []  # columns that determine one another are covered by another finding
    found = find_hidden_causes(correlations, arcs, rows, order, should_stop)
    if found is None or found.gain < _REPORTED:
        return []
    columns = sorted({column for effects in found.effects for column in effects})
    named = tuple(names[column] for column in columns)
    first = name_list([names[column] for column in found.effects[0]])
    number = len(found.effects)
    causes = "A hidden common cause" if number == 1 else f"{number} hidden common causes"
    explains = "explains" if number == 1 else "explain"
    sentence = (
        f"{causes} (of {first}{'' if number == 1 else ', and others'}) {explains} the columns "
        f"better than arcs among them, {_how_sure(found.gain)} (penalised log-likelihood higher "
        f"by {found.gain:.0f}, with {found.arcs_after} arcs instead of {found.arcs_before}), so "
        f"arcs among {name_list(named)} may reflect causes that are not in the table: measure "
        "them, or read those arcs as associations."
    )
    return [Finding("hidden_causes", named, found.gain, "warning", sentence)]


def _how_sure(gain: float) -> str:
    if gain >= _VERY_LIKELY:
        return "very likely"
    return "likely" if gain >= _LIKELY else "possibly"
