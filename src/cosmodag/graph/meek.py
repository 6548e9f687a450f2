"""Meek's rules: arrows of a class of DAGs that follow from known ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.graph.dags import topological_order


def propagated(arcs: sparse.csc_array, directed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Direct further arcs by Meek's rules (1995) until no rule applies.

    The DAG itself is in the class, so a directed arc has the DAG's direction: the rules only decide
    whether it is directed. Arcs are processed from causes to effects, so a chain takes one sweep.
    """
    order = topological_order(arcs)
    place = np.argsort(order)
    heads = heads_of(arcs)
    joined: list[set[int]] = [set() for _ in order]
    into: list[set[int]] = [set() for _ in order]
    ends = list(zip(arcs.indices.tolist(), heads.tolist(), strict=True))
    for (tail, head), is_directed in zip(ends, directed, strict=True):
        joined[tail].add(head)
        joined[head].add(tail)
        if is_directed:
            into[head].add(tail)
    found = directed.copy()
    left = np.flatnonzero(~directed)
    waiting = left[np.lexsort((place[arcs.indices[left]], place[heads[left]]))].tolist()
    before = -1
    while len(waiting) != before:
        before, still = len(waiting), []
        for arc in waiting:
            tail, head = ends[arc]
            found[arc] = _follows(tail, head, joined, into)
            if found[arc]:
                into[head].add(tail)
            else:
                still.append(arc)
        waiting = still
    return found


def _follows(u: int, v: int, joined: list[set[int]], into: list[set[int]]) -> bool:
    """Whether u → v follows by one of Meek's rules.

    ====  ==================================  ===============================================
    rule  there are                           the reverse would make
    ====  ==================================  ===============================================
    R1    w → u; w, v not joined              a new collider w → u ← v
    R2    u → w → v                           a cycle
    R4    e → c → v, e and c joined to u;     a cycle, or the new collider e → u ← v
          e, v not joined
    ====  ==================================  ===============================================

    R3 is not needed: it starts from a collider of variables that are not joined, and the class of
    the DAG already includes its consequences.
    """
    if not into[u] <= joined[v]:
        return True
    shared = into[v] & joined[u]
    return any(u in into[c] or not (into[c] & joined[u]) <= joined[v] for c in shared)


def heads_of(arcs: sparse.csc_array) -> NDArray[Any]:
    """Heads of the stored arcs."""
    return np.repeat(np.arange(arcs.shape[1]), np.diff(arcs.indptr))
