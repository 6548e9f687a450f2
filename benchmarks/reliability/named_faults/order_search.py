"""Faults in the search over orders."""

from named_faults.fault import Fault

SEARCH = "refinement/test_order_search.py"

FAULTS = (
    Fault(
        "order search never tries moves of v with its descendants",
        "refinement/search/trials.py",
        "        for kind in range(4):\n",
        "        for kind in range(3):\n",
        (SEARCH,),
        was_missed=True,
    ),
    Fault(
        "order search never tries moves of u with its ancestors",
        "refinement/search/trials.py",
        "        for kind in range(4):\n",
        "        for kind in (0, 2, 3):\n",
        (SEARCH,),
    ),
    Fault(
        "order search takes moves that make it worse",
        "refinement/search/trials.py",
        "LEAST_IMPROVEMENT = 1e-6",
        "LEAST_IMPROVEMENT = -5.0",
        (SEARCH,),
    ),
    Fault(
        "order search ignores what must come before what",
        "refinement/search/moves.py",
        "    if not len(rules.before):\n        return True\n",
        "    return True\n",
        (f"{SEARCH}::test_constraints_hold_and_agree_with_the_definition",),
    ),
    Fault(
        "an order that is worse than its start is returned",
        "refinement/order_search.py",
        "    if found < start_score:\n",
        "    if False:\n",
        (SEARCH, "properties/test_refinement_scores.py"),
    ),
    Fault(
        "the limit on parents is left out",
        "refinement/search/rules.py",
        "np.maximum(np.floor(moments.rows) - 2, 0).astype(np.int64),",
        "np.full(len(moments.rows), d, np.int64),",
        (SEARCH, "refinement/test_prune.py::test_awkward_tables_give_finite_dags"),
    ),
)
