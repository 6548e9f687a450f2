"""Questions that people ask of a graph, answered on tables with known answers.

    python benchmarks/questions.py --jobs 16                                 questions.md, .csv
    python benchmarks/questions.py --sections effects --tables 2 --output .  some, for a quick look
    python benchmarks/questions.py --resume kept.jsonl --parts own           without the peers
    python benchmarks/questions.py --resume kept.jsonl --page                page of what is kept

How sections are run is said in `sections.py`.
"""

import sys

from sections import Page, arguments, measure, text_of

PAGE = Page("questions", first_seed=52_000, tables=20)
COLUMNS = ["table", "figure", "now", "target", "", "tables", "note"]


def main() -> int:
    """Measure the sections asked for, and write the files."""
    given = arguments(PAGE, __doc__).parse_args()
    lines, failures = measure(PAGE, given, given.output / "questions.csv")
    text = "# Questions asked of a graph, and how far the answers can be believed\n"
    text += text_of(PAGE, lines, COLUMNS)
    (given.output / "questions.md").write_text(text, encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
