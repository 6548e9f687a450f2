"""Faults in statements about tables: findings, knowledge, interventions."""

from named_faults.fault import Fault

KNOWN = "data/knowledge/test_statement.py"
FINDINGS = "data/test_diagnose.py"
FAMILIES = "data/diagnose/test_families.py"
TOLD = "learners/test_interventions.py"
COMBINED = "learners/test_combinations.py"

FAULTS = (
    Fault(
        "tiers order only adjacent tiers",
        "data/knowledge/statement.py",
        "            earlier += tier\n",
        "            earlier = list(tier)\n",
        (f"{KNOWN}::test_every_part_bounds_the_support",),
        excuse="The closure of what comes before what adds the pairs of tiers further apart.",
    ),
    Fault(
        "tiers are read from last to first",
        "data/knowledge/statement.py",
        "before[np.ix_(earlier, tier)] = True",
        "before[np.ix_(tier, earlier)] = True",
        (f"{KNOWN}::test_every_part_bounds_the_support",),
    ),
    Fault(
        "exogenous variables are sinks",
        "data/knowledge/statement.py",
        "support[:, list(known.exogenous)] = False",
        "support[list(known.exogenous)] = False",
        (f"{KNOWN}::test_every_part_bounds_the_support",),
    ),
    Fault(
        "a search space of variables allows no arcs",
        "data/knowledge/statement.py",
        "support[np.ix_(among, among)] = True",
        "support[np.ix_(among, among)] = False",
        (f"{KNOWN}::test_every_part_bounds_the_support",),
    ),
    Fault(
        "required arcs do not order variables",
        "data/knowledge/bounds.py",
        "closed = closure(before | required)",
        "closed = closure(before)",
        (f"{KNOWN}::test_a_required_chain_excludes_the_way_back",),
    ),
    Fault(
        "allowed arcs count as known",
        "data/knowledge/bounds.py",
        "self.required[tails, heads] | ~self.support[heads, tails]",
        "self.required[tails, heads] | self.support[tails, heads]",
        (f"{KNOWN}::test_it_directs_arcs_whose_reverse_it_excludes",),
    ),
    Fault(
        "a variable that was set in every row keeps its causes",
        "data/knowledge/bounds.py",
        "return Bounds(self.support & ~variables, self.required, self.before, self.gaps)",
        "return Bounds(self.support, self.required, self.before, self.gaps)",
        (f"{TOLD}::test_a_variable_set_in_every_row_has_no_causes",),
    ),
    Fault(
        "the path through a third variable is not closed",
        "data/knowledge/bounds.py",
        "longer = closed | (into @ out > 0)",
        "longer = closed",
        (f"{KNOWN}::test_closure_cycles_and_chains_agree",),
    ),
    Fault(
        "required arcs may lead to an earlier tier by a detour",
        "data/knowledge/bounds.py",
        "        _refuse_chains(required, tier_of, names)\n\n",
        "        pass\n\n",
        (f"{KNOWN}::test_what_cannot_be_is_refused_by_name",),
    ),
    Fault(
        "several targets in one text are one name",
        "data/interventions.py",
        'return [part.strip() for part in entry.split(";") if part.strip()]',
        "return [entry.strip()] if entry.strip() else []",
        (f"{TOLD}::test_all_ways_to_say_it_are_the_same",),
    ),
    Fault(
        "a table of targets is matched by position",
        "data/interventions.py",
        "given = frame.to_numpy()[:, [found.index(name) for name in names]]",
        "given = frame.to_numpy()",
        (
            f"{TOLD}::test_all_ways_to_say_it_are_the_same",
            f"{COMBINED}::test_a_table_of_targets_is_matched_by_name",
        ),
    ),
    Fault(
        "rows under intervention decide whether rows are dependent",
        "data/diagnose/table_checks.py",
        "rows = X if untouched is None else X[untouched]",
        "rows = X",
        (f"{FAMILIES}::test_rows_that_were_set_are_not_compared",),
    ),
    Fault(
        "rows may resemble the row before up to .9",
        "data/diagnose/row_findings.py",
        "_CHANCE, _HARMLESS = 0.002, 0.1",
        "_CHANCE, _HARMLESS = 0.002, 0.9",
        (f"{FAMILIES}::test_rows_that_follow_one_another",),
    ),
    Fault(
        "strong causes are called copies",
        "data/diagnose/column_findings.py",
        "NEARLY_EQUAL, MUCH_LESS = 0.997, 6.0",
        "NEARLY_EQUAL, MUCH_LESS = 0.9, 0.5",
        (f"{FAMILIES}::test_copies_with_noise_are_found_and_strong_causes_are_not",),
    ),
    Fault(
        "populations must be far apart",
        "data/diagnose/row_findings.py",
        "_DEEP = 1.15",
        "_DEEP = 4.0",
        (f"{FAMILIES}::test_several_populations",),
    ),
    Fault(
        "scales may differ ten thousand times more",
        "data/diagnose/scale.py",
        "SCALE_RATIO = 1e4",
        "SCALE_RATIO = 1e8",
        (f"{FINDINGS}::test_scale_ratio",),
    ),
    Fault(
        "few rows are as few as columns",
        "data/diagnose/row_findings.py",
        "    if rows < columns:\n",
        "    if rows < columns // 2:\n",
        (f"{FINDINGS}::test_few_rows",),
    ),
    Fault(
        "hidden causes are searched for in curved tables",
        "data/diagnose/table_checks.py",
        'if reported & {"several_populations", "curved"}:',
        'if reported & {"several_populations"}:',
        (
            f"{FAMILIES}::TestArcs",
            f"{COMBINED}::test_curves_are_not_taken_for_hidden_causes",
        ),
        was_missed=True,
    ),
    Fault(
        "columns that name the population of a row explain no clusters",
        "data/diagnose/row_findings.py",
        "    if few_valued.shape[1]:\n",
        "    if False:\n",
        (f"{FAMILIES}::test_several_populations",),
    ),
    Fault(
        "an arc the wrong way round counts as curved",
        "data/diagnose/arc_findings.py",
        "        if max(map(abs, (plain, bent, wider))) < limit:\n",
        "        if False:\n",
        (FAMILIES,),
    ),
    Fault(
        "a sum in some rows is a sum in all",
        "data/diagnose/column_findings.py",
        "for whole, parts in _dependent(X[:, columns])",
        "for whole, parts in _dependent(X[::step, columns])",
        (f"{FINDINGS}::test_an_exact_combination_of_some_rows_only_is_none",),
    ),
    Fault(
        "a row with one value is complete",
        "data/diagnose/row_findings.py",
        "complete = int((~absent.any(axis=1)).sum())",
        "complete = int((~absent.all(axis=1)).sum())",
        (f"{FINDINGS}::test_gaps_are_counted_per_column",),
    ),
)
