"""Compiled memory of growing: every path met so far, as a tree for each variable.

What a path grows to next depends only on which of the other variables come before. A node is a
path; it keeps the variables that would be taken next, best first, so that growing among any
predecessors is a walk down the tree: the next step is the first of them that comes before. Only
paths that were never met are computed, once for all orders and all starts. This is the grow–shrink
tree of the search known as BOSS (Andrews et al. 2023).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refinement.search.grow import NEGLIGIBLE, wide
from cosmodag.refinement.search.rules import may_be_parent, worth
from cosmodag.refinement.search.shrink import shrink

__all__ = ["TREE_UP_TO", "Tree", "new_tree", "plant", "walk"]

# Beyond this many variables, writing a node costs more than growing a few times without it.
TREE_UP_TO = 64
MEMORY = 64_000_000


class Tree(NamedTuple):
    """Nodes, and for each the variables that may come next.

    ``used`` holds how many nodes and entries there are. Node v is the empty path of variable v.
    """

    chosen: NDArray[np.int32]  # the last step
    loading: NDArray[np.float64]
    variance: NDArray[np.float64]  # that the path leaves
    parents: NDArray[np.int32]  # kept of it; −1 where that is not known yet
    residual: NDArray[np.float64]  # that these leave
    first: NDArray[np.int64]  # entries from here
    last: NDArray[np.int64]  # to here
    rows: NDArray[np.float64]  # (nodes, 3, d): whitened, left, along
    who: NDArray[np.int32]  # per entry: the next step
    child: NDArray[np.int32]  # and the node it leads to, −1 where there is none yet
    used: NDArray[np.int64]
    nodes: NDArray[np.int64]  # of the path walked last; overwritten


def new_tree(d: int) -> Tree:
    """Make an empty tree for d variables; without room for any where they are too many."""
    size = MEMORY // (24 * d + 300) if 0 < d <= TREE_UP_TO else 0
    entries = 24 * size
    return Tree(
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((size, 3, d if size else 0)),
        np.empty(entries, np.int32),
        np.empty(entries, np.int32),
        np.zeros(2, np.int64),
        np.empty(d + 1, np.int64),
    )


@borrowing
def _list_next(rules: Any, tree: Any, node: int, v: int, depth: int, s: Any) -> bool:
    """Write down who may come next after a node, best first; False where there is no room."""
    _, share, _, limit, _, _ = worth(rules, v)
    first = tree.used[1]
    tree.first[node] = tree.last[node] = first
    tree.parents[node] = -1
    variance = tree.variance[node]
    if depth >= limit or variance <= NEGLIGIBLE:
        return True
    left, along = tree.rows[node, 1], tree.rows[node, 2]
    d, target, count = len(left), variance * share, 0
    if first + d > len(tree.who):
        return False
    who, gains = tree.who[first:], s.along
    for j in range(d):
        square = along[j] * along[j]
        if square > target * left[j] and left[j] > NEGLIGIBLE and may_be_parent(rules, j, v):
            gain, at = square / left[j], count
            while at > 0 and gains[at - 1] < gain:
                gains[at], who[at] = gains[at - 1], who[at - 1]
                at -= 1
            gains[at], who[at] = gain, j
            count += 1
    for i in range(first, first + count):
        tree.child[i] = -1
    tree.last[node] = tree.used[1] = first + count
    return True


@borrowing
def plant(rules: Any, tree: Any, s: Any) -> bool:
    """Write the empty path of every variable; False where there is no room for more."""
    d = len(tree.nodes) - 1
    tree.used[:] = 0
    if len(tree.chosen) <= 2 * d:
        return False
    for v in range(d):
        correlations = rules.correlations[rules.group[v]]
        tree.variance[v] = 1.0
        for j in range(d):
            tree.rows[v, 1, j] = 0.0 if j == v else correlations[j, j]
            tree.rows[v, 2, j] = correlations[v, j]
        if not _list_next(rules, tree, v, v, wide(0), s):
            return False
    tree.used[0] = d
    return True


@borrowing
def _branch(rules: Any, tree: Any, entry: int, v: int, depth: int, s: Any) -> int:
    """Make the node that an entry leads to; −1 where there is no room."""
    node, above, x = tree.used[0], tree.nodes[depth], wide(tree.who[entry])
    if node >= len(tree.chosen):
        return -1
    correlations = rules.correlations[rules.group[v]][x]
    new, left, along = tree.rows[node, 0], tree.rows[node, 1], tree.rows[node, 2]
    d = len(new)
    for j in range(d):
        new[j] = correlations[j]
    for i in range(1, depth + 1):
        row = tree.rows[tree.nodes[i], 0]
        f = row[x]
        for j in range(d):
            new[j] -= f * row[j]
    old_left, old_along = tree.rows[above, 1], tree.rows[above, 2]
    root = np.sqrt(old_left[x])
    scale, b = 1.0 / root, old_along[x] / root
    for j in range(d):
        w = new[j] * scale
        new[j] = w
        left[j] = old_left[j] - w * w
        along[j] = old_along[j] - b * w
    new[x], left[x], along[x] = root, 0.0, 0.0
    s.work[0] += d * (depth + 4)
    tree.chosen[node], tree.loading[node] = x, b
    tree.variance[node] = max(tree.variance[above] - b * b, NEGLIGIBLE)
    if not _list_next(rules, tree, node, v, depth + 1, s):
        return -1
    tree.child[entry] = node
    tree.used[0] = node + 1
    return int(node)


@borrowing
def _shrink_path(rules: Any, tree: Any, v: int, k: int, s: Any) -> None:
    """Choose what is kept of the path walked last, of k steps."""
    node, at = tree.nodes[k], 0
    for i in range(1, k + 1):
        x = tree.chosen[tree.nodes[i]]
        s.loading[i - 1] = tree.loading[tree.nodes[i]]
        for j in range(1, i + 1):
            s.factor[at] = tree.rows[tree.nodes[j], 0, x]
            at += 1
    _, _, rise_share, _, _, _ = worth(rules, v)
    kept, residual = shrink(k, wide(0), tree.variance[node], rise_share, s)
    tree.parents[node], tree.residual[node] = kept, residual


@borrowing
def walk(rules: Any, tree: Any, key: Any, v: int, s: Any) -> int:
    """Node of the path that v grows among those before it; −1 where it is too long for scratch.

    What is kept of it, and what that leaves, is known of the node. Where memory is full, all is
    forgotten, and remembered anew.
    """
    node, at = v, key[v]
    k = wide(0)
    tree.nodes[0] = v
    while True:
        entry, last = tree.first[node], tree.last[node]
        while entry < last and key[tree.who[entry]] >= at:
            entry += 1
        if entry == last:
            break
        node = wide(tree.child[entry])
        if node < 0:
            node = _branch(rules, tree, entry, v, k, s)
            if node < 0:
                plant(rules, tree, s)
                node, k = v, wide(0)
                continue
        k += 1
        tree.nodes[k] = node
    s.work[0] += 10 * (k + 1)
    if tree.parents[node] < 0:
        if k > len(s.path):
            s.overflow[0] = True
            return -1
        _shrink_path(rules, tree, v, k, s)
    return node
