"""Whether tables support the claims of the default: noise, directions, probabilities, findings.

    python benchmarks/trust.py --jobs 16                               trust.md, trust.csv
    python benchmarks/trust.py --sections noise --tables 2 --output .  a quick look

`sections.py` explains how sections are run.
"""

import sys

from sections import VERDICTS, Page, arguments, measure, text_of

PAGE = Page("trust", first_seed=31_000, tables=30)
COLUMNS = ["table", "figure", "now", "target", "", "tables", "note"]


def main() -> int:
    """Measure the requested sections and write the files."""
    given = arguments(PAGE, __doc__).parse_args()
    lines, failures = measure(PAGE, given, given.output / "trust.csv")
    text = "# Trust: claims of the default, and whether the tables support them\n"
    text += "\nTables come from `trust_sections/tables.py`, not from `cosmodag.simulate`.\n"

    def cells(line: dict[str, str]) -> list[object]:
        return [
            *(line["table"], line["figure"], line["now"], line["target"]),
            *(VERDICTS[line["met"]], line["tables"], line["note"]),
        ]

    text += text_of(PAGE, lines, COLUMNS, cells)
    (given.output / "trust.md").write_text(text, encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
