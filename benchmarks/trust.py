"""Whether tables support the claims of the default: noise, directions, probabilities, findings.

    python benchmarks/trust.py --jobs 16                               trust.md, trust.csv
    python benchmarks/trust.py --sections noise --tables 2 --output .  a quick look
    PYTHONPATH=OLD/src python benchmarks/trust.py --before             trust_before.csv

`sections.py` explains how sections are run.
"""

import re
import sys

from sections import VERDICTS, Lines, Page, arguments, measure, text_of
from trust_sections.base import AS_BEFORE, TWICE_BEFORE, read_lines

PAGE = Page("trust", first_seed=31_000, tables=30)
COLUMNS = ["table", "figure", "before", "now", "target", "", "tables", "note"]


def main() -> int:
    """Measure the requested sections and write the files."""
    parser = arguments(PAGE, __doc__)
    parser.add_argument("--before", action="store_true", help="write trust_before.csv")
    given = parser.parse_args()
    kept = given.output / ("trust_before.csv" if given.before else "trust.csv")
    lines, failures = measure(PAGE, given, kept)
    if given.before:
        return 0
    text = _text(lines, read_lines(given.output / "trust_before.csv"))
    (given.output / "trust.md").write_text(text, encoding="utf-8")
    return 1 if failures else 0


def _text(lines: Lines, before: Lines) -> str:
    """Write the page as Markdown, with the old figure beside the new one."""
    old = {_identity(line): line["now"] for line in before}
    lines = [_beside(line, old.get(_identity(line))) for line in lines]
    text = "# Trust: claims of the default, and whether the tables support them\n"
    text += (
        "\nTables come from `trust_sections/tables.py`, not from `cosmodag.simulate`. *Before*: "
        "the "
        "same script on the code before the checks that this page measures were added.\n"
    )

    def cells(line: dict[str, str]) -> list[object]:
        return [
            *(line["table"], line["figure"], old.get(_identity(line), "–")),
            *(line["now"], line["target"], VERDICTS[line["met"]], line["tables"], line["note"]),
        ]

    return text + text_of(PAGE, lines, COLUMNS, cells)


def _identity(line: dict[str, str]) -> tuple[str, ...]:
    return line["section"], line["table"], line["figure"]


def _beside(line: dict[str, str], old: str | None) -> dict[str, str]:
    """Judge a row whose target refers to the old figure; return others unchanged."""
    if line["target"] not in (TWICE_BEFORE, AS_BEFORE) or not old:
        return line
    error = re.match(r"± (\S+?)(;|$)", line["note"])
    slack = 2 * float(error[1]) if error else 0.0
    limit = 2 * float(old) if line["target"] == TWICE_BEFORE else float(old) + slack
    return {**line, "met": str(float(line["now"]) <= limit + 1e-9)}


if __name__ == "__main__":
    sys.exit(main())
