"""The HTML report: data and assets in one self-contained page."""

import base64
import hashlib
import json
import os
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cosmodag.io.files import write_text
from cosmodag.report.evidence_section import Evidence
from cosmodag.report.facts import page_data

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

# The page's own scripts, in the order in which they are concatenated.
_OWN = (
    "tools state walks edges colours view layers labels arrange look graph pointer panel effects "
    "legend link controls svg table matrix plots sections page"
)


def write_report(
    path: str | os.PathLike[str],
    model: "StructureLearner",
    evidence: Evidence | None = None,
    run: dict[str, Any] | None = None,
) -> None:
    """Write the report of a fitted model as one HTML file, atomically.

    By default, the evidence is that which follows from the model alone. ``run`` are facts about the
    run, as for :func:`cosmodag.report.facts.page_data`.
    """
    evidence = Evidence.of(model) if evidence is None else evidence
    write_text(path, page_for(page_data(model, evidence, run)))


def page_for(data: dict[str, Any]) -> str:
    """Insert data into the page.

    A content security policy lists the hashes of the page's own scripts, so that no other script
    can run, and no script can open a connection.

    >>> page = page_for({"title": "</script><script>alert(1)</script>"})
    >>> "alert(1)</script>" in page
    False
    """
    scripts = [_vendored("vendor/cytoscape.min.js"), _own_script()]
    parts = {
        "POLICY": _policy(scripts),
        "STYLE": _asset("style.css"),
        "DATA": embedded(data),
        "SCRIPTS": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    page = _asset("page.html")
    for name, text in parts.items():
        before, marker, after = page.partition(f"<!--{name}-->")
        assert marker, name
        page = before + text + after
    return page


def embedded(data: dict[str, Any]) -> str:
    r"""Encode JSON for a script element, without characters that could open or close an element.

    >>> print(embedded({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _policy(scripts: list[str]) -> str:
    digests = (hashlib.sha256(script.encode("utf-8")).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(one).decode('ascii')}'" for one in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return files("cosmodag.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _own_script() -> str:
    """Concatenate the page's own scripts in one strict-mode function without global names."""
    parts = "\n".join(_asset(f"js/{name}.js") for name in _OWN.split())
    return f'(function () {{\n"use strict";\n{parts}\n}})();'


@cache
def _vendored(name: str) -> str:
    """Read a library, without the address of its source map, which a browser might request."""
    lines = _asset(name).splitlines()
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL"))
