"""How Sphinx builds these pages."""

import re
import sys
from pathlib import Path
from types import GenericAlias
from typing import Any

from cosmodag import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "cosmodag"
author = "The cosmodag developers"
copyright = "The cosmodag developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
html_css_files = ["formulas.css"]
html_static_path = ["_static"]

html_theme = "furo"
html_title = "cosmodag"
html_show_sphinx = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["ray", "torch"]
numpydoc_show_class_members = False


def escape_names(
    app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Read ``|W|`` and ``adjacency_`` as they stand; to reStructuredText they are references."""
    block = None  # the indentation of the directive or literal block the line may belong to
    for number, line in enumerate(lines):
        indentation = len(line) - len(line.lstrip())
        if block is not None and line.strip() and indentation <= block:
            block = None
        if block is not None or line.lstrip().startswith((">>>", "...")):
            continue
        if line.rstrip().endswith("::"):
            block = indentation
        pieces = re.split(r"(``.+?``|`[^`]+`)", line)  # what is quoted stands at odd positions
        pieces[::2] = [escape(piece) for piece in pieces[::2]]
        lines[number] = "".join(pieces)


def escape(prose: str) -> str:
    prose = re.sub(r"(?<!\\)\|(?=[^\s|])", r"\\|", prose)
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", prose)


def skip_type_aliases(
    app: Any, what: str, name: str, obj: object, skip: bool, options: Any
) -> bool | None:
    """Leave out names for types such as ``dict[str, Any]``, over which numpydoc and Sphinx trip."""
    return True if isinstance(obj, GenericAlias) else None


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip_type_aliases)
    # after numpydoc, which rewrites the lines
    app.connect("autodoc-process-docstring", escape_names, priority=900)
