"""Small DAGs with some known arrows, and all members of their equivalence classes."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from cosmodag.graph.dags import is_dag
from cosmodag.graph.equivalence import essential_graph


@st.composite
def dags(draw, most=5):
    """Draw a DAG with permuted columns, and some arcs whose direction is known."""
    d = draw(st.integers(2, most))
    upper = [draw(st.booleans()) for _ in range(d * (d - 1) // 2)]
    arcs = np.zeros((d, d), bool)
    arcs[np.triu_indices(d, 1)] = upper
    places = draw(st.permutations(range(d)))
    arcs = arcs[np.ix_(places, places)]
    told = np.array(draw(st.lists(st.booleans(), min_size=d * d, max_size=d * d)))
    return arcs, arcs & told.reshape(d, d)


def members(arcs: np.ndarray, fixed: np.ndarray) -> list[np.ndarray]:
    """List all DAGs of the same class with the fixed arcs, by trying all directions."""
    tails, heads = np.nonzero(arcs)
    expected = essential_graph(arcs)
    found = []
    for turned in product([False, True], repeat=len(tails)):
        other = np.zeros_like(arcs)
        for u, v, is_turned in zip(tails, heads, turned, strict=True):
            other[(v, u) if is_turned else (u, v)] = True
        is_member = is_dag(other) and other[fixed].all()
        if is_member and np.array_equal(essential_graph(other), expected):
            found.append(other)
    return found
