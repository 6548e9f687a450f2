"""Essential graphs, against all DAGs of the same class, counted out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmodag.dags import is_dag
from cosmodag.equivalence import essential_graph


def v_structures(arcs: np.ndarray) -> set[tuple[int, int, int]]:
    joined = arcs | arcs.T
    d = len(arcs)
    return {
        (a, c, b)
        for a, b in itertools.combinations(range(d), 2)
        for c in range(d)
        if arcs[a, c] and arcs[b, c] and not joined[a, b]
    }


def essential_by_counting(arcs: np.ndarray) -> np.ndarray:
    """Union of all acyclic orientations with the same skeleton and v-structures."""
    pairs = np.argwhere(np.triu(arcs | arcs.T))
    union = np.zeros_like(arcs)
    for flips in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(arcs)
        for (u, v), flip in zip(pairs, flips, strict=True):
            other[(v, u) if flip else (u, v)] = True
        if is_dag(other) and v_structures(other) == v_structures(arcs):
            union |= other
    return union


@st.composite
def dags(draw: st.DrawFn) -> np.ndarray:
    d = draw(st.integers(2, 5))
    bits = draw(st.lists(st.booleans(), min_size=d * d, max_size=d * d))
    order = draw(st.permutations(range(d)))
    return np.triu(np.array(bits).reshape(d, d), 1)[np.ix_(order, order)]


@given(dags())
def test_it_is_the_union_of_the_class(arcs):
    assert np.array_equal(essential_graph(arcs), essential_by_counting(arcs))


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        essential_graph(np.array([[0, 1], [1, 0]]))
