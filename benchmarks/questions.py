"""Causal questions to a fitted graph, on tables with known answers.

    python benchmarks/questions.py --jobs 16                                 questions.md, .csv
    python benchmarks/questions.py --sections effects --tables 2 --output .  a quick look
    python benchmarks/questions.py --resume kept.jsonl --parts own           without other packages
    python benchmarks/questions.py --resume kept.jsonl --page                only write the page

`sections.py` explains how sections are run.
"""

import sys

from sections import Page, arguments, measure, text_of

PAGE = Page("questions", first_seed=52_000, tables=20)
COLUMNS = ["table", "figure", "now", "target", "", "tables", "note"]


def main() -> int:
    """Measure the requested sections and write the files."""
    given = arguments(PAGE, __doc__).parse_args()
    lines, failures = measure(PAGE, given, given.output / "questions.csv")
    text = "# Causal questions to a graph, and the accuracy of the answers\n"
    text += text_of(PAGE, lines, COLUMNS)
    (given.output / "questions.md").write_text(text, encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
