"""One page of HTML that holds everything: no request leaves it."""

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape

from cosmodag.bench.pages.tables import FLAG, Table

__all__ = ["as_html"]

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


def as_html(
    title: str,
    facts: Sequence[str],
    tables: Sequence[Table],
    figures: Mapping[str, tuple[str, bytes]],
) -> str:
    """Write the page.

    Parameters
    ----------
    title : str
    facts : sequence of str
        Lines below the title.
    tables : sequence of Table
    figures : mapping of str to (str, bytes)
        Captions and PNG images by name.
    """
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
        *(_figure(name, *figure) for name, figure in figures.items()),
        *(_table(table) for table in tables),
        "</html>",
    ]
    return "\n".join(parts)


def _table(table: Table) -> str:
    head = "".join(f"<th>{_inline(column)}</th>" for column in table.columns)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>\n" for row in table.rows)
    note = f'<p class="note">{_inline(table.note)}</p>' if table.note else ""
    return (
        f'<h2 id="{escape(table.name)}">{escape(table.title)}</h2><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}"
    )


def _cell(text: str) -> str:
    kind = ' class="flagged"' if FLAG in text else ""
    return f"<td{kind}>{_inline(text)}</td>"


def _figure(name: str, caption: str, image: bytes) -> str:
    data = base64.b64encode(image).decode()
    return (
        f'<figure id="{escape(name)}"><img alt="{escape(caption)}" '
        f'src="data:image/png;base64,{data}"><figcaption class="note">{escape(caption)}'
        "</figcaption></figure>"
    )


def _inline(text: str) -> str:
    """Escape a text, and turn the little Markdown that tables use into HTML."""
    safe = escape(text)
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    safe = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<i>\1</i>", safe)
