"""Writers of tables as Markdown and CSV, and of one self-contained HTML page."""

import base64
import csv
import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from cosmodag.bench.pages.tables import FLAG, ResultTable

__all__ = ["as_csv", "as_html", "as_markdown"]


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


def as_html(
    title: str,
    facts: Sequence[str],
    tables: Sequence[ResultTable],
    figures: Mapping[str, tuple[str, bytes]],
) -> str:
    """Write the page: facts below the title, figures (captions and PNG by name), tables."""
    page = Template(files("cosmodag.bench").joinpath("paper", "page.html").read_text("utf-8"))
    links = [*((table.name, table.title) for table in tables), *zip(figures, figures, strict=True)]
    parts = {
        "facts": [f"<li>{_inline(fact)}</li>" for fact in facts],
        "links": [f'<a href="#{escape(k)}">{escape(text)}</a> ' for k, text in links],
        "figures": [_html_figure(name, *figure) for name, figure in figures.items()],
        "tables": [_html_table(table) for table in tables],
    }
    joined = {name: "\n".join(lines) for name, lines in parts.items()}
    return page.substitute(joined, title=escape(title))


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
