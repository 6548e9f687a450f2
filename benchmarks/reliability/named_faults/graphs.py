"""Faults in graphs: order, read-out, repair, equivalence classes, acyclicity."""

from named_faults.fault import Fault

DAGS, CLASSES = "graph/test_dags.py", "graph/test_equivalence.py"

FAULTS = (
    Fault(
        "a loop is no cycle",
        "graph/dags.py",
        "if np.any(arcs.tails == arcs.heads):",
        "if False:",
        (f"{DAGS}::test_a_loop_is_a_cycle",),
    ),
    Fault(
        "order of priorities has effects first",
        "graph/dags.py",
        'return np.argsort(np.asarray(priorities), kind="stable")',
        'return np.argsort(-np.asarray(priorities), kind="stable")',
        (f"{DAGS}::test_order_of_breaks_ties_by_index",),
    ),
    Fault(
        "dense read-out keeps backward arcs",
        "graph/dags.py",
        "return _where(positions[:, None] < positions, weights)",
        "return _where(positions[:, None] > positions, weights)",
        (f"{DAGS}::test_agreeing_keeps_exactly_the_forward_arcs",),
    ),
    Fault(
        "a weight at the threshold is an arc",
        "graph/dags.py",
        "(weights > threshold) | (weights < -threshold)",
        "(weights >= threshold) | (weights <= -threshold)",
        (f"{DAGS}::test_above_is_strict_and_in_magnitude",),
    ),
    Fault(
        "cycles lose their strongest arc",
        "graph/dags.py",
        "np.argsort(-np.abs(arcs.weights[contested])",
        "np.argsort(np.abs(arcs.weights[contested])",
        (f"{DAGS}::test_drop_cycles_is_the_policy_word_for_word",),
    ),
    Fault(
        "negative arcs count as weak when cycles are broken",
        "graph/dags.py",
        "np.argsort(-np.abs(arcs.weights[contested])",
        "np.argsort(-arcs.weights[contested]",
        (f"{DAGS}::test_drop_cycles_is_the_policy_word_for_word",),
    ),
    Fault(
        "reach of one vertex only grows when an arc is inserted",
        "graph/dags.py",
        "reaches[grows] |= reaches[head]",
        "reaches[tail] |= reaches[head]",
        (f"{DAGS}::test_drop_cycles_is_the_policy_word_for_word",),
    ),
    Fault(
        "ties of a topological order go to the highest index",
        "graph/dags.py",
        "vertex = heapq.heappop(ready)",
        "vertex = ready.pop()",
        (f"{DAGS}::test_a_topological_order_points_every_arc_forward", f"{CLASSES}"),
    ),
    Fault(
        "Meek's first rule asks for joined variables",
        "graph/meek.py",
        "if not into[u] <= joined[v]:",
        "if into[u] & joined[v]:",
        (f"{CLASSES}::test_known_arrows_direct_whatever_all_that_agree_share",),
    ),
    Fault(
        "Meek's second rule is left out",
        "graph/meek.py",
        "u in into[c] or not (into[c] & joined[u]) <= joined[v]",
        "not (into[c] & joined[u]) <= joined[v]",
        (f"{CLASSES}::test_known_arrows_direct_whatever_all_that_agree_share",),
    ),
    Fault(
        "Meek's fourth rule is left out",
        "graph/meek.py",
        "u in into[c] or not (into[c] & joined[u]) <= joined[v]",
        "u in into[c]",
        (f"{CLASSES}::test_each_of_the_rules_is_needed",),
    ),
    Fault(
        "Meek's rules stop after one sweep",
        "graph/meek.py",
        "while len(waiting) != before:",
        "if len(waiting) != before:",
        (
            f"{CLASSES}::test_known_arrows_direct_whatever_all_that_agree_share",
            f"{CLASSES}::test_each_of_the_rules_is_needed",
        ),
    ),
    Fault(
        "colliders compel nothing",
        "graph/equivalence.py",
        "            is_compelled[into_head] = True\n",
        "            is_compelled[into_head] = False\n",
        (f"{CLASSES}::test_it_is_the_union_of_the_class",),
    ),
    Fault(
        "known arrows are read backwards",
        "graph/equivalence.py",
        "known_keys = heads.astype(np.int64) * arcs.shape[0] + tails",
        "known_keys = tails.astype(np.int64) * arcs.shape[0] + heads",
        (f"{CLASSES}::test_known_arrows_direct_whatever_all_that_agree_share",),
    ),
    Fault(
        "target sets that hold both ends direct",
        "graph/equivalence.py",
        "target_sets[:, tails] != target_sets[:, heads]",
        "target_sets[:, tails] | target_sets[:, heads]",
        (f"{CLASSES}::test_target_sets_direct_what_experiments_can_tell",),
    ),
    Fault(
        "class distance counts both entries of a pair",
        "graph/equivalence.py",
        "return int((differs + differs.T).nnz) // 2",
        "return int((differs + differs.T).nnz)",
        (f"{CLASSES}::test_the_class_distance_counts_pairs_marked_differently",),
    ),
    Fault(
        "gradient of the log determinant is not transposed",
        "graph/acyclicity/closed_forms.py",
        "return float(value), 2 * weights * inverse.T",
        "return float(value), 2 * weights * inverse",
        ("graph/test_acyclicity.py::test_gradients_match_finite_differences",),
    ),
    Fault(
        "powers are truncated one doubling early",
        "graph/acyclicity/closed_forms.py",
        "while sums.count < len(weights) and",
        "while 2 * sums.count < len(weights) and",
        ("graph/test_acyclicity.py::test_truncated_powers_is_its_definition",),
    ),
    Fault(
        "NOTEARS' polynomial divides by nothing",
        "graph/constraint.py",
        "base = np.eye(d) + weights * weights / d",
        "base = np.eye(d) + weights * weights",
        ("solve/test_constraint.py::test_both_forms_agree",),
    ),
)
