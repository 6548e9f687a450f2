"""Equations of categories whose parents act jointly: log-odds for each combination of levels."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.refinement.mixed.joint import shares_of, states_of

__all__ = ["joint_log_odds", "joint_states"]

Floats = NDArray[np.float64]


def joint_states(
    embedding: Embedding, parents: Sequence[int], columns: Mapping[int, Floats], rows: int
) -> NDArray[np.int64]:
    """(rows,): numbers of the combinations of the parents' levels.

    ``columns`` has the values of parents in units of the table; one that is not there counts as at
    its first level.
    """
    first = np.zeros(rows, np.int64)
    levels = [embedding.levels_of(columns[u], u) if u in columns else first for u in parents]
    return states_of(np.column_stack(levels), embedding.widths[list(parents)] + 1)


def joint_log_odds(embedding: Embedding, X: Floats, widths: NDArray[np.integer], v: int) -> Floats:
    """Estimate the log-odds of the levels of v against the first: (combinations, levels − 1)."""
    parents = np.flatnonzero(widths).tolist()
    states = joint_states(embedding, parents, {u: X[:, u] for u in parents}, len(X))
    combinations = math.prod((embedding.widths[parents] + 1).tolist())
    shape = (combinations, int(embedding.widths[v]) + 1)
    logs = np.log(shares_of(states, embedding.levels_of(X[:, v], v), shape))
    return np.asarray(logs[:, 1:] - logs[:, :1])
