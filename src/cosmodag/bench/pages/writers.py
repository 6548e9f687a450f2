"""Tables as Markdown, LaTeX and CSV."""

import csv
import io
import re
from collections.abc import Callable

from cosmodag.bench.pages.tables import Table

__all__ = ["WRITERS", "as_csv", "as_latex", "as_markdown"]

_SPECIAL = re.compile(r"([&%$#_{}])")
_LATEX = {
    "±": r"$\pm$",
    "▲": r"$\blacktriangle$",
    "λ": r"$\lambda$",
    "−": "$-$",
    "µ": r"$\mu$",
    "–": "--",
}


def as_markdown(table: Table) -> str:
    """Write a table as Markdown, with its title and note."""
    lines = [table.columns, ("---",) * len(table.columns), *table.rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    note = f"\n{table.note}\n" if table.note else ""
    return f"## {table.title}\n\n{body}\n{note}"


def as_latex(table: Table) -> str:
    r"""Write a table as LaTeX, with booktabs' rules.

    Examples
    --------
    >>> print(as_latex(Table("t", "A table", ("a_b",), (("1 ± 2",),))))
    % A table
    \begin{tabular}{l}
      \toprule
      a\_b \\
      \midrule
      1 $\pm$ 2 \\
      \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    lines = [
        "  " + " & ".join(map(_escaped, line)) + r" \\" for line in (table.columns, *table.rows)
    ]
    return "\n".join(
        [
            f"% {table.title}",
            rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
            r"  \toprule",
            lines[0],
            r"  \midrule",
            *lines[1:],
            r"  \bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def as_csv(table: Table) -> str:
    """Write the cells of a table as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[Table], str]] = {
    "md": as_markdown,
    "tex": as_latex,
    "csv": as_csv,
}


def _escaped(cell: str) -> str:
    text = _SPECIAL.sub(r"\\\1", cell.replace("`", "").replace("**", ""))
    for character, command in _LATEX.items():
        text = text.replace(character, command)
    return text
