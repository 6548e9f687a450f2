"""The page that `bad_inputs.py` writes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from environment import header, table

COLUMNS = {
    "answered": "answered rightly",
    "refused": "refused in words",
    "refused what is fine": "refused what is fine",
    "stumbled": "error from inside",
    "arcs": "silent arcs",
    "empty graph": "silent empty graph",
    "answered, with some warning": "unusable, answered with a warning",
    "no warning": "no warning",
    "another graph in other units": "other graph in other units",
    "cyclic": "cyclic",
    "not finite": "not finite",
    "hang": "hang",
    "crash": "crash",
}
RIGHT = ("answered", "refused")
TOLD = (*RIGHT, "refused what is fine", "stumbled", "answered, with some warning")
PACKAGES = ("dagma", "causal-learn", "lingam", "pgmpy", "gcastle", "numpy", "pandas", "scipy")
EXPLAINED = """
How outcomes are classified. A table is *unusable* if it has no correct graph (missing values, text,
dates, no rows …: cosmodag refuses it), *doubtful* if it deserves a warning (constant, duplicate or
collinear columns, fewer rows than columns …), and *fine* otherwise (Fortran order, integers,
lists …).

- *answered rightly*: a finite, acyclic graph for a fine table, the same with any warning for a
  doubtful one, or the same graph for the same table in other units. Tables that cosmodag refuses by
  choice (numbers as text, a single column, repeated or empty names; for pgmpy also text and
  categories, which it models) count as answered rightly by a library that accepts them.
- *refused in words*: an error that the library, or the validator it calls, raises on purpose; in
  brackets, the number of messages that name the column at fault, for cases with one.
- *error from inside*: any other error, on a table of any kind: from inside NumPy, SciPy or pandas,
  or from code that did not expect the input. Some say what is wrong ("array must not contain infs
  or NaNs"), most do not.
- *silent arcs*, *silent empty graph*: a graph for an unusable table, without an error or a warning.
- *no warning*: a graph for a doubtful table, without a warning.
- *other graph in other units*: a different graph, without a warning, for the ordinary table or one
  of its columns scaled, standardised or shifted.
- *input changed*: the table passed was overwritten, whatever the outcome.
- *gone wrong*: all but *answered rightly* and *refused in words*, or the input changed; *of these
  silent*: neither an error nor a warning, or the input changed.

Adapters are in `libraries.py`: the documented call with default parameters (DAGMA's iterations are
limited; if its graph was cyclic, the case was run again with the default). Libraries that take
arrays get frames as copied arrays, so they see no names.
"""


def page(
    cases: Sequence[Any], found: dict[str, list[dict[str, Any]]], verdicts: dict[str, list[str]]
) -> str:
    """Write the page: the table, its explanation, examples, and every outcome."""
    text = header("Bad inputs, in this package and in others", PACKAGES)
    text += f"\n{len(cases)} cases of `tests/contract/bad_inputs.py`; a limit of 20 s, then one "
    text += "more try with 60 s.\n\n"
    text += summary(cases, found, verdicts) + EXPLAINED
    text += "\n## Messages\n\n" + examples(cases, found, verdicts)
    text += "\n## Every case\n\n" + every_case(cases, found, verdicts)
    return text


def summary(
    cases: Sequence[Any], found: dict[str, list[dict[str, Any]]], verdicts: dict[str, list[str]]
) -> str:
    """Count the outcomes of each library."""
    used = [one for one in COLUMNS if any(one in told for told in verdicts.values())]
    rows: list[list[object]] = []
    for name, told in verdicts.items():
        counts = Counter(told)
        cells: list[object] = [counts[one] for one in used]
        if "refused" in used:
            cells[used.index("refused")] = f"{counts['refused']} ({naming(cases, found[name])})"
        changed = sum(one["mutated"] for one in found[name])
        wrong = sum(
            verdict not in RIGHT or one["mutated"]
            for verdict, one in zip(told, found[name], strict=True)
        )
        silent = sum(
            verdict not in TOLD or one["mutated"]
            for verdict, one in zip(told, found[name], strict=True)
        )
        rows.append([name, *cells, changed, f"**{wrong}**", f"**{silent}**"])
    labels = [COLUMNS[one] for one in used]
    return table(["library", *labels, "input changed", "gone wrong", "of these silent"], rows)


def naming(cases: Sequence[Any], found: list[dict[str, Any]]) -> int:
    """Count the refusals that name the column at fault."""
    return sum(
        one["kind"] == "refused" and case.mentions.startswith("'") and case.mentions in sentence
        for case, one in zip(cases, found, strict=True)
        for sentence in [one.get("sentence", "")]
    )


def examples(
    cases: Sequence[Any], found: dict[str, list[dict[str, Any]]], verdicts: dict[str, list[str]]
) -> str:
    """Quote the messages of each library for a few common inputs."""
    wanted = ("one NaN", "infinity", "constant column", "one column × 1e8", "text", "three rows")
    rows: list[list[object]] = []
    for case, place in ((case, place) for place, case in enumerate(cases) if case.name in wanted):
        ours, *_ = found
        for name in (one for one in found if one == ours or not one.startswith("cosmodag")):
            rows.append([case.name, name, said(found[name][place]), verdicts[name][place]])
    return table(["input", "library", "message", "counted as"], rows)


def said(one: dict[str, Any]) -> str:
    """Summarise an outcome in a cell: the message, or the number of arcs."""
    if "sentence" in one:
        sentence = one["sentence"].replace("|", "\\|").replace("<", "&lt;")
        cut = sentence if len(sentence) <= 160 else sentence[:159] + "…"
        return f"{one['error']}, from {one['where']}: {cut}"
    if "arcs" not in one:
        return str(one["kind"])
    told = f"; {len(one['warnings'])} warnings" if one["warnings"] else ", no warning"
    return f"{one['arcs']} arcs{told}"


def every_case(
    cases: Sequence[Any], found: dict[str, list[dict[str, Any]]], verdicts: dict[str, list[str]]
) -> str:
    """Tabulate the outcome of every case and library."""
    short = {"answered": "✓", "refused": "✓ refused"}
    rows: list[list[object]] = []
    for place, case in enumerate(cases):
        cells = []
        for name in verdicts:
            cell = short.get(verdicts[name][place], COLUMNS[verdicts[name][place]])
            cells.append(cell + ("; input changed" if found[name][place]["mutated"] else ""))
        rows.append([case.name, case.outcome, *cells])
    return table(["input", "must be", *verdicts], rows)
