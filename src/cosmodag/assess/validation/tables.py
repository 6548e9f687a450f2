"""Tests of a graph as tables: one line for each implied independence, and one for each arc."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.assess.validation.independences import Test, holm, run_tests

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["arc_tests", "pair_tests"]


def pair_tests(
    arcs: NDArray[np.bool_], order: NDArray[np.intp], names: list[Any], check: Test
) -> "pd.DataFrame":
    """Test each pair that no arc joins, given the parents of the later; the smallest p first."""
    import pandas as pd

    tested = run_tests(arcs, order, check)
    ranked = np.argsort(tested.p_values, kind="stable")
    corrected = holm(tested.p_values)
    return pd.DataFrame(
        {
            "first": [names[u] for u in tested.first[ranked]],
            "second": [names[v] for v in tested.second[ranked]],
            "given": [
                tuple(names[w] for w in np.flatnonzero(arcs[:, v])) for v in tested.second[ranked]
            ],
            "statistic": tested.statistics[ranked],
            "p": tested.p_values[ranked],
            "p_corrected": corrected[ranked],
        }
    )


def arc_tests(arcs: NDArray[np.bool_], names: list[Any], check: Test) -> "pd.DataFrame":
    """Test each arc: independence of its ends given the other parents; the largest p first."""
    import pandas as pd

    tails, heads = np.nonzero(arcs)
    p_values = []
    for u, v in zip(tails.tolist(), heads.tolist(), strict=True):
        others = np.flatnonzero(arcs[:, v])
        p_values.append(float(check(v, np.array([u]), others[others != u])[1][0]))
    table = pd.DataFrame(
        {"cause": [names[u] for u in tails], "effect": [names[v] for v in heads], "p": p_values}
    )
    return table.sort_values("p", ascending=False, kind="stable", ignore_index=True)
