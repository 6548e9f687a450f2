"""Formulas as MathML, which browsers draw without a script: the pages need no network.

docutils converts LaTeX; a formula that it does not know is a warning, and fails a strict build.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)

# Commands that docutils does not know, and what it knows instead.
_SPELT = {
    r"\\[Bb]igg?\s*([(\[])": r"\\left\1",
    r"\\[Bb]igg?\s*([)\]])": r"\\right\1",
    r"\\dots\b": r"\\ldots",
    r"\\iff\b": r"\\Longleftrightarrow",
}


def converted(node: nodes.Element, as_block: bool) -> str:
    """Convert the LaTeX of a node; what cannot be converted is shown as it is."""
    text = node.astext()
    for known, other in _SPELT.items():
        text = re.sub(known, other, text)
    try:
        return str(tex2mathml(text, as_block=as_block))
    except MathError as error:
        _log.warning("formula %r: %s", text, error, location=node)
        return f"<code>{text}</code>"


def inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    self.body.append(converted(node, as_block=False))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="math">{converted(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
