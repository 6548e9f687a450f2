"""Writers of tables as Markdown and CSV, and of one self-contained HTML page."""

import base64
import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from cosmodag.bench.pages.tables import FLAG, ResultTable

__all__ = ["WRITERS", "as_html", "as_markdown"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .2rem .6rem; text-align: left; white-space: nowrap;
  border-bottom: 1px solid #ddd; }
th { position: sticky; top: 0; background: #f4f4f4; }
td.flagged { background: #fff1c9; }
.scroll { overflow-x: auto; }
figure { margin: 1rem 0; } img { max-width: 100%; background: #fff; }
.note { color: #555; max-width: 60rem; } nav a { margin-right: 1rem; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #16181c; }
  th { background: #24272d; } th, td { border-color: #3a3e46; } td.flagged { background: #4a3d10; }
  .note { color: #aaa; } a { color: #8ab4f8; } }
"""


def as_markdown(table: ResultTable) -> str:
    """Write a table as Markdown, with its title and note."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    note = f"\n{table.note}\n" if table.note else ""
    return f"## {table.title}\n\n{body}\n{note}"


def as_csv(table: ResultTable) -> str:
    """Write a table as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([table.columns, *table.rows])
    return buffer.getvalue()


WRITERS: Mapping[str, Callable[[ResultTable], str]] = {"md": as_markdown, "csv": as_csv}
"""Writers by the endings of their files."""


def as_html(
    title: str,
    facts: Sequence[str],
    tables: Sequence[ResultTable],
    figures: Mapping[str, tuple[str, bytes]],
) -> str:
    """Write the page: facts below the title, figures (captions and PNG by name), tables."""
    links = [(table.name, table.title) for table in tables]
    links += [(name, name) for name in figures]
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1><ul>",
        *(f"<li>{_inline(fact)}</li>" for fact in facts),
        "</ul><nav>",
        *(f'<a href="#{escape(name)}">{escape(text)}</a> ' for name, text in links),
        "</nav>",
        *(_html_figure(name, *figure) for name, figure in figures.items()),
        *(_html_table(table) for table in tables),
        "</html>",
    ]
    return "\n".join(parts)


def _html_table(table: ResultTable) -> str:
    head = "".join(f"<th>{_inline(column)}</th>" for column in table.columns)
    body = "".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>\n" for row in table.rows)
    note = f'<p class="note">{_inline(table.note)}</p>' if table.note else ""
    return (
        f'<h2 id="{escape(table.name)}">{escape(table.title)}</h2><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}"
    )


def _html_cell(text: str) -> str:
    kind = ' class="flagged"' if FLAG in text else ""
    return f"<td{kind}>{_inline(text)}</td>"


def _html_figure(name: str, caption: str, image: bytes) -> str:
    data = base64.b64encode(image).decode()
    return (
        f'<figure id="{escape(name)}"><img alt="{escape(caption)}" '
        f'src="data:image/png;base64,{data}"><figcaption class="note">{escape(caption)}'
        "</figcaption></figure>"
    )


def _inline(text: str) -> str:
    """Escape a text, and convert the Markdown subset that tables use to HTML."""
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    safe = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<i>\1</i>", safe)
