"""Tables of every kind: categories, counts, curves, arbitrary units.

    python benchmarks/tables.py --jobs 16                                tables.md, tables.csv
    python benchmarks/tables.py --sections networks --jobs 16            CosmoMLP on mixed tables
    python benchmarks/tables.py --sections peers --parts own,pgmpy       some of the peers
    python benchmarks/tables.py --only "d = 20" --tables 2 --output .    a quick look

`sections.py` explains how sections are run.
"""

import sys

from sections import Page, arguments, measure, text_of

PAGE = Page("tables", first_seed=0, tables=10)
COLUMNS = ["table", "figure", "now", "target", "", "tables", "note"]


def main() -> int:
    """Measure the requested sections and write the files."""
    given = arguments(PAGE, __doc__).parse_args()
    lines, failures = measure(PAGE, given, given.output / "tables.csv")
    text = "# Tables of every kind\n"
    text += "\nTables come from `tables_sections/generators.py`; the note is a standard error.\n"
    text += text_of(PAGE, lines, COLUMNS)
    (given.output / "tables.md").write_text(text, encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
