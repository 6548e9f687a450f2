"""Faults in the search over orders."""

from named_faults.fault import Fault

SEARCH = "order/test_search.py"
PARENTS = "order/test_parents.py::test_parents_and_scores_are_those_of_the_definition"
SEVERAL = f"{SEARCH}::test_no_move_of_several_along_an_arc_improves_what_was_found"

FAULTS = (
    Fault(
        "order search never tries moves of v with its descendants",
        "search/kernel/moves.py",
        "tails[i // 4], heads[i // 4], wide(i % 4)",
        "tails[i // 4], heads[i // 4], wide(min(i % 4, 2))",
        (SEVERAL,),
        was_missed=True,
    ),
    Fault(
        "order search never tries moves of u with its ancestors",
        "search/kernel/moves.py",
        "tails[i // 4], heads[i // 4], wide(i % 4)",
        "tails[i // 4], heads[i // 4], wide(i % 4 - (i % 4 == 1))",
        (SEVERAL,),
    ),
    Fault(
        "order search takes moves that make it worse",
        "search/kernel/moves.py",
        "LEAST_IMPROVEMENT = 1e-6",
        "LEAST_IMPROVEMENT = -5.0",
        (f"{SEARCH}::test_no_single_move_along_an_arc_improves_what_was_found",),
    ),
    Fault(
        "order search ignores the required order",
        "search/kernel/moves.py",
        "    if len(state.before):\n",
        "    if False:\n",
        (f"{SEARCH}::test_knowledge_is_obeyed",),
    ),
    Fault(
        "an order that is worse than its start is returned",
        "search/column_search.py",
        "    best = int(np.argmax(totals))\n",
        "    best = int(np.argmax(totals[:-1]))\n",
        (
            SEARCH,
            "properties/test_refinement_scores.py"
            "::test_an_order_search_is_never_worse_than_its_start",
        ),
    ),
    Fault(
        "the limit on parents is left out",
        "search/column_problem.py",
        "settings[slot.LONGEST] = np.minimum(most_parents(moments.own_rows), d)",
        "settings[slot.LONGEST] = d",
        (
            "order/test_parents.py::test_awkward_tables_give_finite_dags",
            "order/test_scores.py::test_few_rows_of_independent_columns_give_few_arcs",
        ),
    ),
    Fault(
        "perturbed orders ignore the required order",
        "search/order_climb.py",
        "return respecting(changed, before.astype(np.bool_) if len(before) else None)",
        "return respecting(changed, None)",
        (f"{SEARCH}::test_knowledge_is_obeyed",),
    ),
    Fault(
        "every restart counts as better",
        "search/column_search.py",
        "if reached.total > self.total + LEAST_IMPROVEMENT:",
        "if True:",
        (f"{SEARCH}::test_restarts_find_what_one_search_does_not",),
    ),
    Fault(
        "no restart is ever better",
        "search/column_search.py",
        "if reached.total > self.total + LEAST_IMPROVEMENT:",
        "if False:",
        (f"{SEARCH}::test_restarts_find_what_one_search_does_not",),
    ),
    Fault(
        "records of parents are valid for any predecessors",
        "search/kernel/grow_and_shrink.py",
        "marks[t] |= (along[t] * along[t] > gain * left[t]) & (left[t] > NEGLIGIBLE)",
        "marks[t] |= 0",
        (f"{SEARCH}::test_no_single_move_along_an_arc_improves_what_was_found", SEARCH),
    ),
    Fault(
        "growing takes the first parent that helps",
        "search/kernel/grow_and_shrink.py",
        "if square > gain * left[t] and left[t] > NEGLIGIBLE:",
        "if best < 0 and square > gain * left[t] and left[t] > NEGLIGIBLE:",
        (PARENTS,),
    ),
    Fault(
        "shrinking drops one parent at most",
        "search/kernel/grow_and_shrink.py",
        "if rise >= variance * share:",
        "if rise >= variance * share or left < k:",
        (PARENTS,),
    ),
    Fault(
        "shrinking may drop required parents",
        "search/kernel/grow_records.py",
        "k, placed, variance, least_rise, state.work, state.factor, state.ints",
        "k, wide(0), variance, least_rise, state.work, state.factor, state.ints",
        (PARENTS,),
    ),
)
